import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isHostError } from "../errors/errors.ts";
import { unsupportedGrants } from "./grants.ts";
import { parseManifest, parseNativeManifest, parseSourceManifest } from "./parse.ts";

const GOOD = { id: "acme.echo", version: "1.2.0", component: "component.wasm", sha256: "ab".repeat(32) };

function problems(manifest: unknown, parse = parseManifest): readonly string[] {
  try {
    parse(typeof manifest === "string" ? manifest : JSON.stringify(manifest), "x/capability.json");
    return [];
  } catch (error) {
    if (!isHostError(error) || error.code !== "AIRLOCK_MANIFEST_INVALID") throw error;
    const found = (error.details as { problems: readonly string[] }).problems;
    expect(error.message).toContain(`Manifest "x/capability.json" is refused: ${found[0]}`);
    expect(error.message.includes("\n")).toBe(false);
    return found;
  }
}

describe("parseManifest()", () => {
  test("fills in every default and freezes all of it", () => {
    const manifest = parseManifest(JSON.stringify({ ...GOOD, $schema: "./x.json", limits: { fuel: 7 } }), "x");
    expect(manifest).toEqual({
      ...GOOD,
      artifactType: "wasm",
      profile: "component",
      hostAbi: "1.0.0",
      serviceType: "stateless",
      emits: [],
      imports: [],
      operations: [],
      grants: {},
      limits: { fuel: 7 },
    });
    expect(Object.isFrozen(manifest) && Object.isFrozen(manifest.emits) && Object.isFrozen(manifest.limits)).toBe(true);
  });

  test("keeps schemas and examples as they were written, frozen to the bottom", () => {
    const operation = {
      name: "echo",
      input: { type: "object", properties: { a: { enum: [1, { b: null }] } } },
      output: true,
      examples: [{ input: { a: 1 }, output: [] }],
    };
    const manifest = parseManifest(JSON.stringify({ ...GOOD, operations: [operation] }), "x");
    expect(manifest.operations).toEqual([operation]);
    const input = manifest.operations[0]!.input as typeof operation.input;
    expect(Object.isFrozen(input.properties.a.enum[1])).toBe(true);
  });

  const refused: readonly (readonly [unknown, string])[] = [
    [[], "it is an empty array: an object is wanted"],
    ["3", "it is 3: an object is wanted"],
    ['{"id": ', "it is not JSON: Unexpected end of JSON input"],
    ['{"id": "a",}', "it is not JSON: Expected double-quoted property name at line 1, column 12"],
    ["[".repeat(100), "it nests deeper than 64 levels"],
    [{ ...GOOD, operatons: [] }, 'it has the unknown field "operatons": did you mean "operations"?'],
    [
      { ...GOOD, id: "Echo" },
      'id is "Echo": lower-case words with dots between them are wanted, such as acme.csv-profile',
    ],
    [
      { ...GOOD, id: "a..b" },
      'id is "a..b": lower-case words with dots between them are wanted, such as acme.csv-profile',
    ],
    [{ ...GOOD, version: "1.2" }, 'version is "1.2": an exact semantic version is wanted, such as 1.2.0'],
    [{ ...GOOD, version: "v1.2.0" }, 'version is "v1.2.0": an exact semantic version is wanted, such as 1.2.0'],
    [{ ...GOOD, version: "1.2.0+x" }, 'version is "1.2.0+x": an exact semantic version is wanted, such as 1.2.0'],
    [{ ...GOOD, version: "^1.2.0" }, 'version is "^1.2.0": an exact semantic version is wanted, such as 1.2.0'],
    [{ ...GOOD, hostAbi: "1" }, 'hostAbi is "1": an exact semantic version is wanted, such as 1.2.0'],
    [{ ...GOOD, artifactType: "jar" }, 'artifactType is "jar": one of "wasm", "native" is wanted'],
    [{ ...GOOD, profile: "wasi" }, 'profile is "wasi": one of "component", "core" is wanted'],
    [
      { ...GOOD, component: "../c.wasm" },
      'component is "../c.wasm": a path inside the package, without "..", is wanted',
    ],
    [{ ...GOOD, component: "/c.wasm" }, 'component is "/c.wasm": a path relative to the package is wanted'],
    [{ ...GOOD, component: "C:/c.wasm" }, 'component is "C:/c.wasm": a path relative to the package is wanted'],
    [{ ...GOOD, component: "a\\c.wasm" }, 'component is "a\\\\c.wasm": a path with forward slashes is wanted'],
    [{ ...GOOD, component: "./c.wasm" }, 'component is "./c.wasm": a path without empty or "." parts is wanted'],
    [{ ...GOOD, component: "a\0b" }, 'component is "a\\u0000b": a path without a null character is wanted'],
    [{ ...GOOD, sha256: "AB".repeat(32) }, `sha256 is "${"AB".repeat(32)}": 64 lower-case hex digits are wanted`],
    [
      { ...GOOD, imports: ["wasi:cli/run"] },
      'imports.0 is "wasi:cli/run": an interface with its version is wanted, such as acme:crm/lookup@1.0.0, or for profile core a function, such as traverse_host/emit_event',
    ],
    [
      { ...GOOD, imports: ["a:b/c@1.0.0", "a:b/c@1.0.0"] },
      "imports is an array of 2: items 1 and 0 are equal, different ones are wanted",
    ],
    [
      { ...GOOD, operations: [{ name: "x", input: true }] },
      "operations.0.output is missing: JSON Schema of the output",
    ],
    [
      { ...GOOD, operations: [{ name: "x", input: 3, output: {} }] },
      "operations.0.input is 3: an object or true or false is wanted",
    ],
    [
      { ...GOOD, operations: ["x", "x"].map((name) => ({ name, input: {}, output: {} })) },
      'operations.1 is "x" again: operations.0 has it already',
    ],
    [
      { ...GOOD, emits: [{ type: "done", version: "1.0.0" }] },
      'emits lists 1 event but serviceType is "stateless": "subscribable" is wanted, or no emits',
    ],
    [
      { ...GOOD, serviceType: "subscribable", emits: ["1.0.0", "1.0.0"].map((version) => ({ type: "done", version })) },
      'emits.1 is "done@1.0.0" again: emits.0 has it already',
    ],
    [
      { ...GOOD, grants: { files: [] } },
      'grants has the unknown field "files": known are env, fs, http, imports, invoke, tools, connectors, models',
    ],
    [{ ...GOOD, grants: { fs: { read: "a/../.." } } }, 'grants.fs.read is "a/../..": a path without ".." is wanted'],
    [
      { ...GOOD, grants: { connectors: [{ id: "crm", range: "one" }] } },
      'grants.connectors.0.range is "one": a semver range is wanted, such as ^1.0.0',
    ],
    [
      { ...GOOD, grants: { invoke: [{ id: "acme.b" }] } },
      "grants.invoke.0.versions is missing: Versions that will do, as a semver range, such as ^1.0.0: the newest installed one answers",
    ],
    [
      { ...GOOD, grants: { invoke: [{ id: "acme.b", versions: "one" }] } },
      'grants.invoke.0.versions is "one": a semver range is wanted, such as ^1.0.0',
    ],
    [
      { ...GOOD, grants: { invoke: [{ id: "acme.b@1", versions: "1" }] } },
      'grants.invoke.0.id is "acme.b@1": lower-case words with dots between them are wanted, such as acme.csv-profile',
    ],
    [
      {
        ...GOOD,
        grants: {
          invoke: [
            { id: "acme.b", versions: "1" },
            { id: "acme.b", versions: "2" },
          ],
        },
      },
      'grants.invoke.1 is "acme.b" again: grants.invoke.0 has it already',
    ],
    [
      { ...GOOD, limits: { fuel: -1 } },
      "limits.fuel is -1: a whole number of fuel from 1 to 9007199254740991 is wanted",
    ],
    [{ ...GOOD, limits: { feul: 1 } }, 'limits has the unknown limit "feul": did you mean "fuel"?'],
    [{ ...GOOD, limits: [] }, "limits is an array: an object of limits is wanted"],
  ];
  for (const [manifest, problem] of refused) {
    test(`refuses with: ${problem.slice(0, 100)}`, () => {
      expect(problems(manifest)).toEqual([problem]);
    });
  }

  test("names all problems at once", () => {
    const found = problems({ id: "A", version: "1", emits: 3, limits: { fuel: 0.5 }, extra: 1 });
    expect(found.map((line) => line.split(" ")[0])).toEqual(
      expect.arrayContaining(["id", "version", "emits", "limits.fuel", "it", "component", "sha256"]),
    );
    expect(found).toHaveLength(7);
  });

  test("says to build first when what the build fills in is missing", () => {
    const { component: _, ...unbuilt } = GOOD;
    expect(problems(unbuilt)).toEqual([
      "component is missing: the build fills it in, install the folder that `airlock build` wrote",
    ]);
  });

  test("takes no inherited or special name for a field", () => {
    expect(problems(`{"__proto__": {"id": "a"}, "constructor": 1}`)).toEqual(
      expect.arrayContaining([
        expect.stringContaining('unknown field "__proto__"'),
        expect.stringContaining('unknown field "constructor"'),
        expect.stringContaining("id is missing"),
      ]),
    );
  });

  test("shows hostile text escaped and short", () => {
    const [problem] = problems({ ...GOOD, id: `\u001b[2J\u202e${"x".repeat(10_000)}` });
    expect(problem).not.toMatch(/[\u0000-\u001f\u202e]/);
    expect(problem!.length).toBeLessThan(300);
  });

  test("bounds the problems and the text", () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`field${index}`, index]));
    expect(problems({ ...GOOD, ...many })).toHaveLength(50);
    expect(problems(" ".repeat(1024 * 1024 + 1))).toEqual(["it is 1048577 bytes long: at most 1048576 are wanted"]);
  });

  test("refuses or accepts any JSON, and throws nothing else", () => {
    fc.assert(fc.property(fc.json(), (text) => problems(text).length > 0));
    const field = fc.constantFrom(
      ...Object.keys(GOOD),
      "emits",
      "imports",
      "operations",
      "grants",
      "limits",
      "profile",
    );
    fc.assert(
      fc.property(field, fc.jsonValue(), (name, value) => {
        problems({ ...GOOD, [name]: value });
      }),
    );
  });
});

