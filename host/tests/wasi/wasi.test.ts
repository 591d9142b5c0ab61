import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import v8 from "node:v8";
import { componentize } from "componentize-qjs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fakeScope } from "./fake-scope.ts";
import { type Guest, guestOf, loadGuest } from "./guest.ts";

const base = mkdtempSync(path.join(tmpdir(), "airlock-wasi-"));
const granted = path.join(base, "granted");
const guests = new Map<string, Guest>();
const named = (name: string): Guest => guests.get(name)!;
const files = readdirSync(new URL("./guests/", import.meta.url)).map((file) => file.replace(/\.wat$/, ""));

beforeAll(async () => {
  mkdirSync(path.join(granted, "sub"), { recursive: true });
  mkdirSync(path.join(base, "outside"));
  writeFileSync(path.join(base, "outside/secret"), "SECRET");
  writeFileSync(path.join(granted, "data.csv"), 'name,"age"\nÄda,36\n');
  writeFileSync(path.join(granted, "long"), "0123456789".repeat(20_000));
  writeFileSync(path.join(granted, "sub/inner"), "inner");
  writeFileSync(path.join(granted, "huge"), "");
  truncateSync(path.join(granted, "huge"), 10 * 1024 ** 3);
  symlinkSync("data.csv", path.join(granted, "link"));
  symlinkSync("../outside/secret", path.join(granted, "link-out"));
  symlinkSync("../outside", path.join(granted, "directory-out"));
  symlinkSync("/etc/passwd", path.join(granted, "absolute-out"));
  execFileSync("mkfifo", [path.join(granted, "pipe")]);
  for (const file of files) guests.set(file, await loadGuest(file));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

test("every guest here is used", () => {
  const text = readFileSync(new URL("./wasi.test.ts", import.meta.url), "utf8");
  expect(files.filter((file) => !text.includes(`named("${file}")`))).toEqual([]);
});

describe("a guest that was granted a directory", () => {
  test("reads a file in it, through a stream and in pieces", () => {
    const scope = fakeScope({ root: granted });
    const guest = named("read-granted-file");
    expect(guest.run(scope, '"data.csv"')).toEqual({ kind: "answer", output: 'name,"age"\nÄda,36\n' });
    // The preopen, the path, the text, the end.
    expect(scope.counters).toMatchObject({ hostCalls: 4, hostBytesIn: 19, handles: 0 });
    expect(guest.run(fakeScope({ root: granted }), "long")).toEqual({
      kind: "answer",
      output: "0123456789".repeat(20_000),
    });
  });

  test("pays for each call, each name and each byte", () => {
    const burned = (input: string): bigint => {
      const scope = fakeScope({ root: granted });
      named("read-granted-file").run(scope, input);
      return scope.fuelAtStart() - scope.fuelLeft();
    };
    // 200,000 bytes are four reads more than 19, each a filesystem call, a stream call, and three names on the way.
    expect(burned("long") - burned("data.csv")).toBe(3n * (100_000n + 2_000n + 2n * 2_000n) + 199_981n);
  });

  test.each([
    ["link", 'name,"age"\nÄda,36\n'],
    ["sub/../data.csv", 'name,"age"\nÄda,36\n'],
    ["sub/inner", "inner"],
  ])("reads %s", (input, output) => {
    expect(named("read-granted-file").run(fakeScope({ root: granted }), input)).toEqual({ kind: "answer", output });
  });

  test.each([
    ["../outside/secret", "not-permitted"],
    ["sub/../../outside/secret", "not-permitted"],
    ["/etc/passwd", "not-permitted"],
    ["link-out", "not-permitted"],
    ["directory-out/secret", "not-permitted"],
    ["absolute-out", "not-permitted"],
    ["pipe", "not-permitted"],
    ["sub", "is-directory"],
    ["missing", "no-entry"],
    ['""', "no-entry"],
    ["constructor", "no-entry"],
  ])("does not get %s: %s", (input, code) => {
    expect(named("read-granted-file").run(fakeScope({ root: granted }), input)).toEqual({ kind: "failed", code });
  });

  test("does not get a device", () => {
    const ending = named("read-granted-file").run(fakeScope({ root: "/dev" }), "zero");
    expect(ending).toEqual({ kind: "failed", code: "not-permitted" });
  });

  test("changes nothing in it, whatever it tries", () => {
    const before = readdirSync(granted);
    const ending = named("write-granted-directory").run(fakeScope({ root: granted }), "data.csv");
    expect(ending).toEqual({
      kind: "answer",
      output: {
        "open-create": "read-only",
        "open-truncate": "read-only",
        "open-write": "read-only",
        write: "read-only",
        "set-size": "read-only",
        "create-directory": "read-only",
        unlink: "read-only",
        rename: "read-only",
        symlink: "read-only",
        link: "read-only",
      },
    });
    expect(readdirSync(granted)).toEqual(before);
  });

  test("lists it by name", () => {
    const guest = named("list-granted-directory");
    const scope = fakeScope({ root: granted });
    expect(guest.run(scope, ".")).toEqual({ kind: "answer", output: readdirSync(granted).sort() });
    expect(guest.run(fakeScope({ root: granted }), "sub")).toEqual({ kind: "answer", output: ["inner"] });
    expect(guest.run(fakeScope({ root: granted }), "directory-out")).toEqual({ kind: "failed", code: "not-permitted" });
    expect(guest.run(fakeScope({ root: granted }), "data.csv")).toEqual({ kind: "failed", code: "not-directory" });
  });

  test.each([
    ["data.csv", { type: "regular-file", size: 19 }],
    ["huge", { type: "regular-file", size: 10 * 1024 ** 3 }],
    ["pipe", { type: "fifo", size: 0 }],
    ["link-out", { type: "symbolic-link", size: 17 }],
  ])("asks what %s is without opening it", (input, output) => {
    expect(named("stat-granted-path").run(fakeScope({ root: granted }), input)).toEqual({ kind: "answer", output });
  });

  test("gets a megabyte when it asks for 2^62 bytes", () => {
    const ending = named("read-huge-length").run(fakeScope({ root: granted }), "huge");
    expect(ending).toEqual({ kind: "answer", output: 1024 * 1024 });
  });

  test("ends over-budget when it reads more than hostBytesIn, or calls more often than hostCalls", () => {
    const guest = named("read-granted-file");
    expect(guest.run(fakeScope({ root: granted, limits: { hostBytesIn: 100_000 } }), "long")).toEqual({
      kind: "stopped",
      ending: { kind: "over-budget", limit: "hostBytesIn" },
    });
    expect(guest.run(fakeScope({ root: granted, limits: { hostCalls: 3 } }), "long")).toEqual({
      kind: "stopped",
      ending: { kind: "over-budget", limit: "hostCalls" },
    });
  });

  test("traps when the directory is gone", () => {
    const ending = named("read-granted-file").run(fakeScope({ root: path.join(base, "gone") }), "data.csv");
    expect(ending).toEqual({
      kind: "stopped",
      ending: { kind: "trapped", what: "the granted directory cannot be opened: no-entry" },
    });
  });

  test("traps when it invents a handle", () => {
    expect(named("forge-handle").run(fakeScope({ root: granted }))).toMatchObject({ kind: "trapped" });
    expect(named("poll-many-handles").run(fakeScope())).toMatchObject({ kind: "trapped" });
  });
});

describe("a guest that was granted nothing", () => {
  test("finds no directory", () => {
    expect(named("read-granted-file").run(fakeScope(), "data.csv")).toEqual({ kind: "failed", code: "no-preopens" });
  });

  test("finds no environment, argument, working directory, terminal or input", () => {
    expect(named("read-environment").run(fakeScope())).toEqual({
      kind: "answer",
      output: { environment: 0, arguments: 0, directories: 0, cwd: 0, terminal: 0, stdin: "closed" },
    });
  });

  test("ends its run, not the process, when it exits", () => {
    expect(named("call-exit").run(fakeScope())).toEqual({
      kind: "stopped",
      ending: { kind: "trapped", what: "exit called" },
    });
  });

  test("cannot draw more random bytes than its budget", () => {
    expect(named("draw-huge-random").run(fakeScope())).toEqual({
      kind: "stopped",
      ending: { kind: "over-budget", limit: "randomBytes" },
    });
  });

  test("draws the same random bytes from the same seed", () => {
    const draw = (seed: number) => named("draw-random").run(fakeScope({ seed }));
    expect(draw(1)).toEqual({ kind: "answer", output: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)).not.toEqual(draw(2));
  });

  test("sleeps without waiting", () => {
    expect(named("sleep-an-hour").run(fakeScope())).toEqual({
      kind: "answer",
      output: { slept: 3_600, wall: Date.UTC(2025, 0, 1, 1) / 1_000 },
    });
  });

  test("cannot hold more handles than its limit, and may have any number one after another", () => {
    expect(named("flood-handles").run(fakeScope())).toEqual({
      kind: "stopped",
      ending: { kind: "over-budget", limit: "handles" },
    });
    const scope = fakeScope();
    expect(named("drop-handles").run(scope)).toEqual({ kind: "answer", output: null });
    expect(scope.counters.handles).toBe(0);
  });

  test("writes its output and errors to the log, line by line", () => {
    const scope = fakeScope();
    expect(named("write-standard-output").run(scope)).toEqual({ kind: "answer", output: null });
    expect(scope.lines).toEqual([
      ["error", "it hurts"],
      ["info", "first line"],
      ["info", "second line"],
      ["info", "no line break"],
    ]);
  });
});

test("a JavaScript capability that was built with the whole of WASI reads the run's clock and no other", async () => {
  // Its runtime uses extended constant expressions, which Node 20 has behind a flag.
  v8.setFlagsFromString("--experimental-wasm-extended-const");
  const { component } = await componentize({
    witPath: fileURLToPath(new URL("../../../wit/capability", import.meta.url)),
    world: "capability",
    sync: true,
    optSize: true,
    jsSource: `export const handler = {
      handle: () => JSON.stringify({ now: new Date().toISOString(), random: Math.random() }),
    };`,
  });
  const guest = await guestOf(component);
  const ending = guest.run(fakeScope());
  expect(guest.imports).toContain("wasi:filesystem/types@0.2.12");
  expect(ending).toMatchObject({ kind: "answer", output: { now: expect.stringMatching(/^2025-01-01T00:00:00/) } });
  expect(guest.run(fakeScope())).toEqual(ending);
});
