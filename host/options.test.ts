import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { type HostOptions, resolveOptions } from "./options.ts";

describe("resolveOptions()", () => {
  it("fills in every default and freezes", () => {
    const resolved = resolveOptions({});
    expect(resolved).toMatchObject({
      queue: 1_024,
      heapMegabytes: 512,
      tier: "reset",
      maxComponentBytes: 64 * 2 ** 20,
    });
    expect(Object.isFrozen(resolved)).toBe(true);
  });

  it("lowers what a text may take to an eighth of the heap that it must be held in", () => {
    const { policy } = resolveOptions({ heapMegabytes: 32 });
    expect(policy.defaults.inputBytes).toBe(4 * 2 ** 20);
    expect(policy.caps.outputBytes).toBe(4 * 2 ** 20);
    expect(resolveOptions({}).policy.caps.outputBytes).toBe(64 * 2 ** 20);
  });

  it("keeps nothing on disk unless a directory is named, and makes its path absolute", () => {
    expect(resolveOptions({}).compile.disk).toBeNull();
    expect(resolveOptions({ compile: { cacheDirectory: "cache" } }).compile.disk).toEqual({
      directory: resolve("cache"),
      bytes: 512 * 2 ** 20,
    });
  });

  it.each<[unknown, string]>([
    [{ thread: 2 }, 'did you mean "threads"'],
    [{ threads: 0 }, "threads is 0, a whole number from 1 to 256 is wanted"],
    [{ threads: "2" }, 'threads is "2"'],
    [{ tier: "warm" }, 'tier is "warm", "reset" or "recycled" or "fresh" is wanted'],
    [{ limits: { defaults: { feul: 1 } } }, "fuel"],
    [{ limits: { cap: {} } }, 'did you mean "caps"'],
    [{ imports: { lookup: {} } }, "the full name of an interface"],
    [{ imports: { "wasi:cli/exit@0.2.0": {} } }, "wasi and airlock are the host's"],
    [{ imports: { "acme:crm/lookup@1.0.0": { find: 7 } } }, "a function"],
    [{ limits: { caps: { outputBytes: 2 ** 27 } } }, "at most 67108864, an eighth of heapMegabytes"],
    [{ heapMegabytes: 64, limits: { defaults: { inputBytes: 2 ** 24 } } }, "at most 8388608"],
    [{ allow: { fs: ["/no/such/directory"] } }, 'allow.fs is "/no/such/directory", an existing directory is wanted'],
    [{ allow: { invoke: "acme.a" } }, 'allow.invoke is "acme.a", a list of ids is wanted'],
    [{ allow: { invoke: ["acme.a@1.0.0"] } }, "the id of a capability, without a version, is wanted"],
    [{ compile: { timeoutMs: -1 } }, "compile.timeoutMs is -1"],
    [{ compile: { cacheDirectory: "" } }, 'compile.cacheDirectory is "", the path of a directory is wanted'],
    [{ compile: { cacheDirectory: 7 } }, "compile.cacheDirectory is 7"],
    [{ compile: { cacheDirectory: "a\0b" } }, "the path of a directory is wanted"],
    [{ compile: { cacheBytes: 2 ** 30 } }, "compile.cacheDirectory beside it is wanted"],
    [{ compile: { cacheDirectory: "c", cacheBytes: 7 } }, "compile.cacheBytes is 7"],
    [null, "options is null, an object is wanted"],
  ])("refuses %j in one line that says what is wanted", (options, wanted) => {
    const attempt = (): unknown => resolveOptions(options as HostOptions);
    expect(attempt).toThrow(
      expect.objectContaining({ code: "AIRLOCK_HOST_OPTIONS_INVALID", message: expect.stringContaining(wanted) }),
    );
  });
});
