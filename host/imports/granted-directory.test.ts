import { execFileSync } from "node:child_process";
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hashOf, statOf } from "./descriptor-stat.ts";
import { GrantedDirectory, MOST_DIRECTORY_ENTRIES } from "./granted-directory.ts";

const base = mkdtempSync(path.join(tmpdir(), "airlock-grant-"));
const inside = path.join(base, "granted");
const outside = path.join(base, "outside");

beforeAll(() => {
  mkdirSync(path.join(inside, "sub/deeper"), { recursive: true });
  mkdirSync(outside);
  writeFileSync(path.join(outside, "secret"), "SECRET");
  writeFileSync(path.join(inside, "file"), "text of the file");
  writeFileSync(path.join(inside, "sub/file"), "text of sub/file");
  writeFileSync(path.join(inside, "constructor"), "not a property");
  symlinkSync("file", path.join(inside, "link"));
  symlinkSync("sub", path.join(inside, "link-to-sub"));
  symlinkSync("../file", path.join(inside, "sub/link-up"));
  symlinkSync("../outside/secret", path.join(inside, "link-out"));
  symlinkSync("../outside", path.join(inside, "directory-out"));
  symlinkSync("/etc/passwd", path.join(inside, "absolute-out"));
  symlinkSync("/dev/zero", path.join(inside, "zero"));
  symlinkSync("loop-b", path.join(inside, "loop-a"));
  symlinkSync("loop-a", path.join(inside, "loop-b"));
  symlinkSync("sub/../link-out", path.join(inside, "link-twice"));
  execFileSync("mkfifo", [path.join(inside, "pipe")]);
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

function reader(root = inside) {
  const directory = new GrantedDirectory(root, () => {});
  const find = (name: string, followLast = true) => directory.find(directory.root(), name, followLast);
  const read = (name: string): string => {
    try {
      return Buffer.from(directory.read(find(name), 0n, 1_000).bytes).toString();
    } catch (thrown) {
      if (typeof thrown !== "string") throw thrown;
      return `error: ${thrown}`;
    }
  };
  return { directory, find, read };
}

const openFiles = (): number => readdirSync("/proc/self/fd").length;

describe("a granted directory", () => {
  test.each([
    ["file", "text of the file"],
    ["./sub//./file", "text of sub/file"],
    ["sub/../file", "text of the file"],
    ["link", "text of the file"],
    ["link-to-sub/file", "text of sub/file"],
    ["sub/link-up", "text of the file"],
    ["constructor", "not a property"],
  ])("%s is read", (name, text) => {
    expect(reader().read(name)).toBe(text);
  });

  test.each([
    ["../outside/secret", "not-permitted"],
    ["sub/../../outside/secret", "not-permitted"],
    ["..", "not-permitted"],
    ["/etc/passwd", "not-permitted"],
    [path.join(inside, "file"), "not-permitted"],
    ["link-out", "not-permitted"],
    ["link-twice", "not-permitted"],
    ["directory-out/secret", "not-permitted"],
    ["directory-out/", "not-permitted"],
    ["absolute-out", "not-permitted"],
    ["zero", "not-permitted"],
    ["pipe", "not-permitted"],
    ["loop-a", "loop"],
    ["sub", "is-directory"],
    ["file/", "not-directory"],
    ["file/..", "not-directory"],
    ["missing/../file", "no-entry"],
    ["missing", "no-entry"],
    ["__proto__", "no-entry"],
    ["fi\0le", "invalid"],
    ["x".repeat(256), "name-too-long"],
    ["./".repeat(3_000), "name-too-long"],
  ])("%s is refused: %s", (name, code) => {
    expect(reader().read(name)).toBe(`error: ${code}`);
  });

  test("a device and a FIFO are never opened", () => {
    expect(reader("/dev").read("zero")).toBe("error: not-permitted");
    expect(reader("/dev").read("null")).toBe("error: not-permitted");
  });

  test("a directory in it is a boundary of its own", () => {
    const { directory, find } = reader();
    const sub = find("sub");
    expect(directory.find(sub, "deeper/../file", true).names).toEqual(["sub", "file"]);
    expect(() => directory.find(sub, "../file", true)).toThrow("not-permitted");
    expect(() => directory.find(sub, "link-up", true)).toThrow("not-permitted");
  });

  test("a link is found as itself when it is not followed, and an absolute one does not tell its text", () => {
    const { directory, find } = reader();
    expect(find("link-out", false).type).toBe("symbolic-link");
    expect(directory.readLink(directory.root(), "sub/link-up")).toBe("../file");
    expect(() => directory.readLink(directory.root(), "absolute-out")).toThrow("not-permitted");
    expect(() => directory.readLink(directory.root(), "file")).toThrow("invalid");
  });

  test("read() answers at most the length, and says where a file ends", () => {
    const { directory, find } = reader();
    const file = find("file");
    const at = (offset: bigint, length: number) => {
      const { bytes, end } = directory.read(file, offset, length);
      return [Buffer.from(bytes).toString(), end];
    };
    expect([at(0n, 4), at(12n, 4), at(16n, 4), at(2n ** 63n, 4), at(0n, 0)]).toEqual([
      ["text", false],
      ["file", true],
      ["", true],
      ["", true],
      ["", false],
    ]);
  });

  test("a file of ten gigabytes of nothing is read at any place", () => {
    const huge = path.join(inside, "huge");
    writeFileSync(huge, "");
    truncateSync(huge, 10 * 1024 ** 3);
    const { directory, find } = reader();
    expect(directory.read(find("huge"), 9n * 1024n ** 3n, 4)).toEqual({ bytes: new Uint8Array(4), end: false });
    rmSync(huge);
  });

  test("another file in the place of one that was opened is not read", () => {
    const { directory, find } = reader();
    writeFileSync(path.join(inside, "first"), "first");
    const first = find("first");
    // Its inode stays in use, so that the new file gets another.
    linkSync(path.join(inside, "first"), path.join(outside, "kept"));
    rmSync(path.join(inside, "first"));
    writeFileSync(path.join(inside, "first"), "second");
    expect(() => directory.read(first, 0n, 10)).toThrow("no-entry");
    rmSync(path.join(inside, "first"));
  });

  test("list() is sorted by name and says what things are", () => {
    const { directory, find } = reader();
    expect(directory.list(find("sub"))).toEqual([
      { name: "deeper", type: "directory" },
      { name: "file", type: "regular-file" },
      { name: "link-up", type: "symbolic-link" },
    ]);
    expect(() => directory.list(find("file"))).toThrow("not-directory");
  });

  test("list() refuses a directory that is too long to hold", () => {
    const many = path.join(base, "many");
    mkdirSync(many);
    for (let index = 0; index <= MOST_DIRECTORY_ENTRIES; index += 1)
      linkSync(path.join(outside, "secret"), path.join(many, `${index}`));
    const { directory } = reader(many);
    expect(() => directory.list(directory.root())).toThrow("overflow");
    rmSync(path.join(many, "0"));
    expect(directory.list(directory.root()).length).toBe(MOST_DIRECTORY_ENTRIES);
  });

  test("every name that is looked up or listed is paid for", () => {
    let paid = 0;
    const directory = new GrantedDirectory(inside, (names) => {
      paid += names;
    });
    directory.find(directory.root(), "link-to-sub/file", true);
    // The root, the root again, the link, what it leads to, the file.
    expect(paid).toBe(5);
    paid = 0;
    directory.list(directory.find(directory.root(), "sub", false));
    // The root twice and the name, then both again and three entries.
    expect(paid).toBe(8);
  });

  test("nothing stays open, whatever was thrown", () => {
    const { read, directory, find } = reader();
    const before = openFiles();
    for (const name of ["file", "link", "link-out", "sub", "missing", "loop-a", "pipe", "sub/deeper"]) read(name);
    directory.list(find("sub"));
    expect(openFiles()).toBe(before);
  });

  test("what is swapped for a link out while it is read is never followed", async () => {
    const field = path.join(base, "race");
    mkdirSync(path.join(field, "in/dir"), { recursive: true });
    mkdirSync(path.join(field, "out"));
    writeFileSync(path.join(field, "in/dir/file"), "inside");
    writeFileSync(path.join(field, "out/file"), "SECRET");
    symlinkSync("../out", path.join(field, "in/link"));
    const swaps = new Int32Array(new SharedArrayBuffer(8));
    const swapper = new Worker(SWAPPER, { eval: true, workerData: { root: path.join(field, "in"), swaps } });
    await new Promise((resolve) => swapper.once("message", resolve));
    const { read } = reader(path.join(field, "in"));
    const seen = new Map<string, number>();
    for (let round = 0; round < 20_000; round += 1) {
      const text = read("dir/file");
      seen.set(text, (seen.get(text) ?? 0) + 1);
    }
    Atomics.store(swaps, 0, 1);
    await new Promise((resolve) => swapper.once("exit", resolve));
    expect(swaps[1]).toBeGreaterThan(100);
    expect(seen.get("inside")).toBeGreaterThan(0);
    expect(seen.has("SECRET")).toBe(false);
  });
});

const SWAPPER = `
  const { renameSync } = require("node:fs");
  const { parentPort, workerData: { root, swaps } } = require("node:worker_threads");
  parentPort.postMessage("ready");
  while (Atomics.load(swaps, 0) === 0) {
    renameSync(root + "/dir", root + "/kept");
    renameSync(root + "/link", root + "/dir");
    renameSync(root + "/dir", root + "/link");
    renameSync(root + "/kept", root + "/dir");
    Atomics.add(swaps, 1, 1);
  }
`;

describe("what a guest learns of a file", () => {
  test("is its type, its size and when its contents changed", () => {
    const { find } = reader();
    utimesSync(path.join(inside, "sub/file"), 1, 1_700_000_000.5);
    expect(statOf(find("sub/file"))).toEqual({
      type: "regular-file",
      linkCount: 1n,
      size: 16n,
      dataAccessTimestamp: undefined,
      dataModificationTimestamp: { seconds: 1_700_000_000n, nanoseconds: 500_000_000 },
      statusChangeTimestamp: undefined,
    });
  });

  test("is a hash that changes with the contents", () => {
    const { find } = reader();
    const before = hashOf(find("sub/file"));
    expect(hashOf(find("sub/file"))).toEqual(before);
    utimesSync(path.join(inside, "sub/file"), 1, 2);
    expect(hashOf(find("sub/file"))).not.toEqual(before);
  });
});
