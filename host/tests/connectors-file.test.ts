import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHost, openConnectors, readConnectorsFile } from "../index.ts";
import { airlockIn } from "./airlock-command.ts";
import { type Ask, askingGuest } from "./connectors/asking-guest.ts";
import { schemaCheck } from "./published-schema.ts";

const MODULE = `export const fixed = { id: "acme.fixed", version: "2.0.0", invoke: () => ({ resultClass: "success", payload: 7 }) };
export function made({ say }) { return { ...fixed, id: "acme.made", invoke: () => ({ resultClass: "success", payload: say }) }; }
export const broken = { id: "acme.broken" };
export const nothing = () => null;
export const closesBadly = { ...fixed, id: "acme.bad", close() { throw new Error("it does not close"); } };`;

let folder: string;
let server: Server;
const seen: (string | undefined)[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "airlock-connectors-"));
  server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.setHeader("content-type", "text/plain").end("hello");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  writeFileSync(join(folder, "own.mjs"), MODULE);
  const { port } = server.address() as AddressInfo;
  const local = { host: "127.0.0.1", port, insecure: true, allowPrivate: true };
  write("airlock.connectors.json", {
    store: "./state",
    connectors: [
      { kind: "http", options: { hosts: [{ ...local, headersEnv: { authorization: "TOKEN" } }] } },
      { kind: "env", options: { names: ["GREETING"] }, capabilities: ["test.asker", "test.other"] },
      { kind: "object-store", options: { directory: "objects" }, responseBytes: 1_048_576 },
      { kind: "kv-store" },
      { kind: "scheduler" },
      { kind: "module", module: "./own.mjs", export: "fixed" },
      { kind: "module", module: "./own.mjs", export: "made", options: { say: "hi" } },
    ],
  });
  const { manifest, component } = await askingGuest(
    ["http", "env", "kv-store", "object-store", "scheduler", "acme.fixed", "acme.made"].map((id) => ({
      id,
      range: "*",
    })),
  );
  writeFileSync(join(folder, "component.wasm"), component);
  write("capability.json", { ...manifest, component: "component.wasm" });
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await new Promise((resolve) => server.close(resolve));
});

function write(name: string, content: unknown): void {
  writeFileSync(join(folder, name), JSON.stringify(content));
}

const ENVIRONMENT = { GREETING: "see https://example.org", TOKEN: "Bearer 1234", OTHER: "not for guests" };

const ASKS: readonly Ask[] = [
  { connector: "http", operation: "get", payload: { host: "127.0.0.1" } },
  { connector: "env", operation: "get", payload: { name: "GREETING" } },
  { connector: "env", operation: "get", payload: { name: "OTHER" } },
  { connector: "kv-store", operation: "put", payload: { key: "visits", value: 1 } },
  { connector: "object-store", operation: "put", payload: { name: "a", body: "aGVsbG8=" } },
  {
    connector: "scheduler",
    operation: "schedule",
    payload: { id: "later", dueAt: new Date(Date.now() + 86_400_000).toISOString() },
  },
  { connector: "acme.fixed", operation: "any", payload: null },
  { connector: "acme.made", operation: "any", payload: null },
];

