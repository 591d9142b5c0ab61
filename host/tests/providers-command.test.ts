import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { brokenAfter, instead, type ModelServer, whole } from "../providers/test-model-server.ts";
import { OLLAMA_MODEL, ollamaServer } from "../providers/test-ollama-server.ts";
import { OPENAI_KEY, OPENAI_MODEL, openAiServer } from "../providers/test-openai-server.ts";
import { type Answer, airlockIn } from "./airlock-command.ts";
import { schemaCheck } from "./published-schema.ts";

const ADDER = `(component
  (core module $m (func (export "add") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1)))) (core instance $i (instantiate $m))
  (func (export "add") (param "x" u32) (param "y" u32) (result u32) (canon lift (core func $i "add"))))`;
const SOCKETS = "wasi:sockets/instance-network@0.2.0";
const REFUSED = `(component
  (import "${SOCKETS}" (instance (export "network" (type (sub resource)))))
  (core module $m (func (export "run"))) (core instance $m (instantiate $m))
  (func (export "run") (canon lift (core func $m "run"))))`;

const PROMPT = '{"prompt":"hi"}';
const ASK = '{"messages":[{"role":"user","content":"hi"}]}';
const TEXT = "Grüße, 世界 🌍!";

let folder: string;
let ollama: ModelServer;
let openai: ModelServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "airlock-providers-"));
  [ollama, openai] = await Promise.all([ollamaServer(), openAiServer()]);
  writePackage("adder", await parse(ADDER), []);
  writePackage("refused", await parse(REFUSED), [SOCKETS]);
  const local = { kind: "ollama", baseUrl: ollama.url, model: OLLAMA_MODEL };
  const cloud = { kind: "openai-compatible", baseUrl: `${openai.url}/v1`, model: OPENAI_MODEL, apiKeyEnv: "CLOUD_KEY" };
  const servers = [
    { ...local, id: "local@1.0.0" },
    { ...cloud, id: "cloud@1.0.0", capacity: 3 },
    { ...local, id: "pooled@1.0.0" },
  ];
  const pools = { models: { candidates: [{ providerId: "pooled@1.0.0", capacity: 2 }], queue: 7 } };
  write("airlock.providers.json", { providers: [{ kind: "component", package: "./adder" }, ...servers], pools });
  write("with-refused.json", { providers: [...servers, { kind: "component", package: "./refused" }], pools });
});
afterEach(() => {
  for (const server of [ollama, openai]) {
    server.requests.length = 0;
    server.delivery = whole;
  }
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await Promise.all([ollama.close(), openai.close()]);
});

describe("airlock providers", () => {
  it("lists what the file of the folder has, asks no server and needs no key", async () => {
    const { status, stdout, stderr } = await airlock("providers");
    expect({ status, rows: stdout.split("\n").map((line) => line.split(/ {2,}/)) }).toEqual({
      status: 0,
      rows: [
        ["id", "kind", "operations", "capacity", "connected"],
        ["cli.adder@1.0.0", "component", "add", expect.any(String), "yes"],
        ["local@1.0.0", "ollama", "chat, generate", "1", "yes"],
        ["cloud@1.0.0", "openai-compatible", "chat", "3", "yes"],
        ["pooled@1.0.0", "ollama", "chat, generate", "2", "yes"],
        [""],
        ["pool", "candidates", "queue"],
        ["models", "pooled@1.0.0 (2)", "7"],
        [""],
      ],
    });
    expect(stderr).toContain("cloud@1.0.0 cannot be run: the environment variable CLOUD_KEY is not set\n");
    expect(ollama.requests.length + openai.requests.length).toBe(0);
  });

  it("prints the same as one JSON object", async () => {
    const { status, stdout } = await airlockWith({ CLOUD_KEY: OPENAI_KEY }, "providers", "--json");
    expect(status).toBe(0);
    const { providers, pools } = JSON.parse(stdout);
    const row = { id: "cloud@1.0.0", kind: "openai-compatible", operations: ["chat"], capacity: 3, connected: true };
    expect(providers[2]).toEqual({ ...row, since: expect.any(Number), inFlight: 0, missingEnv: null });
    expect(pools).toEqual([{ name: "models", candidates: [{ providerId: "pooled@1.0.0", capacity: 2 }], queue: 7 }]);
    expect(stdout).not.toContain(OPENAI_KEY);
  });

  it("ends with 3 when a package of the file is refused", async () => {
    const { status, stdout } = await airlock("providers", "--providers", "with-refused.json", "--json");
    expect(status).toBe(3);
    expect(JSON.parse(stdout).error).toMatchObject({ code: "AIRLOCK_ADMISSION_UNAUTHORIZED_HOST_IMPORT" });
  });

  it("says in one line what is wrong with a file, below it what else is", async () => {
    write("wrong.json", {
      providers: [
        { kind: "olama", id: 3 },
        { kind: "component", package: 4 },
      ],
    });
    expect(await airlock("providers", "--providers", "wrong.json")).toEqual({
      status: 2,
      stdout: "",
      stderr:
        'airlock: The file of providers "wrong.json" is refused: providers.0.kind is "olama": did you mean "ollama"? (and 1 more)\n' +
        "  providers.1.package is 4: the path of a package is wanted, such as ./dist\n",
    });
  });
});

