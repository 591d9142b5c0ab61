import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { decodeComponent } from "../component/component.ts";
import { isHostError } from "../errors/errors.ts";
import { readComponentFile, readPackage } from "../manifest/manifest.ts";
import { buildCapability } from "./build.ts";
import { loadOptional } from "./optional-package.ts";

const HANDLER = "export const handler = { handle(input: string): string { return input; } };\n";
const MANIFEST = { id: "acme.echo", version: "1.0.0" };

const folders: string[] = [];
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "airlock-build-"));
  folders.push(folder);
});

afterEach(() => {
  // A build that ends, in whichever way, leaves nothing half done.
  for (const path of readdirSync(folder, { recursive: true })) expect(String(path)).not.toMatch(/\.tmp$/);
});

afterAll(() => {
  for (const path of folders) rmSync(path, { recursive: true, force: true });
});

function write(files: Record<string, string | object>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), typeof content === "string" ? content : JSON.stringify(content));
  }
}

async function failure(files: Record<string, string | object>): Promise<{ code: string; problems: readonly string[] }> {
  write(files);
  try {
    await buildCapability(folder);
  } catch (error) {
    if (!isHostError(error)) throw error;
    expect(error.message).not.toContain("\n");
    return { code: error.code, problems: (error.details as { problems: readonly string[] }).problems };
  }
  throw new Error("The build did not fail");
}

