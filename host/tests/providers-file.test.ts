import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HostError } from "../errors/errors.ts";
import { addProviders, createHost, namedProviders, readProvidersFile } from "../index.ts";
import { OLLAMA_MODEL, ollamaServer } from "../providers/test-ollama-server.ts";
import { OPENAI_KEY, OPENAI_MODEL, openAiServer } from "../providers/test-openai-server.ts";
import { root } from "./airlock-command.ts";
import { schemaCheck } from "./published-schema.ts";

const ADDER = `(component
  (core module $m (func (export "add") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1))))
  (core instance $i (instantiate $m))
  (func (export "add") (param "x" u32) (param "y" u32) (result u32) (canon lift (core func $i "add"))))`;

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "airlock-providers-file-"));
  const component = await parse(ADDER);
  mkdirSync(join(folder, "adder"));
  writeFileSync(join(folder, "adder/component.wasm"), component);
  const sha256 = createHash("sha256").update(component).digest("hex");
  write("adder/capability.json", {
    id: "cli.adder",
    version: "1.0.0",
    component: "component.wasm",
    sha256,
    imports: [],
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("readProvidersFile()", () => {
  it.each<[string, object, RegExp]>([
    [
      "a package that is not there",
      { providers: [{ kind: "component", package: "no" }] },
      /^providers\.0\.package is "no": /,
    ],
    [
      "a name twice",
      {
        providers: [
          { kind: "ollama", id: "a@1.0.0" },
          { kind: "ollama", id: "a@1.0.0" },
        ],
      },
      /^providers\.1 is "a@1\.0\.0" again: /,
    ],
    [
      "a candidate that is not there",
      pooled("lcoal@1.0.0"),
      /\.providerId is "lcoal@1\.0\.0", .* did you mean "local@1\.0\.0"\?$/,
    ],
    [
      "a component as a candidate",
      pooled("cli.adder@1.0.0"),
      /: that is a component, whose slots are the threads; a server is wanted$/,
    ],
    [
      "a pool with a provider's name",
      pooled("local@1.0.0", "local"),
      /^pools\.local has the name of the provider "local@1\.0\.0"/,
    ],
  ])("refuses %s", (_, file, problem) => {
    write("refused.json", file);
    const error = refusalOf("refused.json");
    expect(error.code).toBe("AIRLOCK_PROVIDERS_FILE_INVALID");
    expect((error.details as { problems: string[] }).problems).toEqual([expect.stringMatching(problem)]);
  });

  it("refuses what is no readable text", () => {
    writeFileSync(join(folder, "latin1.json"), Buffer.from([0x22, 0xe4, 0x22]));
    for (const [path, reason] of [
      ["none.json", "there is no such file"],
      ["adder", "it is a folder, a regular file is wanted"],
      ["latin1.json", "it is not UTF-8 text"],
    ] as const) {
      const { code, message } = refusalOf(path);
      expect(code).toBe("AIRLOCK_PROVIDERS_FILE_UNREADABLE");
      expect(message.endsWith(`: ${reason}`)).toBe(true);
    }
  });

  it("serves an application: all of the file on one host, which takes up a key that is exchanged", async () => {
    const [ollama, openai] = await Promise.all([ollamaServer(), openAiServer()]);
    const local = { kind: "ollama", id: "local@1.0.0", baseUrl: ollama.url, model: OLLAMA_MODEL };
    const cloud = { kind: "openai-compatible", id: "cloud@1.0.0", baseUrl: `${openai.url}/v1`, model: OPENAI_MODEL };
    write("whole.json", {
      providers: [{ kind: "component", package: "./adder" }, local, { ...cloud, apiKeyEnv: "CLOUD_KEY", capacity: 3 }],
      pools: { models: { candidates: [{ providerId: "local@1.0.0", capacity: 2 }] } },
    });
    const file = readProvidersFile(join(folder, "whole.json"));
    expect(namedProviders(file, "models").providers.map(({ id }) => id)).toEqual(["local@1.0.0"]);
    await using host = await createHost({ threads: 1 });
    const environment: Record<string, string> = {};
    const missing = { code: "AIRLOCK_PROVIDERS_KEY_MISSING" };
    await expect(addProviders(host, file, { environment })).rejects.toMatchObject(missing);
    expect(host.providers.list()).toEqual([]);
    environment["CLOUD_KEY"] = "wrong";
    await addProviders(host, file, { environment });
    expect(
      host.providers
        .list()
        .map(({ id, capacity }) => [id, capacity])
        .slice(1),
    ).toEqual([
      ["local@1.0.0", 2],
      ["cloud@1.0.0", 3],
    ]);
    const ask = (id: string) =>
      host.run(id, { messages: [{ role: "user", content: "hi" }] }, { operation: "chat" }).outcome;
    expect(await ask("cloud")).toMatchObject({ kind: "provider-failed", status: 401 });
    environment["CLOUD_KEY"] = OPENAI_KEY;
    expect(await ask("cloud")).toMatchObject({ kind: "succeeded" });
    expect(await ask("models")).toMatchObject({ kind: "succeeded", providerId: "local@1.0.0" });
    expect(await host.run("cli.adder", { x: 1, y: 1 }).outcome).toMatchObject({ output: 2 });
    await Promise.all([ollama.close(), openai.close()]);
  });

  it("reads the example of README, which fits the schema that the package exports", () => {
    const readme = readFileSync(join(root, "README.md"), "utf8");
    const example = /<!-- providers -->\n```json\n([^<]*)```\n<!-- \/providers -->/.exec(readme)![1]!;
    const check = schemaCheck("providers.schema.json");
    expect(check(JSON.parse(example))).toBe(true);
    expect(check({ ...JSON.parse(example), more: 1 })).toBe(false);
    // Its package is built by whoever follows README.
    writeFileSync(join(folder, "readme.json"), example.replace("./capabilities/redact/dist", "./adder"));
    expect(readProvidersFile(join(folder, "readme.json")).providers.map(({ kind }) => kind)).toHaveLength(4);
  });
});

function pooled(providerId: string, name = "models"): object {
  const providers = [
    { kind: "component", package: "./adder" },
    { kind: "ollama", id: "local@1.0.0" },
  ];
  return { providers, pools: { [name]: { candidates: [{ providerId, capacity: 1 }] } } };
}

function refusalOf(name: string): HostError {
  try {
    readProvidersFile(join(folder, name));
  } catch (error) {
    return error as HostError;
  }
  throw new Error("it was not refused");
}

function write(name: string, value: unknown): void {
  writeFileSync(join(folder, name), JSON.stringify(value));
}
