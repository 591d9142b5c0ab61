import { createHash } from "node:crypto";
import { mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BinaryCache } from "./manifest.ts";

const CAP = 1_000;

describe("BinaryCache", () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "airlock-binaries-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const put = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return createHash("sha256").update(text).digest("hex");
  };
  const textOf = (cache: BinaryCache, name: string, sha256: string): string =>
    Buffer.from(cache.read(folder, name, CAP, sha256)).toString();

  it("reads a file once while it stays the same", () => {
    const cache = new BinaryCache();
    const digest = put("a.wasm", "one");
    const first = cache.read(folder, "a.wasm", CAP, digest);
    expect(cache.read(folder, "a.wasm", CAP, digest)).toBe(first);
    expect(cache.stats()).toEqual({ entries: 1, bytes: 3, hits: 1, loads: 1, evictions: 0 });
  });

  it("reads again what was rewritten, replaced, or only touched", () => {
    const cache = new BinaryCache();
    const one = put("a.wasm", "one");
    expect(textOf(cache, "a.wasm", one)).toBe("one");
    put("a.wasm", "other");
    expect(textOf(cache, "a.wasm", one)).toBe("other");
    const two = put("b.wasm", "two");
    renameSync(join(folder, "b.wasm"), join(folder, "a.wasm"));
    expect(textOf(cache, "a.wasm", two)).toBe("two");
    utimesSync(join(folder, "a.wasm"), 1, 1);
    expect(textOf(cache, "a.wasm", two)).toBe("two");
    expect(cache.stats()).toEqual({ entries: 1, bytes: 3, hits: 0, loads: 4, evictions: 0 });
  });

  it("reads again where another digest is wanted than the bytes have, whatever the file's times say", () => {
    const cache = new BinaryCache();
    const digest = put("a.wasm", "one");
    textOf(cache, "a.wasm", digest);
    textOf(cache, "a.wasm", "0".repeat(64));
    expect(cache.stats()).toMatchObject({ hits: 0, loads: 2 });
  });

  it("knows a file by its real path, and looks for links and the cap on a hit as well", () => {
    const cache = new BinaryCache();
    const digest = put("a.wasm", "one");
    symlinkSync(folder, join(folder, "self"));
    textOf(cache, "a.wasm", digest);
    expect(Buffer.from(cache.read(join(folder, "self"), "a.wasm", CAP, digest)).toString()).toBe("one");
    expect(cache.stats()).toMatchObject({ entries: 1, hits: 1, loads: 1 });
    expect(() => cache.read(folder, "self/a.wasm", CAP, digest)).toThrow(
      expect.objectContaining({ code: "AIRLOCK_ADMISSION_BINARY_LOAD_FAILED" }),
    );
    expect(() => cache.read(folder, "a.wasm", 2, digest)).toThrow(
      expect.objectContaining({ code: "AIRLOCK_ADMISSION_TOO_LARGE" }),
    );
    rmSync(join(folder, "a.wasm"));
    expect(() => textOf(cache, "a.wasm", digest)).toThrow(
      expect.objectContaining({ code: "AIRLOCK_ADMISSION_BINARY_LOAD_FAILED" }),
    );
  });

  it("keeps no more entries and bytes than its bounds, the one unused longest goes first", () => {
    const cache = new BinaryCache({ entries: 2, bytes: 8 });
    const digests = Object.fromEntries(["aaa", "bbb", "ccc"].map((text) => [text, put(text, text)]));
    for (const name of ["aaa", "bbb", "aaa", "ccc"]) textOf(cache, name, digests[name]!);
    expect(cache.stats()).toEqual({ entries: 2, bytes: 6, hits: 1, loads: 3, evictions: 1 });
    textOf(cache, "aaa", digests["aaa"]!);
    textOf(cache, "bbb", digests["bbb"]!);
    expect(cache.stats()).toMatchObject({ hits: 2, loads: 4, evictions: 2 });
    textOf(cache, "large", put("large", "x".repeat(6)));
    expect(cache.stats()).toMatchObject({ entries: 1, bytes: 6, evictions: 4 });
    textOf(cache, "larger", put("larger", "x".repeat(9)));
    expect(cache.stats()).toMatchObject({ entries: 1, bytes: 6, evictions: 4 });
  });
});
