import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStore, type Store } from "../store/store.ts";
import { type BindOptions, type ConnectorAnswer, Connectors, kvStoreConnector, mediate } from "./gateway.ts";

const MiB = 2 ** 20;

let directory: string;
let store: Store;
let connectors: Connectors;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "airlock-kv-"));
  store = await openStore({ directory, busyMs: 0 });
  bind({}, { requestBytes: MiB, responseBytes: MiB });
});

afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

function bind(options: Partial<Parameters<typeof kvStoreConnector>[0]>, how: BindOptions = {}): void {
  connectors = new Connectors();
  connectors.bind(kvStoreConnector({ store, ...options }), how);
}

/** One call through the whole chain, as a guest makes it; the payload is a value or JSON text. */
function ask(operation: string, payload: unknown, capabilityId = "acme.notes", room = MiB): Promise<ConnectorAnswer> {
  return mediate(
    {
      connector: "kv-store",
      operation,
      payload: typeof payload === "string" ? payload : JSON.stringify(payload),
      room,
      declared: [{ id: "kv-store", range: "^1.0.0" }],
      context: {
        runId: "run",
        capabilityId,
        capabilityVersion: "1.0.0",
        signal: new AbortController().signal,
        deadline: null,
      },
    },
    connectors,
  );
}

/** The result class and the payload of a response; the code of a failure and its message. */
async function said(...call: Parameters<typeof ask>): Promise<readonly [string, unknown]> {
  const answer = await ask(...call);
  if (answer.kind === "response") return [answer.resultClass, JSON.parse(answer.payload)];
  return answer.kind === "failure" ? [answer.code, answer.message] : ["unparsed", answer.message];
}

const base64 = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString("base64");