describe("buildCapability()", () => {
  test("writes a package that reads back, with the digest and the imports of its component", async () => {
    const operation = { name: "echo", input: true, output: true };
    write({
      "capability.json": { $schema: "../x.json", ...MANIFEST, operations: [operation] },
      "src/capability.ts": HANDLER,
    });
    const steps: string[] = [];
    const result = await buildCapability(folder, { onProgress: ({ kind }) => steps.push(kind) });

    expect(steps).toEqual(["reading", "bundling", "componentizing", "writing", "done"]);
    expect(readdirSync(join(folder, "dist")).sort()).toEqual(["capability.json", "component.wasm"]);
    const { directory, manifest } = readPackage(join(folder, "dist"));
    expect(manifest).toEqual(result.manifest);
    const bytes = readComponentFile(directory, manifest.component, 64 * 1024 * 1024);
    expect(createHash("sha256").update(bytes).digest("hex")).toBe(manifest.sha256);
    expect(bytes.length).toBe(result.bytes);
    expect(
      decodeComponent(bytes)
        .imports.map(({ name }) => name)
        .sort(),
    ).toEqual(manifest.imports);
    expect(manifest.imports).toContain("airlock:capability/context@1.0.0");
    expect(manifest.imports).not.toContain("airlock:capability/events@1.0.0");
    expect(Object.keys(JSON.parse(readFileSync(result.manifestPath, "utf8")))).not.toContain("$schema");
  });

  test("gives the same bytes each time and everywhere, whatever the source asks of clock and chance", async () => {
    const source = `const seed = [Math.random(), Date.now(), performance.now(), performance.timeOrigin, new Set(["a", {}])];
      export const handler = { handle: () => JSON.stringify(seed) };`;
    const files = { "capability.json": { ...MANIFEST, serviceType: "subscribable" }, "src/capability.js": source };
    write(files);
    const first = await buildCapability(folder);
    folder = mkdtempSync(join(tmpdir(), "airlock-build-elsewhere-"));
    folders.push(folder);
    write(files);
    const second = await buildCapability(folder, { outDir: join(folder, "deeper/out") });
    expect([first.reproducible, second.reproducible]).toEqual([true, true]);
    expect(second.manifest).toEqual(first.manifest);
  });

  test("takes the world from the service type", async () => {
    write({
      "capability.json": { ...MANIFEST, serviceType: "subscribable" },
      "capability.js": HANDLER.replaceAll(": string", ""),
    });
    expect((await buildCapability(folder)).manifest.imports).toContain("airlock:capability/events@1.0.0");
  });

  test("bundles what the source imports, and leaves interfaces of the host to the component", async () => {
    write({
      "capability.json": MANIFEST,
      "src/capability.ts": `import { write } from "airlock:capability/log@1.0.0";
        import { shout } from "./shout.ts";
        export const handler = { handle(input: string) { write("info", input); return shout(input); } };`,
      "src/shout.ts": "export const shout = (text: string): string => text.toUpperCase();",
    });
    expect((await buildCapability(folder)).bytes).toBeGreaterThan(500_000);
  });

  test("replaces an older package", async () => {
    write({
      "capability.json": MANIFEST,
      "src/capability.ts": HANDLER,
      "dist/capability.json": "old",
      "dist/component.wasm": "old",
    });
    const { manifest } = await buildCapability(folder);
    expect(readPackage(join(folder, "dist")).manifest).toEqual(manifest);
  });

  test("names file, line and text of each syntax error", async () => {
    const source = "export const handler = {\n  handle(input) { return input }\n  broken\n};\nconst = 3;\n";
    const { code, problems } = await failure({ "capability.json": MANIFEST, "src/capability.ts": source });
    expect(code).toBe("AIRLOCK_TOOLCHAIN_BUILD_FAILED");
    expect(problems[0]).toMatch(/^src\/capability\.ts:3:3: Expected "}" but found "broken"$/);
  });

  test("says that there is no Node.js for a module of it, and names what is not there", async () => {
    const source = `import "node:fs";\nimport "./none.ts";\n${HANDLER}`;
    expect((await failure({ "capability.json": MANIFEST, "src/capability.ts": source })).problems).toEqual([
      expect.stringMatching(
        /^src\/capability\.ts:1:8: Could not resolve "node:fs".*a capability has no Node\.js around it/,
      ),
      expect.stringMatching(/^src\/capability\.ts:2:8: Could not resolve "\.\/none\.ts"/),
    ]);
  });

  test("says what the source must export", async () => {
    const { problems } = await failure({
      "capability.json": MANIFEST,
      "src/capability.ts": "export const handle = 1;",
    });
    expect(problems).toEqual([
      "src/capability.ts exports no handler: `export const handler = { handle(input) { … } }` is wanted",
    ]);
  });

  test("says which entry is wanted", async () => {
    expect((await failure({ "capability.json": MANIFEST })).problems[0]).toContain(
      "there is no entry, src/capability.ts or",
    );
  });

  test("tells of what the module body throws", async () => {
    const source = `throw new Error("not today");\n${HANDLER}`;
    const { code, problems } = await failure({ "capability.json": MANIFEST, "src/capability.ts": source });
    expect(code).toBe("AIRLOCK_TOOLCHAIN_BUILD_FAILED");
    expect(problems[0]).toContain("not today");
  });

  test("tells of an import that no interface of the host has", async () => {
    const source = `import { gone } from "airlock:capability/gone@1.0.0";\nexport const handler = { handle: () => gone() };`;
    const { code } = await failure({ "capability.json": MANIFEST, "src/capability.ts": source });
    expect(code).toBe("AIRLOCK_TOOLCHAIN_BUILD_FAILED");
  });

  test("refuses a manifest that is already built, one with bad schemas and one for core modules", async () => {
    const files = { "src/capability.ts": HANDLER };
    expect((await failure({ ...files, "capability.json": { ...MANIFEST, imports: [] } })).code).toBe(
      "AIRLOCK_MANIFEST_INVALID",
    );
    const operations = [{ name: "a", input: { type: "strin" }, output: true }];
    expect((await failure({ ...files, "capability.json": { ...MANIFEST, operations } })).problems[0]).toContain(
      "operations.0.input.type is not right",
    );
    expect((await failure({ ...files, "capability.json": { ...MANIFEST, profile: "core" } })).problems[0]).toContain(
      'profile is "core"',
    );
  });

  test("says when the package cannot be written", async () => {
    write({ dist: "a file" });
    const { code, problems } = await failure({ "capability.json": MANIFEST, "src/capability.ts": HANDLER });
    expect([code, problems[0]]).toEqual([
      "AIRLOCK_TOOLCHAIN_BUILD_FAILED",
      expect.stringContaining("it cannot be written"),
    ]);
  });
});

