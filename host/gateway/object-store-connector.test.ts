import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { type ObjectStoreConnectorOptions, objectStoreConnector } from "./object-store-connector.ts";
import { ask, askThroughChain, bodyText, codeOf } from "./test-connector-call.ts";

const scratch = mkdtempSync(join(tmpdir(), "airlock-object-store-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

let made = 0;
function storeIn(options: Partial<ObjectStoreConnectorOptions> = {}) {
  made += 1;
  return objectStoreConnector({ directory: join(scratch, `${made}`), ...options });
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

describe("objectStoreConnector()", () => {
  it("keeps an object under its name, and tells its size and digest", async () => {
    const store = storeIn();
    const facts = { size: 5, sha256: digest("hello") };
    expect(await ask(store, "put", { name: "a/b.txt", body: base64("hello"), sha256: digest("hello") })).toEqual({
      resultClass: "success",
      payload: facts,
    });
    expect(await ask(store, "head", { name: "a/b.txt" })).toEqual({ resultClass: "success", payload: facts });
    expect(await ask(store, "get", { name: "a/b.txt" })).toEqual({
      resultClass: "success",
      payload: { ...facts, body: base64("hello") },
    });
    await ask(store, "put", { name: "a/b.txt", body: base64("") });
    expect(await ask(store, "get", { name: "a/b.txt" })).toMatchObject({ payload: { size: 0, body: "" } });
    expect(await ask(store, "delete", { name: "a/b.txt" })).toEqual({ resultClass: "success", payload: {} });
    for (const operation of ["get", "head", "delete"]) {
      expect(await ask(store, operation, { name: "a/b.txt" })).toEqual({ resultClass: "missing", payload: {} });
    }
  });

  it("answers what crosses the whole chain", async () => {
    const store = storeIn();
    for (const [operation, payload] of [
      ["put", { name: "config/path.json", body: base64("https://example.com/") }],
      ["get", { name: "config/path.json" }],
      ["head", { name: "config/path.json" }],
      ["list", {}],
      ["delete", { name: "config/path.json" }],
    ] as const) {
      expect(await askThroughChain(store, operation, payload)).toMatchObject({
        kind: "response",
        resultClass: "success",
      });
    }
  });

  it("answers any part of an object", async () => {
    const store = storeIn();
    const text = "0123456789".repeat(60_000);
    await ask(store, "put", { name: "long", body: base64(text) });
    await fc.assert(
      fc.asyncProperty(fc.nat(700_000), fc.nat(700_000), async (offset, length) => {
        const part = await ask(store, "get", { name: "long", offset, length }, { responseBytes: 1_000_000 });
        expect(bodyText(part) === text.slice(offset, offset + length)).toBe(true);
      }),
      { numRuns: 50 },
    );
    const largest = Number.MAX_SAFE_INTEGER;
    expect(bodyText(await ask(store, "get", { name: "long", offset: largest, length: largest }))).toBe("");
    expect(bodyText(await ask(store, "get", { name: "long", offset: 599_998, length: largest }))).toBe("89");
    expect(await codeOf(ask(store, "get", { name: "long", length: largest }))).toBe("response-too-large");
  });

  it("lists objects by name, in pages that fit into a response", async () => {
    const store = storeIn();
    const names = Array.from(
      { length: 30 },
      (_, index) => `${index % 2 === 0 ? "even" : "odd"}/${index}${"x".repeat(100)}`,
    );
    for (const name of names) await ask(store, "put", { name, body: base64(name) });
    const found: string[] = [];
    let pages = 0;
    for (let after: string | null = ""; after !== null; pages++) {
      const { payload } = await ask(store, "list", { prefix: "even/", after }, { responseBytes: 3_000 });
      expect(JSON.stringify(payload).length).toBeLessThan(3_000);
      const page = payload as { objects: { name: string; size: number; sha256: string }[]; next: string | null };
      for (const { name, size, sha256 } of page.objects) {
        expect({ size, sha256 }).toEqual({ size: name.length, sha256: digest(name) });
        found.push(name);
      }
      after = page.next;
    }
    expect(found).toEqual(names.filter((name) => name.startsWith("even/")).sort());
    expect(pages).toBeGreaterThan(1);
    expect(await ask(store, "list", { limit: 1 })).toMatchObject({ payload: { next: found[0], damaged: 0 } });
    expect(await codeOf(ask(store, "list", {}, { responseBytes: 900 }))).toBe("response-too-large");
    expect(await ask(storeIn(), "list", {})).toEqual({
      resultClass: "success",
      payload: { objects: [], next: null, damaged: 0 },
    });
  });

  it.each([1, 2, 3, 7])("finds each object once in pages of %i, whatever order they lie in", async (limit) => {
    const store = storeIn();
    const names = Array.from({ length: 20 }, (_, index) => `${(index * 7) % 20}`);
    for (const name of names) await ask(store, "put", { name, body: "" });
    const found: string[] = [];
    for (let after: string | null = ""; after !== null; ) {
      const { payload } = await ask(store, "list", { after, limit });
      const page = payload as { objects: { name: string }[]; next: string | null };
      expect(page.objects.length).toBeLessThanOrEqual(limit);
      found.push(...page.objects.map(({ name }) => name));
      after = page.next;
    }
    expect(found).toEqual(names.sort());
  });

  it("keeps the objects of each capability apart", async () => {
    const store = storeIn();
    await ask(store, "put", { name: "a", body: base64("one") }, { capabilityId: "acme.one" });
    expect(await ask(store, "get", { name: "a" }, { capabilityId: "acme.two" })).toMatchObject({
      resultClass: "missing",
    });
    await ask(store, "put", { name: "a", body: base64("two") }, { capabilityId: "acme.two" });
    await ask(store, "delete", { name: "a" }, { capabilityId: "acme.two" });
    expect(bodyText(await ask(store, "get", { name: "a" }, { capabilityId: "acme.one" }))).toBe("one");
    expect(await ask(store, "list", {}, { capabilityId: "acme.two" })).toMatchObject({ payload: { objects: [] } });
  });

  it("finds again what an earlier store has put there, and shows no name in the directory", async () => {
    const directory = join(scratch, "again");
    const first = objectStoreConnector({ directory });
    await ask(first, "put", { name: "kept", body: base64("kept") });
    await first.close?.();
    await first.close?.();
    expect(await codeOf(ask(first, "get", { name: "kept" }))).toBe("closed");
    const second = objectStoreConnector({ directory });
    expect(bodyText(await ask(second, "get", { name: "kept" }))).toBe("kept");
    const files = readdirSync(directory, { recursive: true, encoding: "utf8" });
    expect(files).toHaveLength(2);
    for (const file of files) {
      expect(file).toMatch(/^[0-9a-f/]+$/);
      expect(statSync(join(directory, file)).mode & 0o777).toBe(file.includes("/") ? 0o600 : 0o700);
    }
    expect(statSync(directory).mode & 0o777).toBe(0o700);
  });

  it.each([
    [""],
    ["."],
    [".."],
    ["../x"],
    ["a/../b"],
    ["a/./b"],
    ["a//b"],
    ["a/"],
    ["/a"],
    ["a\0b"],
    ["a\\b"],
    ["a b"],
    ["a:b"],
    ["a%2fb"],
    ["é"],
    ["e\u0301"],
    ["\u202e"],
    ["a\n"],
    ["x".repeat(513)],
    [1],
    [null],
    [["a"]],
  ])("takes no object with the name %j", async (name) => {
    const store = storeIn();
    for (const operation of ["put", "get", "head", "delete"]) {
      const payload = operation === "put" ? { name, body: "" } : { name };
      expect(await codeOf(ask(store, operation, payload))).toBe("invalid-request");
    }
    expect(readdirSync(join(scratch, `${made}`))).toEqual([]);
  });

  it.each(["x".repeat(512), "__proto__", "constructor", "...", ".hidden", "-rf", "a/...", "NUL", "con.txt", "@"])(
    "keeps an object with the name %j like any other",
    async (name) => {
      const store = storeIn();
      await ask(store, "put", { name, body: base64(name) });
      expect(bodyText(await ask(store, "get", { name }))).toBe(name);
    },
  );

  it("tells names apart that differ in case alone", async () => {
    const store = storeIn();
    await ask(store, "put", { name: "Twin", body: base64("upper") });
    await ask(store, "put", { name: "twin", body: base64("lower") });
    expect(bodyText(await ask(store, "get", { name: "Twin" }))).toBe("upper");
  });

  it.each([
    ["put", { name: "a" }, "invalid-request"],
    ["put", { name: "a", body: 1 }, "invalid-request"],
    ["put", { name: "a", body: "a" }, "invalid-request"],
    ["put", { name: "a", body: "", sha256: "x" }, "invalid-request"],
    ["put", { name: "a", body: "", sha256: digest("x") }, "digest-mismatch"],
    ["put", { name: "a", body: "", mode: 511 }, "invalid-request"],
    ["get", { name: "a", offset: -1 }, "invalid-request"],
    ["get", { name: "a", offset: 1.5 }, "invalid-request"],
    ["get", { name: "a", offset: 2 ** 53 }, "invalid-request"],
    ["get", { name: "a", length: "1" }, "invalid-request"],
    ["get", { name: "a", length: -1 }, "invalid-request"],
    ["list", { limit: 0 }, "invalid-request"],
    ["list", { limit: 1_001 }, "invalid-request"],
    ["list", { prefix: 1 }, "invalid-request"],
    ["list", { after: "x".repeat(513) }, "invalid-request"],
    ["list", null, "invalid-request"],
    ["copy", { name: "a" }, "unknown-operation"],
    ["constructor", {}, "unknown-operation"],
  ])("refuses %s %j", async (operation, payload, code) => {
    const store = storeIn();
    expect(await codeOf(ask(store, operation, payload))).toBe(code);
    expect(await ask(store, "list", {})).toMatchObject({ payload: { objects: [] } });
  });

  it("keeps its bounds on one object, all bytes and the number of objects, also when many are put at once", async () => {
    const store = storeIn({ maxObjectBytes: 10, maxTotalBytes: 2_000, maxObjects: 3 });
    expect(await codeOf(ask(store, "put", { name: "a", body: base64("x".repeat(11)) }))).toBe("object-too-large");
    const codes = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        codeOf(ask(store, "put", { name: `n${index}`, body: base64("x".repeat(10)) })),
      ),
    );
    expect(codes.filter((code) => code === "storage-full")).toHaveLength(7);
    expect(await codeOf(ask(store, "put", { name: "n0", body: base64("again") }))).toMatch(/^answered/);
    const files = readdirSync(join(scratch, `${made}`), { recursive: true, encoding: "utf8" });
    expect(files).toHaveLength(4);

    const small = storeIn({ maxTotalBytes: 500 });
    expect(await codeOf(ask(small, "put", { name: "a", body: base64("x".repeat(300)) }))).toMatch(/^answered/);
    expect(await codeOf(ask(small, "put", { name: "b", body: base64("x".repeat(300)) }))).toBe("storage-full");
    expect(await codeOf(ask(small, "put", { name: "a", body: base64("y".repeat(300)) }))).toMatch(/^answered/);
    await ask(small, "delete", { name: "a" });
    expect(await codeOf(ask(small, "put", { name: "b", body: base64("x".repeat(300)) }))).toMatch(/^answered/);
  });

  it("that is read only takes nothing and gives what is there", async () => {
    const directory = join(scratch, "read-only");
    await ask(objectStoreConnector({ directory }), "put", { name: "a", body: base64("there") });
    const store = objectStoreConnector({ directory, writable: false });
    expect(await codeOf(ask(store, "put", { name: "a", body: "" }))).toBe("read-only");
    expect(await codeOf(ask(store, "delete", { name: "a" }))).toBe("read-only");
    expect(bodyText(await ask(store, "get", { name: "a" }))).toBe("there");
  });

  it("puts and reads nothing for a run that has ended", async () => {
    const store = storeIn();
    await ask(store, "put", { name: "a", body: base64("old") });
    const run = new AbortController();
    run.abort();
    const { signal } = run;
    expect(await codeOf(ask(store, "put", { name: "a", body: base64("new") }, { signal }))).toBe("run-ended");
    expect(await codeOf(ask(store, "get", { name: "a" }, { signal }))).toBe("run-ended");
    expect(bodyText(await ask(store, "get", { name: "a" }))).toBe("old");
  });

  it("closes when those who work in it are done", async () => {
    const store = storeIn();
    const puts = Array.from({ length: 5 }, (_, index) => ask(store, "put", { name: `n${index}`, body: base64("x") }));
    await new Promise(setImmediate);
    const closed = store.close?.();
    const codes = await Promise.all(puts.map(codeOf));
    await closed;
    expect(codes[0]).toMatch(/^answered/);
    for (const code of codes) expect(code).toMatch(/^answered|^closed$/);
  });

  it.each([
    [null],
    [{}],
    [{ directory: "" }],
    [{ directory: "a\0b" }],
    [{ directory: "x", maxObjects: 0 }],
    [{ directory: "x", maxObjectBytes: 64 * 1024 * 1024 + 1 }],
    [{ directory: "x", maxTotalBytes: "1" }],
    [{ directory: "x", writable: 1 }],
    [{ directory: "x", readonly: true }],
    [{ directory: "/dev/null/x" }],
    [{ directory: "/dev/null" }],
  ])("refuses the options %j", (options) => {
    expect(() => objectStoreConnector(options as unknown as ObjectStoreConnectorOptions)).toThrow(
      expect.objectContaining({ code: "AIRLOCK_GATEWAY_CONNECTOR_INVALID" }),
    );
  });
});
