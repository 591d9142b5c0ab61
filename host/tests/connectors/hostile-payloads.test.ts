import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConnectorAnswer, Connectors, mediate } from "../../gateway/gateway.ts";
import {
  envConnector,
  httpConnector,
  kvStoreConnector,
  objectStoreConnector,
  openStore,
  type Store,
  schedulerConnector,
} from "../../index.ts";
import { AllocationWatch } from "./allocation-watch.ts";

const SECRET = "hunter2-hunter2-hunter2";
const BOUND = 16_384;
/** A request is parsed up to what any binding takes unless it says otherwise, before it is known which connector is meant. */
const MOST_HELD = 65_536;
const IDS = ["http", "kv-store", "object-store", "env", "scheduler"];
const OPERATIONS = ["get", "put", "post", "head", "delete", "list", "schedule", "cancel"];

let folder: string;
let store: Store;
let allowed: Server;
let trap: { readonly port: number; connections: number; close(): void };
let connectors: Connectors;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "airlock-hostile-"));
  writeFileSync(join(folder, "outside.txt"), SECRET);
  process.env["AIRLOCK_TEST_SECRET"] = SECRET;
  // What answers is hostile as well: it sends whoever comes elsewhere, and never stops talking.
  const tcp = createTcpServer((socket) => {
    trap.connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => tcp.listen(0, "127.0.0.1", resolve));
  trap = { port: (tcp.address() as AddressInfo).port, connections: 0, close: () => tcp.close() };
  allowed = createServer((request, response) => {
    response.on("error", () => {});
    if (request.url?.includes("away") === true) {
      response.writeHead(302, { location: `http://127.0.0.1:${trap.port}/` }).end();
      return;
    }
    const talk = (): void => {
      while (!response.destroyed && response.write("x".repeat(16_384)));
      if (!response.destroyed) response.once("drain", talk);
    };
    talk();
  });
  await new Promise<void>((resolve) => allowed.listen(0, "127.0.0.1", resolve));
  store = await openStore({ directory: join(folder, "state") });
  mkdirSync(join(folder, "objects"), { mode: 0o700 });
  connectors = new Connectors();
  const { port } = allowed.address() as AddressInfo;
  const host = { host: "127.0.0.1", port, insecure: true, allowPrivate: true };
  for (const connector of [
    httpConnector({ hosts: [host], totalMs: 10_000 }),
    kvStoreConnector({ store, quotaBytes: 65_536, quotaEntries: 50 }),
    objectStoreConnector({
      directory: join(folder, "objects"),
      maxObjectBytes: 8_192,
      maxTotalBytes: 65_536,
      maxObjects: 20,
    }),
    envConnector({ names: ["AIRLOCK_TEST_OPEN"], from: { AIRLOCK_TEST_OPEN: "open", AIRLOCK_TEST_SECRET: SECRET } }),
    schedulerConnector({ store }),
  ])
    connectors.bind(connector, { responseBytes: BOUND, requestBytes: BOUND });
});