describe("airlock providers command", () => {
  it.each([
    [
      "frobnicate",
      'the command "frobnicate" is not on the list; allowed are capabilities, transport_status, ollama_api',
    ],
    ["capabilites", 'the command "capabilites" is not on the list; did you mean "capabilities"?'],
  ])("%s is refused before the file is read or the provider looked up", async (name, message) => {
    const answer = await airlock("providers", "command", "nobody", name, "{ no json", "--providers", "missing.json");
    expect(answer).toEqual({ status: 2, stdout: "", stderr: `airlock: Cannot run the command: ${message}\n` });
  });

  it.each([
    [["ollama_api", '{"path":"/api/delete"}'], "AIRLOCK_PROVIDERS_COMMAND_NOT_ALLOWED"],
    [["ollama_api", '{"path":"/api/tags","model":"x"}'], "AIRLOCK_PROVIDERS_COMMAND_INVALID"],
    [["capabilities", "[]"], "AIRLOCK_PROVIDERS_COMMAND_INVALID"],
    [["capabilities", "{"], "AIRLOCK_CLI_USAGE"],
  ])("%j is refused before as well, as one JSON object", async (args, code) => {
    const { status, stdout } = await airlock("providers", "command", "nobody", ...args, "--json");
    expect(status).toBe(2);
    expect(JSON.parse(stdout).error).toMatchObject({ code });
  });

  it.each([
    [["lcoal", "capabilities"], 'has no provider and no pool "lcoal": did you mean "local"?'],
    [["models", "capabilities"], "models is a pool, and a command is for one provider: pooled@1.0.0 is wanted"],
    [["cloud", "ollama_api", '{"path":"/api/tags"}'], "the environment variable CLOUD_KEY is not set"],
  ])("%j is bad input", async (args, message) => {
    const { status, stdout, stderr } = await airlock("providers", "command", ...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toContain(message);
  });

  it("prints answers as JSON that fit their schemas, and starts no other provider of the file", async () => {
    for (const [args, schema, answer] of [
      [["capabilities"], "command-capabilities", { models: [OLLAMA_MODEL] }],
      [["transport_status"], "command-transport-status", { kind: "http", connected: true, inFlight: 0, capacity: 1 }],
      [["ollama_api", '{"path":"/api/version"}'], "command-ollama-api", { status: 200, body: { version: "0.12.0" } }],
      [["ollama_api", '{"path":"/api/show","model":"none"}'], "command-ollama-api", { status: 404 }],
    ] as const) {
      const { status, stdout } = await airlock(
        "providers",
        "command",
        "local",
        ...args,
        "--providers",
        "with-refused.json",
      );
      expect(status).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject(answer);
      expect(schemaCheck(`${schema}.schema.json`)(JSON.parse(stdout))).toBe(true);
    }
    expect(ollama.requests.map(({ path }) => path)).toEqual(["/api/version", "/api/show"]);
  });

  it("asks a component too, and says what it does not have", async () => {
    const { stdout } = await airlock("providers", "command", "cli.adder", "transport_status");
    expect(JSON.parse(stdout)).toMatchObject({ kind: "thread", connected: true });
    const unsupported = await airlock("providers", "command", "cli.adder", "ollama_api", '{"path":"/api/tags"}');
    expect(unsupported).toMatchObject({ status: 2, stderr: expect.stringContaining("does not have it") });
  });

  it("ends with 4 when the server cannot answer", async () => {
    ollama.delivery = instead(200, {}, "no json");
    const { status, stderr } = await airlock("providers", "command", "local", "ollama_api", '{"path":"/api/tags"}');
    expect({ status, stderr }).toEqual({
      status: 4,
      stderr: expect.stringContaining("/api/tags (HTTP 200) is not JSON"),
    });
  });
});

describe("airlock run with a file of providers", () => {
  it("streams what a provider says to stdout, and then how it ended", async () => {
    const { status, stdout } = await airlock("run", "local", "-o", "generate", "--value", PROMPT);
    expect(status).toBe(0);
    expect(stdout).toMatch(
      new RegExp(`^${TEXT}\n\nsucceeded {2}local@1\\.0\\.0 generate\n\\{\n {2}"finishReason": "stop",\n`),
    );
    expect(stdout).toContain("\ntokens        11 in, 5 out  by tiny:latest\n");
  });

  it("runs a pool by its name, with text as input and pieces on lines of their own", async () => {
    const { status, stdout } = await airlock("run", "models", "-o", "generate", "--text", "--value", "hi", "--events");
    expect(status).toBe(0);
    expect(stdout).toMatch(/^delta {2}Gr\ndelta {2}üße, \n/);
    expect(stdout).toContain(`succeeded  pooled@1.0.0 generate\n{\n  "text": "${TEXT}",`);
    expect(ollama.requests[0]).toMatchObject({ path: "/api/generate", body: { prompt: "hi" } });
  });

  it("runs a component of the file, which alone is installed", async () => {
    const answer = await airlock(
      "run",
      "cli.adder@1.0.0",
      "--providers",
      "airlock.providers.json",
      "--value",
      '{"x":2,"y":3}',
      "--json",
    );
    expect(answer.status).toBe(0);
    expect(JSON.parse(answer.stdout)).toMatchObject({ kind: "succeeded", output: 5, providerId: "cli.adder@1.0.0" });
  });

  it("takes a package that is there before a name in the file of the folder", async () => {
    expect(await airlock("run", "adder", "--value", '{"x":2,"y":3}')).toMatchObject({ status: 0 });
    const named = await airlock("run", "adder", "--providers", "airlock.providers.json");
    expect(named).toMatchObject({ status: 2, stderr: expect.stringContaining('has no provider and no pool "adder"') });
  });

  it("keeps what came before the connection broke, and says that it did", async () => {
    ollama.delivery = brokenAfter(2);
    const { status, stdout } = await airlock("run", "local", "-o", "generate", "--value", PROMPT);
    expect(status).toBe(1);
    expect(stdout).toMatch(/^Grüße, \n\ndisconnected {2}local@1\.0\.0 generate\nThe connection broke off: /);
  });

  it.each([
    [["local", "--fuel-profile"], "--fuel-profile is for components: local@1.0.0 is a server, which burns no fuel"],
    [["local", "--value", PROMPT], "operation is undefined, one of chat, generate is wanted"],
    [["local", "-o", "chat", "--value", ASK, "--limit", "fuel=5"], "fuel"],
  ])("%j is bad input", async (args, message) => {
    const { status, stdout, stderr } = await airlock("run", ...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toContain(message);
  });
});

describe("a key", () => {
  it("reaches the server and no one else, whatever the server does with it", async () => {
    const run = (...more: string[]) =>
      airlockWith({ CLOUD_KEY: OPENAI_KEY, AIRLOCK_DEBUG: "1" }, "run", "cloud", "--value", ASK, ...more);
    const answers: Answer[] = [await run("--json")];
    expect(answers[0]!.status).toBe(0);
    expect(JSON.parse(answers[0]!.stdout)).toMatchObject({ kind: "succeeded", output: { text: TEXT } });
    expect(openai.requests[0]!.headers.authorization).toBe(`Bearer ${OPENAI_KEY}`);
    openai.delivery = instead(401, {}, JSON.stringify({ error: { message: `no such key: ${OPENAI_KEY}` } }));
    answers.push(await run(), await run("--json"));
    openai.delivery = instead(302, { location: `http://127.0.0.1/?key=${OPENAI_KEY}` }, "");
    answers.push(await run());
    expect(answers.slice(1).map(({ status }) => status)).toEqual([1, 1, 1]);
    for (const { stdout, stderr } of answers) expect(stdout + stderr).not.toContain(OPENAI_KEY);
  });

  it("that fits into no header is refused without being shown", async () => {
    const { status, stdout, stderr } = await airlockWith({ CLOUD_KEY: "secret-世界" }, "run", "cloud", "--value", ASK);
    expect(status).toBe(1);
    expect(stdout).toContain("apiKey is no text that fits into a header");
    expect(stdout + stderr).not.toContain("secret");
  });

  it("that is not set is refused at once", async () => {
    const { status, stdout } = await airlock("run", "cloud", "--value", ASK, "--json");
    expect(status).toBe(2);
    expect(JSON.parse(stdout).error).toMatchObject({ code: "AIRLOCK_PROVIDERS_KEY_MISSING" });
    expect(openai.requests).toEqual([]);
  });
});

const airlock = (...args: string[]): Promise<Answer> => airlockIn(folder, {}, ...args);
const airlockWith = (more: Record<string, string>, ...args: string[]): Promise<Answer> =>
  airlockIn(folder, more, ...args);

function write(name: string, value: unknown): void {
  writeFileSync(join(folder, name), JSON.stringify(value));
}

function writePackage(name: string, component: Uint8Array, imports: readonly string[]): void {
  mkdirSync(join(folder, name));
  writeFileSync(join(folder, name, "component.wasm"), component);
  const sha256 = createHash("sha256").update(component).digest("hex");
  write(join(name, "capability.json"), {
    id: `cli.${name}`,
    version: "1.0.0",
    component: "component.wasm",
    sha256,
    imports,
  });
}