describe("a file of connectors", () => {
  it("binds what it says, and what its connectors keep outlives them", async () => {
    const file = readConnectorsFile(join(folder, "airlock.connectors.json"));
    const connected = await openConnectors(file, ENVIRONMENT);
    const host = await createHost({
      threads: 1,
      limits: { defaults: { wallMs: 300_000 } },
      connectors: connected.bindings,
    });
    await host.install(folder);
    const outcome = await host.run("test.asker", { asks: ASKS }).outcome;
    await host.close();
    await connected.close();
    const { answers } = (outcome as { output: { answers: unknown[] } }).output;
    expect(answers).toMatchObject([
      { resultClass: "success", payload: { status: 200, body: "aGVsbG8=" } },
      { resultClass: "success", payload: { body: Buffer.from(ENVIRONMENT.GREETING).toString("base64") } },
      { resultClass: "missing" },
      { resultClass: "success" },
      { resultClass: "success" },
      { resultClass: "scheduled" },
      { resultClass: "success", payload: 7 },
      { resultClass: "success", payload: "hi" },
    ]);
    expect(seen).toEqual([ENVIRONMENT.TOKEN]);
    expect(outcome.connectorCalls).toHaveLength(ASKS.length);
  });

  it("is what airlock connectors lists and airlock run binds", async () => {
    const listed = await airlockIn(folder, ENVIRONMENT, "connectors");
    expect(listed).toMatchObject({ status: 0, stderr: "" });
    expect(listed.stdout.split("\n").map((line) => line.trim().split(/ {2,}/).slice(0, 3))).toEqual([
      ["id", "version", "for"],
      ["http", "1.0.0", "all that declare it"],
      ["env", "1.0.0", "test.asker, test.other"],
      ["object-store", "1.0.0", "all that declare it"],
      ["kv-store", "1.0.0", "all that declare it"],
      ["scheduler", "1.0.0", "all that declare it"],
      ["acme.fixed", "2.0.0", "all that declare it"],
      ["acme.made", "2.0.0", "all that declare it"],
      [""],
    ]);
    expect(listed.stdout).not.toContain("1234");
    const json = await airlockIn(folder, ENVIRONMENT, "connectors", "--json");
    expect((JSON.parse(json.stdout) as { connectors: unknown[] }).connectors[2]).toEqual({
      id: "object-store",
      version: "1.0.0",
      description: expect.any(String),
      capabilities: null,
      requestBytes: 65_536,
      responseBytes: 1_048_576,
    });
    const asks = [
      { connector: "kv-store", operation: "get", payload: { key: "visits" } },
      ASKS[5],
      { ...ASKS[6], connector: "none" },
    ];
    const ran = await airlockIn(folder, ENVIRONMENT, "run", ".", "--value", JSON.stringify({ asks }));
    expect(ran, ran.stderr).toMatchObject({ status: 0 });
    expect(ran.stderr).toContain("Binding the connectors of airlock.connectors.json");
    expect(ran.stdout).toContain('"value": 1');
    expect(ran.stdout).toMatch(
      /^connectors\n {2}kv-store@1\.0\.0 {2}success\n {2}scheduler@1\.0\.0 {2}duplicate\n {2}none {2}undeclared\n/m,
    );
    expect(ran.stdout + ran.stderr).not.toContain("1234");
  });

  it.each([
    ["an http without hosts", { kind: "http" }, "connectors.0: Cannot make the connector: hosts is undefined"],
    [
      "a header without its variable",
      { kind: "http", options: { hosts: [{ host: "a.b", headersEnv: { x: "NONE" } }] } },
      'the environment variable "NONE" is not set, which connectors.0.options.hosts.0.headersEnv.x names',
    ],
    [
      "headersEnv that is none",
      { kind: "http", options: { hosts: [{ host: "a.b", headersEnv: 1 }] } },
      "headersEnv is no object",
    ],
    ["a module that is not there", { kind: "module", module: "./none.mjs" }, "connectors.0.module cannot be loaded"],
    [
      "an export that is not there",
      { kind: "module", module: "./own.mjs" },
      'the module "./own.mjs" has no export "connector"',
    ],
    [
      "a module that gives nothing",
      { kind: "module", module: "./own.mjs", export: "nothing" },
      'the export "nothing" of the module "./own.mjs" gives no connector',
    ],
    [
      "a list of variables in place of names of headers",
      { kind: "http", options: { hosts: [{ host: "a.b", headersEnv: ["TOKEN"] }] } },
      "headersEnv is no object",
    ],
    [
      "headers that are a text, beside headersEnv",
      { kind: "http", options: { hosts: [{ host: "a.b", headersEnv: { x: "TOKEN" }, headers: "abc" }] } },
      'hosts[0].headers is "string", an object is wanted',
    ],
    [
      "an object for the name of a variable",
      { kind: "http", options: { hosts: [{ host: "a.b", headersEnv: { x: { toString: 1 } } }] } },
      "connectors.0.options.hosts.0.headersEnv.x is no text",
    ],
    ["an unknown option", { kind: "env", options: { value: {} } }, "options has the unknown key"],
  ])("with %s is refused, and says where", async (_, connector, message) => {
    write("bad.json", { connectors: [connector] });
    const opening = openConnectors(readConnectorsFile(join(folder, "bad.json")), ENVIRONMENT);
    await expect(opening).rejects.toThrow(message);
    const code = message.includes("environment variable")
      ? "AIRLOCK_GATEWAY_VALUE_MISSING"
      : "AIRLOCK_GATEWAY_FILE_INVALID";
    await expect(opening).rejects.toMatchObject({ code });
  });

  it.each(["nothing", "closesBadly"])("whose module has %s holds no store open that nobody can close", async (name) => {
    const own = { kind: "module", module: "./own.mjs", export: name };
    write("bad.json", { store: "./held", connectors: [{ ...own, export: "closesBadly" }, own, { kind: "http" }] });
    const opening = openConnectors(readConnectorsFile(join(folder, "bad.json")), ENVIRONMENT);
    await expect(opening).rejects.toMatchObject({ code: "AIRLOCK_GATEWAY_FILE_INVALID" });
    // SQLite takes its log away when the last connection is closed.
    expect(readdirSync(join(folder, "held"))).toEqual(["airlock.db"]);
  });

  it("closes its store, and twice as once, where one of its connectors does not close", async () => {
    const own = { kind: "module", module: "./own.mjs", export: "closesBadly" };
    write("bad.json", { store: "./kept", connectors: [own, { kind: "kv-store" }] });
    const opened = await openConnectors(readConnectorsFile(join(folder, "bad.json")), ENVIRONMENT);
    await expect(opened.close()).rejects.toThrow("it does not close");
    expect(readdirSync(join(folder, "kept"))).toEqual(["airlock.db"]);
    await expect(opened.close()).rejects.toThrow("it does not close");
  });

  it("that is not there, or binds what is no connector, ends the command with 2", async () => {
    expect(() => readConnectorsFile(join(folder, "none.json"))).toThrow(
      expect.objectContaining({ code: "AIRLOCK_GATEWAY_FILE_UNREADABLE" }),
    );
    const missing = await airlockIn(folder, ENVIRONMENT, "connectors", "--connectors", "none.json");
    expect(missing).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('Cannot read the file of connectors "none.json": there is no such file'),
    });
    write("bad.json", { connectors: [{ kind: "module", module: "./own.mjs", export: "broken" }] });
    const broken = await airlockIn(folder, ENVIRONMENT, "connectors", "--connectors", "bad.json");
    expect(broken).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('version of "acme.broken" is undefined'),
    });
  });

  it("fits the published schema", () => {
    const fits = schemaCheck("connectors.schema.json");
    const { directory: _, ...file } = readConnectorsFile(join(folder, "airlock.connectors.json"));
    expect(fits({ connectors: file.connectors, store: "./state" })).toBe(true);
    expect(fits({ connectors: [{ kind: "ftp" }] })).toBe(false);
  });
});