afterAll(async () => {
  delete process.env["AIRLOCK_TEST_SECRET"];
  allowed.closeAllConnections();
  allowed.close();
  trap.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Words that would lead somewhere if they were taken for more than they are. */
const bait = fc.oneof(
  fc.constantFrom(
    "AIRLOCK_TEST_SECRET",
    "PATH",
    "__proto__",
    "constructor",
    "toString",
    "..",
    ".",
    "../outside.txt",
    "..%2foutside.txt",
    "outside.txt",
    "127.0.0.1",
    "localhost",
    "0x7f.1",
    "2130706433",
    "[::1]",
    "::ffff:127.0.0.1",
    "127.0.0.1@169.254.169.254",
    "169.254.169.254",
    "metadata.google.internal",
    "away",
    "a\r\nhost: evil",
    "\u0000",
    "' OR 1=1; --",
    "%",
    "*",
    "\ud800",
    "",
  ),
  fc.constant("trap").map(() => `127.0.0.1:${trap.port}`),
  // Not the folder's own name: that no answer has it is what is looked for.
  fc.constantFrom("../../outside.txt", "../../../../../../etc/passwd", "/etc/passwd"),
  fc.string({ maxLength: 40, unit: "binary" }),
  fc.base64String({ maxLength: 400 }),
  fc.constantFrom(1, 100, 5_000, 20_000).map((length) => "a".repeat(length)),
);
const KEYS = [
  "host",
  "segments",
  "query",
  "headers",
  "body",
  "key",
  "value",
  "expected",
  "name",
  "sha256",
  "offset",
  "length",
  "id",
  "dueAt",
  "limit",
  "prefix",
  "cursor",
  "__proto__",
  "port",
];
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: "small" },
    bait,
    fc.oneof(
      fc.integer(),
      fc.double(),
      fc.constantFrom(-1, 0, 2 ** 53, 1e300, Number.NaN),
      fc.boolean(),
      fc.constant(null),
    ),
    fc.array(tie("value"), { maxLength: 6 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie("value"), { maxKeys: 8 }),
  ),
})).value;
/** The shapes that the connectors know, with hostile contents. */
const shaped = fc.record(
  {
    host: fc.oneof(bait, fc.constant("127.0.0.1")),
    segments: fc.array(bait, { maxLength: 3 }),
    query: json,
    headers: fc.dictionary(fc.constantFrom("host", "x", "connection", "transfer-encoding", "accept"), bait),
    body: fc.oneof(fc.base64String({ maxLength: 12_000 }), bait),
  },
  { requiredKeys: ["host"] },
);
const stored = fc.record(
  {
    key: bait,
    name: bait,
    id: bait,
    value: json,
    body: fc.base64String({ maxLength: 12_000 }),
    dueAt: json,
    expected: json,
    offset: json,
    length: json,
    limit: json,
    prefix: bait,
  },
  { requiredKeys: [] },
);
const nested = fc.integer({ min: 1, max: 400 }).map((depth) => "[".repeat(depth) + "]".repeat(depth));
const payloadText = fc.oneof(
  fc.oneof(json, shaped, stored).map((value) => JSON.stringify(value) ?? "null"),
  nested,
  fc.constantFrom(BOUND, 65_536, 1_000_000).map((length) => JSON.stringify("b".repeat(length))),
  fc.string({ maxLength: 100, unit: "binary" }),
);

/** Requests as they should be, but for one or two of their contents. */
const word = fc.oneof(fc.constantFrom("a", "b", "c"), bait);
const body = fc.oneof(fc.base64String({ maxLength: 400 }), fc.base64String({ maxLength: 12_000 }));
const dueAt = fc.integer({ min: -1_000, max: 1_000_000 }).map((ms) => new Date(Date.now() + ms).toISOString());
const wellFormed = fc.oneof(
  request("env", "get", fc.record({ name: fc.oneof(fc.constant("AIRLOCK_TEST_OPEN"), bait) })),
  request("env", "list", fc.constant({})),
  request("kv-store", "put", fc.oneof(fc.record({ key: word, body }), fc.record({ key: word, value: json }))),
  request("kv-store", "get", fc.record({ key: word })),
  request("kv-store", "list", fc.record({ prefix: word, limit: fc.integer() }, { requiredKeys: [] })),
  request("object-store", "put", fc.record({ name: word, body })),
  request(
    "object-store",
    "get",
    fc.record({ name: word, offset: fc.integer(), length: fc.integer() }, { requiredKeys: ["name"] }),
  ),
  request("object-store", "list", fc.constant({})),
  request("scheduler", "schedule", fc.record({ id: word, dueAt, value: json })),
  request("scheduler", "list", fc.constant({})),
  request("http", "get", fc.record({ host: fc.constant("127.0.0.1"), segments: fc.array(word, { maxLength: 3 }) })),
);

function request(
  connector: string,
  operation: string,
  payload: fc.Arbitrary<unknown>,
): fc.Arbitrary<[string, string, string]> {
  return payload.map((value) => [connector, operation, JSON.stringify(value)]);
}

function ask(connector: string, operation: string, payload: string): Promise<ConnectorAnswer> {
  const context = {
    runId: "r",
    capabilityId: "test.hostile",
    capabilityVersion: "1.0.0",
    signal: new AbortController().signal,
    deadline: null,
  };
  const declared = IDS.map((id) => ({ id, range: "*" }));
  return mediate({ connector, operation, payload, room: BOUND, declared, context }, connectors);
}

async function watched(act: () => Promise<ConnectorAnswer>): Promise<[answer: ConnectorAnswer, longest: number]> {
  using watch = new AllocationWatch();
  return [await act(), watch.longest];
}