describe("parseSourceManifest()", () => {
  test("takes a manifest without what the build fills in", () => {
    const manifest = parseSourceManifest('{"id": "acme.echo", "version": "1.0.0"}', "x");
    expect(Object.keys(manifest)).not.toContain("imports");
  });

  test("refuses what the build fills in", () => {
    expect(problems({ ...GOOD, imports: [] }, parseSourceManifest as typeof parseManifest)).toEqual([
      "component is in a source manifest: the build fills it in, remove it",
      "sha256 is in a source manifest: the build fills it in, remove it",
      "imports is in a source manifest: the build fills it in, remove it",
    ]);
  });

  test("says of a core module's package that nothing is to be built", () => {
    const core = { ...GOOD, profile: "core" };
    expect(problems(core, parseSourceManifest as typeof parseManifest)[0]).toBe(
      'profile is "core" and component is named: a core module is not built, its folder is a package already',
    );
  });
});

describe("parseNativeManifest()", () => {
  const native = {
    id: "app.adder",
    version: "1.0.0",
    artifactType: "native",
    operations: [{ name: "add", input: { type: "array" }, output: { type: "number" } }],
  };
  const parsed = (manifest: unknown) => parseNativeManifest(JSON.stringify(manifest), "x/capability.json");

  test("fills in every default, has nothing of Wasm, and is what it gives out again", () => {
    const manifest = parsed({ ...native, $schema: "./x.json", limits: { wallMs: 5 } });
    expect(manifest).toEqual({ ...native, serviceType: "stateless", emits: [], limits: { wallMs: 5 } });
    expect(Object.isFrozen(manifest) && Object.isFrozen(manifest.operations)).toBe(true);
    expect(parsed(manifest)).toEqual(manifest);
  });

  test("refuses what only Wasm has, and a capability without operations", () => {
    const parse = parseNativeManifest as unknown as typeof parseManifest;
    expect(problems({ ...native, component: "c.wasm", grants: {} }, parse)).toEqual([
      "component is in the manifest of a native capability: only Wasm has it, remove it",
      "grants is in the manifest of a native capability: only Wasm has it, remove it",
    ]);
    expect(problems({ ...native, operations: [] }, parse)).toEqual([
      "operations is empty: at least one is wanted, nothing else says what the function takes and gives",
    ]);
    expect(problems({ ...native, operations: undefined }, parse)).toEqual([
      expect.stringMatching(/^operations is missing: What can be asked of the capability/),
    ]);
  });

  test("each artifact type is refused where the other is wanted, and says where it goes", () => {
    const refused = (wanted: string, artifactType: string, text: string) =>
      expect.objectContaining({
        code: "AIRLOCK_MANIFEST_ARTIFACT_TYPE",
        failure: "admission_rejected",
        message: expect.stringContaining(text),
        details: { where: "x/capability.json", artifactType, wanted },
      });
    expect(() => parsed(GOOD)).toThrow(refused("native", "wasm", "host.install(package)"));
    expect(() => parsed({ ...GOOD, artifactType: "wasm" })).toThrow(refused("native", "wasm", "host.install(package)"));
    for (const parse of [parseManifest, parseSourceManifest]) {
      expect(() => parse(JSON.stringify(native), "x/capability.json")).toThrow(
        refused("wasm", "native", "host.providers.nativeExecutor({ capacity }).install(manifest, call)"),
      );
    }
  });
});

