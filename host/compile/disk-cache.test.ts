import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DiskCache } from "./disk-cache.ts";

const MiB = 2 ** 20;
const POSIX = process.platform !== "win32";
const ROOT = process.geteuid?.() === 0;
const NOBODY = 65_534;
const PROGRAM = fileURLToPath(new URL("test-cache-process.ts", import.meta.url));
const TSX = ["--import", pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href];

const channels = ["airlock:compile:cache-rejected", "airlock:compile:cache-unusable"];
const said: unknown[] = [];
const hear = (message: unknown): number => said.push(message);
let top: string;
let directory: string;

beforeEach(() => {
  for (const name of channels) subscribe(name, hear);
  top = mkdtempSync(join(tmpdir(), "airlock-cache-"));
  directory = join(top, "cache");
});

afterEach(() => {
  for (const name of channels) unsubscribe(name, hear);
  said.length = 0;
  rmSync(top, { recursive: true });
});

const open = (bytes = MiB, maker = "test", where = directory): DiskCache =>
  new DiskCache({ directory: where, bytes }, maker);

async function keep(key: string, value: unknown, cache = open()): Promise<string> {
  const before = new Set(entries());
  cache.put(key, value);
  await cache.flush();
  return join(directory, entries().find((name) => !before.has(name))!);
}

function entries(): string[] {
  return existsSync(directory) ? readdirSync(directory).filter((name) => /^[0-9a-f]{64}\.airlock$/.test(name)) : [];
}

async function expectRejected(key: string, file: string, why: string, cache = open()): Promise<void> {
  expect(await cache.get(key)).toBeUndefined();
  expect(cache.stats()).toEqual({ hits: 0, misses: 1, rejected: 1 });
  expect(said).toEqual([{ file, why: expect.stringContaining(why) }]);
  expect(() => lstatSync(file)).toThrow("ENOENT");
}