describe("kvStoreConnector()", () => {
  it("keeps bytes and JSON, and gives them back as they came", async () => {
    const value = { list: [1, "two", null, { deep: true }], text: "é\u0000\ud83d" };
    expect(await said("get", { key: "k" })).toEqual(["missing", { revision: 0 }]);
    expect(await said("put", { key: "k", value })).toEqual(["success", { revision: 1 }]);
    expect(await said("get", { key: "k" })).toEqual(["success", { revision: 1, value }]);
    expect(await said("put", { key: "k", body: base64(Buffer.of(0, 255, 47)) })).toEqual(["success", { revision: 2 }]);
    expect(await said("get", { key: "k" })).toEqual(["success", { revision: 2, body: base64(Buffer.of(0, 255, 47)) }]);
    expect(await said("put", { key: "empty", body: "" })).toEqual(["success", { revision: 3 }]);
    expect(await said("get", { key: "empty" })).toEqual(["success", { revision: 3, body: "" }]);
    for (const scalar of [null, false, 0, "", -1.5e300]) {
      await said("put", { key: "scalar", value: scalar });
      expect(await said("get", { key: "scalar" })).toMatchObject(["success", { value: scalar }]);
    }
  });

  it("compares and sets", async () => {
    expect(await said("put", { key: "k", value: 1, expected: null })).toEqual(["success", { revision: 1 }]);
    expect(await said("put", { key: "k", value: 2, expected: 0 })).toEqual(["conflict", { revision: 1 }]);
    expect(await said("put", { key: "k", value: 2, expected: 1 })).toEqual(["success", { revision: 2 }]);
    expect(await said("delete", { key: "k", expected: 1 })).toEqual(["conflict", { revision: 2 }]);
    expect(await said("delete", { key: "k", expected: 2 })).toEqual(["success", { revision: 3 }]);
    expect(await said("delete", { key: "k" })).toEqual(["missing", { revision: 0 }]);
    expect(await said("put", { key: "k", value: 3, expected: 2 })).toEqual(["conflict", { revision: 0 }]);
    expect(await said("put", { key: "k", value: 3, expected: 0 })).toEqual(["success", { revision: 4 }]);
  });

  it("gives each capability a namespace of its own, for all of its versions", async () => {
    await said("put", { key: "k", value: "mine" }, "acme.notes");
    for (const other of ["acme", "acme.note", "acme.notes-2", "acme.notes.k", "notes"]) {
      expect(await said("get", { key: "k" }, other)).toEqual(["missing", { revision: 0 }]);
      expect(await said("list", {}, other)).toEqual(["success", { entries: [], next: null }]);
      expect(await said("delete", { key: "k" }, other)).toEqual(["missing", { revision: 0 }]);
      expect(await said("put", { key: "k", value: other, expected: 0 }, other)).toEqual(["success", { revision: 1 }]);
    }
    expect(await said("get", { key: "k" })).toEqual(["success", { revision: 1, value: "mine" }]);
    expect(await store.entries.usage("acme.notes")).toEqual({ entries: 1, bytes: 7 });
  });

  it("lists by prefix, as many as a response has place for, until all are seen once", async () => {
    const keys = Array.from({ length: 130 }, (_, number) => `${number % 2 === 0 ? "even" : "odd"} ${number} "\u0001"`);
    for (const key of keys) await store.entries.put("acme.notes", key, Buffer.alloc(3));
    const inOrder = [...keys].sort();
    for (const [room, pages] of [
      [MiB, 2],
      [2_000, 4],
      [256, 65],
    ] as const) {
      const seen: string[] = [];
      let calls = 0;
      for (let after: string | null = null; ; calls++) {
        const [resultClass, payload] = await said("list", { after }, "acme.notes", room);
        expect(resultClass).toBe("success");
        const page = payload as { entries: { key: string; revision: number; bytes: number }[]; next: string | null };
        seen.push(...page.entries.map(({ key }) => key));
        if (page.next === null) break;
        after = page.next;
      }
      expect(seen).toEqual(inOrder);
      expect(calls + 1).toBeGreaterThanOrEqual(pages);
    }
    const [, few] = await said("list", { prefix: "odd 1", limit: 2 });
    expect(few).toEqual({
      entries: [
        { key: 'odd 1 "\u0001"', revision: 2, bytes: 3 },
        { key: 'odd 101 "\u0001"', revision: 102, bytes: 3 },
      ],
      next: 'odd 101 "\u0001"',
    });
    expect(await said("list", { prefix: "%" })).toEqual(["success", { entries: [], next: null }]);
  });

  it("answers within the bytes that the guest has, down to the last one, or says that it is too large", async () => {
    for (const [content, bytes] of [
      [{ body: base64(Buffer.alloc(300)) }, 300],
      [{ value: "é".repeat(200) }, 402],
    ] as const) {
      await said("put", { key: "k", ...content });
      let least = 0;
      for (let room = 256; room < 1_000 && least === 0; room++) {
        const answer = await said("get", { key: "k" }, "acme.notes", room);
        if (answer[0] === "success") least = room;
        else
          expect(answer).toEqual([
            "response-too-large",
            `the value has ${bytes} bytes, and no place in a response of ${room} bytes`,
          ]);
      }
      // The chain itself would have refused a byte too many as bounded_io.
      expect(least).toBeGreaterThan(bytes);
      expect(least).toBeLessThan(bytes * 1.4 + 220);
    }
  });

  it("does not even read a value that has no place in the response", async () => {
    const read: string[] = [];
    const entries: Store["entries"] = {
      get: async (...asked) => {
        const found = await store.entries.get(...asked);
        read.push(found.kind);
        return found;
      },
      put: (...asked) => store.entries.put(...asked),
      delete: (...asked) => store.entries.delete(...asked),
      list: (...asked) => store.entries.list(...asked),
      usage: (...asked) => store.entries.usage(...asked),
    };
    bind({ store: { ...store, entries } }, { requestBytes: MiB, responseBytes: MiB });
    await said("put", { key: "k", body: base64(Buffer.alloc(600_000)) });
    expect(await said("get", { key: "k" }, "acme.notes", 4_096)).toEqual([
      "response-too-large",
      "the value has 600000 bytes, and no place in a response of 4096 bytes",
    ]);
    expect(read).toEqual(["too-large"]);
  });

  it("does nothing where not even an answer would have place", async () => {
    expect(await said("put", { key: "k", value: 1 }, "acme.notes", 255)).toEqual([
      "response-too-large",
      "the response has place for 255 bytes: at least 256 are wanted",
    ]);
    expect(await store.entries.usage("acme.notes")).toEqual({ entries: 0, bytes: 0 });
    const longest = "\u0001".repeat(512);
    expect(await said("put", { key: longest, value: 1 }, "acme.notes", 256)).toEqual(["success", { revision: 1 }]);
    expect(await said("get", { key: longest }, "acme.notes", 256)).toEqual(["success", { revision: 1, value: 1 }]);
    expect(await said("list", {}, "acme.notes", 256)).toEqual([
      "response-too-large",
      "not one entry has place in a response of 256 bytes",
    ]);
  });

  it("holds the quota of each capability", async () => {
    bind({ quotaBytes: 20, quotaEntries: 2 });
    const over = { mostEntries: 2, mostBytes: 20 };
    expect(await said("put", { key: "a", value: "12345678901234567" })).toEqual(["success", { revision: 1 }]);
    expect(await said("put", { key: "b", value: 1 })).toEqual(["over-quota", { entries: 1, bytes: 20, ...over }]);
    expect(await said("put", { key: "b", value: 1 }, "acme.other")).toEqual(["success", { revision: 1 }]);
    expect(await said("put", { key: "a", value: 1 })).toEqual(["success", { revision: 2 }]);
    expect(await said("put", { key: "b", value: 1 })).toEqual(["success", { revision: 3 }]);
    expect(await said("put", { key: "c", value: 1 })).toEqual(["over-quota", { entries: 2, bytes: 4, ...over }]);
  });

  const hostile: readonly (readonly [string, unknown, string])[] = [
    ["get", {}, "key is undefined: a text of 1 to 512 bytes"],
    ["get", [], "an object with key is wanted"],
    ["get", "null", "an object with key is wanted"],
    ["get", '"k"', "an object with key is wanted"],
    ["get", { key: 1 }, "key is 1"],
    ["get", { key: ["k"] }, "key is a list"],
    ["get", { key: { toString: "k" } }, "key is an object"],
    ["get", { key: "" }, "key has 0 bytes"],
    ["get", { key: "x".repeat(513) }, "key has 513 bytes"],
    ["get", { key: "é".repeat(257) }, "key has 514 bytes"],
    ["get", { key: "x".repeat(500_000) }, "key has 500000 bytes"],
    ["get", '{"key":"a\\ud800"}', "key has half a character"],
    ["get", '{"key":"\\udc00\\ud800"}', "key has half a character"],
    ["get", { key: "k", kex: 1 }, 'The payload has the unknown field "kex": did you mean "key"?'],
    ["get", '{"key":"k","__proto__":{"key":"j"}}', 'The payload has the unknown field "__proto__"'],
    ["get", '{"__proto__":{"key":"k"}}', 'The payload has the unknown field "__proto__"'],
    ["get", '{"constructor":1,"key":"k"}', 'The payload has the unknown field "constructor"'],
    ["put", { key: "k" }, "put has neither body, which is base64, nor value"],
    ["put", { key: "k", value: 1, body: "" }, "the payload has body and value"],
    ["put", { key: "k", body: 1 }, "body is no text: base64 is wanted"],
    ["put", { key: "k", body: null }, "body is no text: base64 is wanted"],
    ["put", { key: "k", body: "a" }, "body is no base64"],
    ["put", { key: "k", body: "YQ" }, "body is no base64"],
    ["put", { key: "k", body: "YR==" }, "body is no base64"],
    ["put", { key: "k", body: "Y Q==" }, "body is no base64"],
    ["put", { key: "k", body: "__-_" }, "body is no base64"],
    ["put", '{"key":"k","value":1e400}', "value has a number that is too large"],
    ["put", '{"key":"k","value":[{"a":[-1e999]}]}', "value has a number that is too large"],
    ["put", { key: "k", value: 1, expected: "1" }, 'expected is "1": a revision is wanted'],
    ["put", { key: "k", value: 1, expected: -1 }, "expected is -1"],
    ["put", { key: "k", value: 1, expected: 0.5 }, "expected is 0.5"],
    ["put", '{"key":"k","value":1,"expected":1e400}', "expected is Infinity"],
    ["put", '{"key":"k","value":1,"expected":9007199254740993}', "expected is 9007199254740992"],
    ["put", { key: "k", value: 1, expected: true }, "expected is true"],
    ["put", { key: "k", value: 1, format: "json" }, 'The payload has the unknown field "format"'],
    ["delete", { key: "k", expected: [] }, "expected is a list"],
    ["delete", { key: "k", value: 1 }, 'The payload has the unknown field "value"'],
    ["list", { limit: 0 }, "limit is 0: a whole number from 1 to 100"],
    ["list", { limit: 101 }, "limit is 101"],
    ["list", '{"limit":1e400}', "limit is Infinity"],
    ["list", { limit: "5" }, 'limit is "5"'],
    ["list", { prefix: 5 }, "prefix is 5"],
    ["list", { prefix: "x".repeat(513) }, "prefix has 513 bytes"],
    ["list", { after: "" }, "after has 0 bytes"],
    ["list", { after: 5 }, "after is 5"],
  ];
  // Not titled by payloads, of which some are long.
  it.each(hostile.map(([operation, payload, message]) => [operation, message, payload] as const))(
    "refuses %s: %s",
    async (operation, message, payload) => {
      expect(await said(operation, payload)).toEqual(["invalid-request", expect.stringContaining(message)]);
      expect(await store.entries.usage("acme.notes")).toEqual({ entries: 0, bytes: 0 });
      expect({}).not.toHaveProperty("key");
    },
  );

  it.each(["gett", "toString", "constructor", "__proto__x", "drop"])("knows no operation %s", async (operation) => {
    const [code, message] = await said(operation, { key: "k" });
    // A name that is none at all is the chain's to refuse.
    expect(code).toBe(operation === "__proto__x" || operation === "toString" ? "unparsed" : "unknown-operation");
    expect(message).toContain(operation === "gett" ? 'did you mean "get"?' : operation);
  });

  it("keeps keys of JSON that mean something to JavaScript as they are", async () => {
    const text = '{"__proto__":{"polluted":1},"constructor":{"prototype":2},"toJSON":3,"then":4}';
    await said("put", `{"key":"__proto__","value":${text}}`);
    const answer = await ask("get", { key: "__proto__" });
    expect(answer).toMatchObject({ kind: "response", payload: `{"revision":1,"value":${text}}` });
    expect({}).not.toHaveProperty("polluted");
  });

  it("lets nothing pass that may not leave the guest, and any bytes in a body", async () => {
    for (const payload of [
      { key: "k", value: { password: 1 } },
      { key: "k", value: ["http://x"] },
      { key: "/etc/passwd", value: 1 },
    ])
      expect(await ask("put", payload)).toMatchObject({ kind: "failure", failureClass: "unauthorized_output" });
    const bytes = Buffer.from("/etc/passwd http://secret \xff\xff\xff", "latin1");
    expect(await said("put", { key: "k", body: base64(bytes) })).toEqual(["success", { revision: 1 }]);
    expect(await said("get", { key: "k" })).toEqual(["success", { revision: 1, body: base64(bytes) }]);
  });

  it("says of a store that fails only what kind of failure it is", async () => {
    const other = new Database(join(directory, "airlock.db"));
    other.exec("BEGIN IMMEDIATE");
    const failure = { kind: "failure", failureClass: "execution_failed" };
    expect(await ask("put", { key: "k", value: 1 })).toMatchObject({ ...failure, code: "busy", retryable: true });
    other.exec("COMMIT");
    other.exec("DROP TABLE entry");
    other.close();
    expect(await ask("get", { key: "k" })).toMatchObject({
      ...failure,
      code: "unavailable",
      retryable: false,
      message: "the store cannot be used",
    });
    await store.close();
    expect(await ask("get", { key: "k" })).toMatchObject({ ...failure, code: "unavailable", retryable: false });
  });

  it("says that the store is full, which can change", async () => {
    await store.close();
    store = await openStore({ directory, databaseBytes: 256 * 1024 });
    bind({}, { requestBytes: MiB });
    const body = base64(Buffer.alloc(200_000));
    const codes = [await said("put", { key: "a", body }), await said("put", { key: "b", body })];
    expect(codes.map(([code]) => code)).toEqual(["success", "full"]);
    expect(await ask("put", { key: "b", body })).toMatchObject({ code: "full", retryable: true });
    expect(await said("delete", { key: "a" })).toEqual(["success", { revision: 2 }]);
    expect(await said("put", { key: "b", body })).toEqual(["success", { revision: 3 }]);
  });

  it("answers any JSON at all with a response or a word of its own, and the store is as before or has one entry", async () => {
    const name = fc.constantFrom("key", "value", "body", "expected", "prefix", "after", "limit", "__proto__");
    const field = fc.oneof(fc.jsonValue(), fc.constantFrom<unknown>("k", "YQ==", 0, 1, null, "", "\u0000"));
    const payload = fc.oneof(fc.jsonValue(), fc.dictionary(name, field, { maxKeys: 4, noNullPrototype: true }));
    await fc.assert(
      fc.asyncProperty(fc.constantFrom("get", "put", "delete", "list"), payload, async (operation, asked) => {
        const answer = await ask(operation, JSON.stringify(asked));
        if (answer.kind === "failure" && answer.failureClass !== "unauthorized_output")
          expect(answer.code).toBe("invalid-request");
        else expect(["response", "failure"]).toContain(answer.kind);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    [undefined, "options is undefined, an object is wanted"],
    [{}, "store is undefined, what openStore answers is wanted"],
    [{ store: {}, quotaByte: 1 }, 'unknown key "quotaByte"; did you mean "quotaBytes"?'],
    [{ store: {}, quotaBytes: 0 }, "quotaBytes is 0"],
    [{ store: {}, quotaEntries: Infinity }, "quotaEntries is Infinity"],
  ])("refuses the options %j", (options, why) => {
    expect(() => kvStoreConnector(options as never)).toThrow(
      expect.objectContaining({ code: "AIRLOCK_GATEWAY_CONNECTOR_INVALID", message: expect.stringContaining(why) }),
    );
  });
});