describe("unsupportedGrants()", () => {
  test("lists what this version cannot honour and nothing that is empty", () => {
    const grants = {
      env: ["HOME"],
      fs: { read: "data", write: "/tmp" },
      http: [],
      imports: ["acme:crm/lookup@1.0.0"],
      tools: [],
      connectors: [{ id: "crm", range: "^1.0.0" }],
      models: ["a", "b", "c", "d", "e", "f"],
    };
    const manifest = parseManifest(JSON.stringify({ ...GOOD, grants }), "x");
    expect(unsupportedGrants(manifest)).toEqual([
      'grants.env ("HOME")',
      'grants.fs.write ("/tmp")',
      'grants.models ("a", "b", "c", "d", "e", and 1 more)',
    ]);
  });

  test("lists nothing for files to read and interfaces of the embedder", () => {
    const grants = { fs: { read: "/data" }, imports: ["acme:crm/lookup@1.0.0"] };
    expect(unsupportedGrants(parseManifest(JSON.stringify({ ...GOOD, grants }), "x"))).toEqual([]);
  });
});

test("parseManifest() reads no semver range that is too long", () => {
  const grants = { connectors: [{ id: "crm", range: "^1 ".repeat(300_000) }] };
  expect(() => parseManifest(JSON.stringify({ ...GOOD, grants }), "x")).toThrow(
    expect.objectContaining({
      details: { where: "x", problems: [expect.stringMatching(/a string of at most 256 characters is wanted$/)] },
    }),
  );
});

test("capability.schema.json describes each of its fields", () => {
  const schema = JSON.parse(readFileSync(new URL("capability.schema.json", import.meta.url), "utf8"));
  const bare: string[] = [];
  const walk = (node: Record<string, unknown>, path: string) => {
    for (const [name, field] of Object.entries((node["properties"] ?? {}) as Record<string, Record<string, unknown>>)) {
      if (typeof field["description"] !== "string") bare.push(`${path}.${name}`);
      walk(field, `${path}.${name}`);
      if (field["items"] !== undefined) walk(field["items"] as Record<string, unknown>, `${path}.${name}`);
    }
  };
  walk(schema, "");
  expect(bare).toEqual([]);
  expect(schema.required).toEqual(["id", "version"]);
});