describe("a hostile payload", () => {
  it("reaches no address, file or variable outside of the grant, and makes the host hold no more than its bounds", async () => {
    const anything = fc.tuple(fc.constantFrom(...IDS), fc.constantFrom(...OPERATIONS), payloadText);
    const call = fc.oneof(anything, wellFormed);
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(call, async ([connector, operation, payload]) => {
        const [answer, longest] = await watched(() => ask(connector, operation, payload));
        expect(longest).toBeLessThanOrEqual(MOST_HELD);
        const text = JSON.stringify(answer);
        for (const form of [SECRET, Buffer.from(SECRET).toString("base64").slice(0, -3)])
          expect(text).not.toContain(form);
        expect(text).not.toContain(folder);
        if (answer.kind === "response") {
          answered++;
          expect(Buffer.byteLength(answer.payload)).toBeLessThanOrEqual(BOUND);
        }
        expect(answer.evidence === null).toBe(answer.kind === "invalid-request");
      }),
      { numRuns: 1_000 },
    );
    // A connector that refuses everything would be safe, and of no use.
    expect(answered).toBeGreaterThan(50);
    expect(trap.connections).toBe(0);
    expect(readFileSync(join(folder, "outside.txt"), "utf8")).toBe(SECRET);
    expect(readdirSync(folder).sort()).toEqual(["objects", "outside.txt", "state"]);
    const objects = readdirSync(join(folder, "objects"), { recursive: true, encoding: "utf8" });
    for (const name of objects) expect(name).not.toContain("outside");
    const bytes = objects.reduce((sum, name) => {
      const stat = lstatSync(join(folder, "objects", name));
      return sum + (stat.isFile() ? stat.size : 0);
    }, 0);
    expect(bytes).toBeLessThanOrEqual(65_536);
  }, 240_000);

  it("that is larger than the bound is not even parsed", async () => {
    const payload = `{"key":"a","body":"${"A".repeat(8_000_000)}"}`;
    const [answer, longest] = await watched(() => ask("kv-store", "put", payload));
    expect(answer).toMatchObject({ kind: "failure", failureClass: "bounded_io" });
    expect(longest).toBeLessThanOrEqual(MOST_HELD);
  });

  it("of many keys within the bytes of a wide binding is not even parsed", async () => {
    const wide = new Connectors();
    wide.bind({ id: "env", version: "1.0.0", invoke: () => expect.fail("asked") }, { requestBytes: 16 * 1024 * 1024 });
    const payload = `[${Array.from({ length: 70_000 }, (_, index) => index).join(",")}]`;
    const context = {
      runId: "r",
      capabilityId: "c",
      capabilityVersion: "1.0.0",
      signal: new AbortController().signal,
      deadline: null,
    };
    const declared = [{ id: "env", range: "*" }];
    const call = { connector: "env", operation: "get", room: BOUND, context };
    expect(await mediate({ ...call, payload, declared }, wide)).toMatchObject({
      failureClass: "bounded_io",
      message: "the request holds more than 65536 values and keys",
    });
    expect(await mediate({ ...call, payload, declared: [] }, wide)).toMatchObject({ failureClass: "undeclared" });
  });

  it("of a capability says nothing of another one's", async () => {
    const digest = createHash("sha256").update("x").digest("hex");
    const context = { runId: "r", capabilityVersion: "1.0.0", signal: new AbortController().signal, deadline: null };
    const declared = IDS.map((id) => ({ id, range: "*" }));
    const as = (capabilityId: string, connector: string, operation: string, payload: unknown) =>
      mediate(
        {
          connector,
          operation,
          payload: JSON.stringify(payload),
          room: BOUND,
          declared,
          context: { ...context, capabilityId },
        },
        connectors,
      );
    await as("test.a", "kv-store", "put", { key: "k", value: digest });
    await as("test.a", "object-store", "put", { name: "n", body: "AAAA" });
    for (const [connector, payload] of [
      ["kv-store", { key: "k" }],
      ["object-store", { name: "n" }],
    ] as const) {
      expect(await as("test.a", connector, "get", payload)).toMatchObject({ kind: "response", resultClass: "success" });
      expect(await as("test.a.b", connector, "get", payload)).toMatchObject({
        kind: "response",
        resultClass: "missing",
      });
      expect(await as("test", connector, "get", payload)).toMatchObject({ kind: "response", resultClass: "missing" });
    }
  });
});