describe("DiskCache", () => {
  it("gives another process what was kept, bytes and shared parts included", async () => {
    const type = { kind: "u32" };
    await keep("a", { bytes: Uint8Array.of(1, 2, 3), types: [type, type] });
    const cache = open();
    const value = (await cache.get("a")) as { bytes: Uint8Array; types: [object, object] };
    expect(value).toEqual({ bytes: Uint8Array.of(1, 2, 3), types: [type, type] });
    expect(value.types[0]).toBe(value.types[1]);
    expect(await cache.get("b")).toBeUndefined();
    expect(cache.stats()).toEqual({ hits: 1, misses: 1, rejected: 0 });
    expect(said).toEqual([]);
  });

  it.runIf(POSIX)("makes a directory and files that are this user's alone", async () => {
    const file = await keep("a", 1);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    for (const path of [file, join(directory, "airlock.secret")]) expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory)).toHaveLength(2);
  });

  it("knows nothing of what other code has made", async () => {
    await keep("a", 1);
    const cache = open(MiB, "another");
    expect(await cache.get("a")).toBeUndefined();
    expect(cache.stats()).toEqual({ hits: 0, misses: 1, rejected: 0 });
  });

  it("refuses and removes a file of which any byte was changed", async () => {
    const first = await keep("a", { text: "kept" });
    const { length } = readFileSync(first);
    rmSync(first);
    for (let position = 0; position < length; position++) {
      const file = await keep("a", { text: "kept" });
      const bytes = readFileSync(file);
      bytes[position]! ^= 1;
      writeFileSync(file, bytes);
      await expectRejected("a", file, "not what was kept");
      said.length = 0;
    }
  });

  it("refuses a file that was cut short or made longer", async () => {
    const first = await keep("a", "kept");
    const whole = statSync(first).size;
    rmSync(first);
    for (const size of [0, 7, 8, 39, 40, whole - 1, whole + 1]) {
      const file = await keep("a", "kept");
      truncateSync(file, size);
      await expectRejected("a", file, "not what was kept");
      said.length = 0;
    }
  });

  it("refuses a valid file in the place of another one", async () => {
    const file = await keep("a", "one capability");
    renameSync(await keep("b", "another capability"), file);
    await expectRejected("a", file, "not what was kept");
  });

  it("refuses a file that was sealed with another secret", async () => {
    const file = await keep("a", "kept");
    const elsewhere = open(MiB, "test", join(top, "elsewhere"));
    elsewhere.put("a", "forged");
    await elsewhere.flush();
    const [forged] = readdirSync(join(top, "elsewhere")).filter((name) => file.endsWith(name));
    copyFileSync(join(top, "elsewhere", forged!), file);
    await expectRejected("a", file, "not what was kept");
  });

  it("refuses a symbolic link, though what it leads to is valid", async () => {
    const file = await keep("a", "kept");
    const moved = join(top, "moved");
    renameSync(file, moved);
    symlinkSync(moved, file);
    await expectRejected("a", file, "a link");
    expect(existsSync(moved)).toBe(true);
  });

  it.runIf(POSIX)("refuses a FIFO without waiting for a writer", async () => {
    const file = await keep("a", "kept");
    rmSync(file);
    execFileSync("mkfifo", [file]);
    await expectRejected("a", file, "no regular file");
  });

  it("does not read a file that is larger than the bound, though it is valid", async () => {
    const file = await keep("a", new Uint8Array(5_000));
    await expectRejected("a", file, "at most 5000 are read", open(5_000));
  });

  it("keeps nothing that is larger than the bound, and gives up nothing for it", async () => {
    const cache = open(5_000);
    const file = await keep("a", 1, cache);
    cache.put("b", new Uint8Array(5_000));
    await cache.flush();
    expect(entries().map((name) => join(directory, name))).toEqual([file]);
  });

  it("removes what was not used for longest when there are more bytes than the bound", async () => {
    const cache = open(10_000);
    const names: string[] = [];
    for (const [age, key] of ["a", "b", "c"].entries()) {
      const file = await keep(key, new Uint8Array(2_500), cache);
      utimesSync(file, 1_000 + age, 1_000 + age);
      names.push(file);
    }
    expect(await cache.get("a")).toBeInstanceOf(Uint8Array);
    await keep("d", new Uint8Array(2_500), cache);
    expect(names.map((file) => existsSync(file))).toEqual([true, false, true]);
    expect(await cache.get("b")).toBeUndefined();
    expect(cache.stats()).toEqual({ hits: 1, misses: 1, rejected: 0 });
  });

  it("removes drafts that lost their process, and nothing that is not its own", async () => {
    mkdirSync(directory, { mode: 0o700 });
    const draft = `.${"0".repeat(64)}.airlock-${"0".repeat(24)}`;
    for (const name of [draft, draft.replaceAll("0", "1"), ".profile", "notes"])
      writeFileSync(join(directory, name), "x");
    for (const name of [draft, ".profile", "notes"]) utimesSync(join(directory, name), 1_000, 1_000);
    await keep("a", 1, open(200));
    const left = readdirSync(directory);
    expect(left).not.toContain(draft);
    expect(left).toEqual(expect.arrayContaining([draft.replaceAll("0", "1"), ".profile", "notes"]));
  });

  it("counts a file that another process removes as a miss, never as an error", async () => {
    const cache = open();
    rmSync(await keep("a", 1, cache));
    expect(await cache.get("a")).toBeUndefined();
    rmSync(directory, { recursive: true });
    expect(await cache.get("a")).toBeUndefined();
    expect(cache.stats()).toEqual({ hits: 0, misses: 2, rejected: 0 });
  });

  it("says once that it cannot be used, and goes on without it", async () => {
    writeFileSync(directory, "a file");
    const cache = open();
    cache.put("a", 1);
    await cache.flush();
    expect(await cache.get("a")).toBeUndefined();
    expect(said).toEqual([{ directory, problem: expect.stringMatching(/EEXIST|ENOTDIR/) }]);
  });

  it.runIf(POSIX)("reads a directory that cannot be written to, and says once that it cannot", async () => {
    await keep("a", "kept");
    if (ROOT) {
      // Root may write anywhere, so this test is nobody for a while.
      for (const name of ["", ...readdirSync(directory)]) chownSync(join(directory, name), NOBODY, NOBODY);
      chmodSync(top, 0o755);
    }
    chmodSync(directory, 0o500);
    if (ROOT) process.seteuid!(NOBODY);
    try {
      const cache = open();
      expect(await cache.get("a")).toBe("kept");
      cache.put("b", 1);
      cache.put("c", 1);
      await cache.flush();
      expect(said).toEqual([{ directory, problem: expect.stringContaining("EACCES") }]);
    } finally {
      if (ROOT) process.seteuid!(0);
      chmodSync(directory, 0o700);
    }
  });

  it.runIf(POSIX).each<[string, (secret: string) => void]>([
    ["write access", () => chmodSync(directory, 0o720)],
    ["write access", () => chmodSync(directory, 0o702)],
    ["any access", (secret) => chmodSync(secret, 0o640)],
    ["any access", (secret) => chmodSync(secret, 0o602)],
    ["holds 31 bytes", (secret) => truncateSync(secret, 31)],
    ["holds 33 bytes", (secret) => truncateSync(secret, 33)],
    ["is a symbolic link", moveBehindLink],
    ["is no regular file", replaceByDirectory],
    ...(ROOT
      ? ([
          ["belongs to user 65534", () => chownSync(directory, NOBODY, 0)],
          ["belongs to user 65534", (secret) => chownSync(secret, NOBODY, 0)],
        ] satisfies [string, (secret: string) => void][])
      : []),
  ])("refuses a directory or secret that others could have touched: %s", async (why, touch) => {
    await keep("a", 1);
    touch(join(directory, "airlock.secret"));
    expect(() => open()).toThrow(
      expect.objectContaining({ code: "AIRLOCK_COMPILE_CACHE_UNSAFE", message: expect.stringContaining(why) }),
    );
  });

  it("processes that make the secret at once agree on it", async () => {
    const children = [1, 2, 3].map(() => spawn(process.execPath, [...TSX, PROGRAM, "secret", directory]));
    const answers = children.map(({ stdout }) => text(stdout));
    await Promise.all(children.map(({ stdout }) => once(stdout, "readable")));
    for (const { stdin } of children) stdin.write("go");
    const [first, ...others] = await Promise.all(answers);
    expect(first).toMatch(/^ready\n[0-9a-f]{64}$/);
    expect(others).toEqual([first, first]);
    expect(readdirSync(join(directory, "0"))).toEqual(["airlock.secret"]);
  });

  it("a process that is killed while it writes leaves nothing that is half there", async () => {
    for (let round = 0; round < 3; round++) {
      const child = spawn(process.execPath, [...TSX, PROGRAM, "write", directory], { stdio: "ignore" });
      await untilHalfWritten(child);
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await gone;
      const cache = open(2 ** 30);
      for (let key = 0; key < 10; key++) {
        const value = (await cache.get(`${key}`)) as { bytes: Uint8Array } | undefined;
        if (value !== undefined) expect(value.bytes.every((byte) => byte === key)).toBe(true);
      }
      expect(cache.stats().rejected).toBe(0);
    }
  });
});

function moveBehindLink(path: string): void {
  renameSync(path, join(top, "moved"));
  symlinkSync(join(top, "moved"), path);
}

function replaceByDirectory(path: string): void {
  rmSync(path);
  mkdirSync(path);
}

/** Resolves as soon as a file is there that is begun and not whole. */
async function untilHalfWritten(child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    for (const name of existsSync(directory) ? readdirSync(directory) : []) {
      const size = statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0;
      if (size > 32 && size < 2 ** 23) return;
    }
    await new Promise(setImmediate);
  }
  throw new Error("The process ended by itself");
}
