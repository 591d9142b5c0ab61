import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import type { HostError } from "../errors/errors.ts";
import { parseProviderList } from "./provider-list.ts";
import { PROVIDER_LIST_SCHEMA } from "./provider-list-schema.ts";

const KEY = "sk-proj-0123456789";
const LOCAL = { kind: "ollama", id: "local@1.0.0" };
const CLOUD = { kind: "openai-compatible", id: "cloud@1.0.0", baseUrl: "https://example.org/v1" };
const pool = (candidate: object, more: object = {}) => ({ models: { candidates: [candidate], ...more } });
const LOCAL_CANDIDATE = { providerId: "local@1.0.0", capacity: 2 };

const fits = new Ajv2020({ strict: false }).compile(PROVIDER_LIST_SCHEMA);

describe("parseProviderList()", () => {
  it("reads providers with slots of their own or of a pool, and keeps keys out of definitions", () => {
    const list = parse({
      $schema: "./providers.schema.json",
      providers: [
        { kind: "component", package: "./dist" },
        { ...LOCAL, model: "tiny" },
        { ...CLOUD, apiKeyEnv: "CLOUD_KEY", capacity: 4, queue: 0, includeUsage: false },
        { ...LOCAL, id: "other@1.0.0-rc.1", baseUrl: "http://[::1]:11434/" },
      ],
      pools: pool(LOCAL_CANDIDATE, { queue: 3 }),
    });
    expect(list).toEqual({
      providers: [
        { kind: "component", package: "./dist" },
        {
          kind: "ollama",
          id: "local@1.0.0",
          definition: { id: "local@1.0.0", model: "tiny" },
          slots: null,
          apiKeyEnv: null,
        },
        {
          kind: "openai-compatible",
          id: "cloud@1.0.0",
          definition: { id: "cloud@1.0.0", baseUrl: "https://example.org/v1", includeUsage: false },
          slots: { capacity: 4, queue: 0 },
          apiKeyEnv: "CLOUD_KEY",
        },
        {
          kind: "ollama",
          id: "other@1.0.0-rc.1",
          definition: { id: "other@1.0.0-rc.1", baseUrl: "http://[::1]:11434/" },
          slots: {},
          apiKeyEnv: null,
        },
      ],
      pools: pool(LOCAL_CANDIDATE, { queue: 3 }),
    });
  });

  const NUMBER = "a whole number from 1 to 65536 is wanted";

  it.each<[unknown, string | RegExp]>([
    [[], "it is an empty array: an object is wanted"],
    [{}, "providers is missing: a list of at most 256 providers is wanted"],
    [{ providers: {} }, "providers is an object: a list of at most 256 providers is wanted"],
    [{ providers: Array(257).fill(LOCAL) }, "providers is an array of 257: a list of at most 256 providers is wanted"],
    [{ providers: [], pool: {} }, 'it has the unknown field "pool": did you mean "pools"?'],
    [{ providers: ["local"] }, 'providers.0 is "local": an object is wanted'],
    [{ providers: [{}] }, "providers.0.kind is missing: one of component, ollama, openai-compatible is wanted"],
    [{ providers: [{ kind: "olama" }] }, 'providers.0.kind is "olama": did you mean "ollama"?'],
    [{ providers: [{ kind: 3 }] }, "providers.0.kind is 3: known are component, ollama, openai-compatible"],
    [{ providers: [{ kind: "toString" }] }, /^providers\.0\.kind is "toString": /],
    [{ providers: [{ kind: "component" }] }, /^providers\.0\.package is missing: the path of a package is wanted/],
    [{ providers: [LOCAL, { ...LOCAL, id: "local" }] }, /^providers\.1\.id is "local": an id with an exact version /],
    [{ providers: [{ ...LOCAL, id: "local@1.0.0+build" }] }, /^providers\.0\.id is "local@1\.0\.0\+build": /],
    [{ providers: [{ ...LOCAL, capacity: 0 }] }, `providers.0.capacity is 0: ${NUMBER}`],
    [{ providers: [{ ...LOCAL, modle: "x" }] }, 'providers.0 has the unknown field "modle": did you mean "model"?'],
    [
      { providers: [{ ...LOCAL, models: [] }] },
      "providers.0.models is an empty array: a list of names of models is wanted",
    ],
    [{ providers: [{ ...CLOUD, includeUsage: 1 }] }, "providers.0.includeUsage is 1: true or false is wanted"],
    [{ providers: [LOCAL], pools: [] }, /^pools is an empty array: /],
    [{ providers: [LOCAL], pools: { "a@b": {} } }, /^pools has the name "a@b": /],
    [{ providers: [LOCAL], pools: { a: { candidates: [] } } }, /^pools\.a\.candidates is an empty array: /],
    [
      { providers: [LOCAL], pools: pool({ providerId: "local@1.0.0" }) },
      `pools.models.candidates.0.capacity is missing: ${NUMBER}`,
    ],
    [{ providers: [LOCAL], pools: pool({ ...LOCAL_CANDIDATE, priorty: 1 }) }, /priorty": did you mean "priority"\?$/],
    [
      { providers: [LOCAL], pools: pool(LOCAL_CANDIDATE, { queue: -1 }) },
      /^pools\.models\.queue is -1: a whole number from 0 /,
    ],
  ])("%j is refused, and the schema says so too", (file, message) => {
    expect(fits(file)).toBe(false);
    const [first] = problemsOf(file);
    if (typeof message === "string") expect(first).toBe(message);
    else expect(first).toMatch(message);
  });

  it.each<[object, RegExp]>([
    [{ providers: [{ ...LOCAL, model: "a", models: ["b"] }] }, /^providers\.0: Cannot make a provider: model is "a"/],
    [
      { providers: [{ ...LOCAL, capacity: 2 }], pools: pool(LOCAL_CANDIDATE) },
      /^providers\.0\.capacity is given, but /,
    ],
    [
      { providers: [LOCAL], pools: { a: { candidates: [LOCAL_CANDIDATE] }, b: { candidates: [LOCAL_CANDIDATE] } } },
      /^pools\.b\.candidates\.0 is "local@1\.0\.0" again: pools\.a\.candidates\.0 has it already$/,
    ],
  ])("%j is refused for what no schema can say", (file, message) => {
    expect(fits(file)).toBe(true);
    expect(problemsOf(file)[0]).toMatch(message);
  });

  it.each([
    [{ providers: [{ ...CLOUD, apiKeyEnv: KEY }] }],
    [{ providers: [{ ...CLOUD, apiKeyEnv: [KEY] }] }],
    [{ providers: [{ ...CLOUD, apiKey: KEY }] }],
    [{ providers: [{ ...CLOUD, baseUrl: `https://me:${KEY}@example.org` }] }],
    [{ providers: [{ ...CLOUD, baseUrl: `https://example.org/?key=${KEY}` }] }],
    [{ providers: [{ ...CLOUD, baseUrl: `ftp://${KEY}` }] }],
    [`{ "apiKey": "${KEY}`],
  ])("%j is refused without what may be a credential", (file) => {
    const problems = problemsOf(file);
    expect(problems).toHaveLength(1);
    expect(problems[0]).not.toContain(KEY);
  });

  it("says the first problem, counts the others and has them all in its details", () => {
    const error = refusalOf({ providers: [{ kind: "ollama", id: 1, baseURL: "x" }], pols: {} });
    expect(error.code).toBe("AIRLOCK_PROVIDERS_FILE_INVALID");
    expect(error.message).toBe(
      'The file of providers "p.json" is refused: it has the unknown field "pols": did you mean "pools"? (and 2 more)',
    );
    expect((error.details as { problems: unknown[] }).problems).toHaveLength(3);
  });
});

function parse(file: unknown) {
  return parseProviderList(typeof file === "string" ? file : JSON.stringify(file), "p.json");
}

function refusalOf(file: unknown): HostError {
  try {
    parse(file);
  } catch (error) {
    return error as HostError;
  }
  throw new Error("it was not refused");
}

function problemsOf(file: unknown): readonly string[] {
  return (refusalOf(file).details as { problems: readonly string[] }).problems;
}