describe("buildCapability() with WIT of the capability's own", () => {
  const WIT = {
    "wit/offers.wit": `package acme:offers@1.0.0;
world offers {
  include airlock:capability/subscribable@1.0.0;
  import acme:crm/lookup@1.0.0;
}`,
    "wit/deps/acme-crm/lookup.wit": "package acme:crm@1.0.0;\ninterface lookup { find: func(name: string) -> string; }",
  };
  const SOURCES = {
    "capability.json": { ...MANIFEST, grants: { imports: ["acme:crm/lookup@1.0.0"] } },
    "src/capability.ts": `import { find } from "acme:crm/lookup@1.0.0";
      export const handler = { handle: (input: string): string => find(input) };`,
  };
  const temporary = process.env["TMPDIR"];

  beforeEach(() => {
    // Of this test alone, so that what a build leaves behind is seen.
    mkdirSync(join(folder, "tmp"));
    process.env["TMPDIR"] = join(folder, "tmp");
  });
  afterEach(() => {
    expect(readdirSync(join(folder, "tmp"))).toEqual([]);
    if (temporary === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = temporary;
  });

  test("imports the interface by its name, beside those of the world that it includes, with the same bytes each time", async () => {
    write({ ...SOURCES, ...WIT });
    const { manifest, reproducible } = await buildCapability(folder);
    expect(manifest.imports).toEqual([
      "acme:crm/lookup@1.0.0",
      "airlock:capability/context@1.0.0",
      "airlock:capability/events@1.0.0",
      "airlock:capability/log@1.0.0",
      "airlock:capability/types@1.0.0",
    ]);
    expect(reproducible).toBe(true);
    expect((await buildCapability(folder, { outDir: join(folder, "again") })).manifest).toEqual(manifest);
  });

  test.each<[string, Record<string, string>, string]>([
    [
      "no world",
      { "wit/offers.wit": "package acme:offers@1.0.0;\ninterface none {}" },
      "wit: the package acme:offers@1.0.0 has no world: one that says `include airlock:capability/capability@1.0.0;` is wanted",
    ],
    [
      "several worlds",
      { "wit/more.wit": "world more { include airlock:capability/capability@1.0.0; }" },
      "wit: the package acme:offers@1.0.0 has several worlds (acme:offers/more@1.0.0, acme:offers/offers@1.0.0): one is wanted",
    ],
    [
      "a world without our handler",
      { "wit/offers.wit": "package acme:offers@1.0.0;\nworld offers { import acme:crm/lookup@1.0.0; }" },
      "wit: the world does not export airlock:capability/handler@1.0.0: `include airlock:capability/capability@1.0.0;` is wanted in it",
    ],
    [
      "a world with another way in",
      {
        "wit/offers.wit":
          "package acme:offers@1.0.0;\nworld offers { import airlock:capability/log@1.0.0; export go: func(); }",
        "src/capability.ts": HANDLER,
      },
      "wit: the world does not export airlock:capability/handler@1.0.0: `include airlock:capability/capability@1.0.0;` is wanted in it",
    ],
    [
      "a type that is not there",
      { "wit/deps/acme-crm/lookup.wit": "package acme:crm@1.0.0;\ninterface lookup {\n  find: func() -> customer;\n}" },
      "wit/deps/acme-crm/lookup.wit:3: name `customer` does not exist",
    ],
    [
      "a package that is not there",
      { "wit/deps/acme-crm/lookup.wit": "package acme:other@1.0.0;\ninterface lookup {}" },
      "wit/offers.wit:4: package 'acme:crm@1.0.0' not found. known packages:",
    ],
    [
      "an interface that the package does not have",
      { "wit/deps/acme-crm/lookup.wit": "package acme:crm@1.0.0;\ninterface other {}" },
      "wit/offers.wit:4: interface 'lookup' not found in package 'acme:crm@1.0.0'",
    ],
    [
      "text that does not parse",
      { "wit/deps/acme-crm/lookup.wit": "package acme:crm@1.0.0;\ninterface lookup {\n  find: fun();\n}" },
      "wit/deps/acme-crm/lookup.wit:3: expected keyword `func`, found an identifier",
    ],
  ])("refuses %s", async (_, files, problem) => {
    const { code, problems } = await failure({ ...SOURCES, ...WIT, ...files });
    expect([code, problems[0]]).toEqual(["AIRLOCK_TOOLCHAIN_BUILD_FAILED", expect.stringContaining(problem)]);
  });

  test("tells of an import that the world does not have", async () => {
    const source = `import { gone } from "acme:crm/gone@1.0.0";\nexport const handler = { handle: () => gone() };`;
    const { problems } = await failure({ ...SOURCES, ...WIT, "src/capability.ts": source });
    expect(problems[0]).toContain("acme:crm/gone@1.0.0");
  });
});

test("loadOptional() names the command that installs what is missing", async () => {
  const name = "airlock-no-such-package";
  await expect(loadOptional(name, () => import(name))).rejects.toMatchObject({
    code: "AIRLOCK_TOOLCHAIN_MISSING",
    message: expect.stringContaining(`npm install --save-dev ${name}`),
    details: { package: name },
  });
});
