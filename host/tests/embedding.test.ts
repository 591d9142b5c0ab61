import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** An application of its own, in a folder of its own, that installed the package. */
const APPLICATION = `
import { createHost, ENDINGS, HostError } from "airlock";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { createHash } from "node:crypto";
const component = await parse(\`(component
  (core module $m (func (export "add") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1))))
  (core instance $i (instantiate $m))
  (func (export "add") (param "x" u32) (param "y" u32) (result u32) (canon lift (core func $i "add"))))\`);
const { parseManifest } = await import("airlock");
const manifest = parseManifest(JSON.stringify({ id: "app.adder", version: "1.0.0", artifactType: "wasm",
  component: "component.wasm", sha256: createHash("sha256").update(component).digest("hex"), imports: [] }), "app");
const host = await createHost({ threads: 1 });
await host.install({ manifest, component });
const { kind, output } = await host.run("app.adder", { x: 2, y: 3 }).outcome;
await host.close();
process.stdout.write(JSON.stringify({ kind, output, exit: ENDINGS[kind].exit, error: typeof HostError }));
`;

/** One that keeps something. */
const STORING_APPLICATION = `
import { openStore } from "airlock";
const store = await openStore({ directory: new URL("state", import.meta.url).pathname });
process.stdout.write(JSON.stringify(await store.entries.put("n", "k", new Uint8Array(3))));
await store.close();
`;

/** An application in TypeScript: every kind of public type, under the strictest checks, without the DOM's types. */
const TYPED_APPLICATION = `
import { createHost, type HostStats, type Manifest, type Operation, type Outcome, type PoolStats, type UnreadLimit } from "airlock";
import { createCounters, type Metered, meter } from "airlock/meter";
const host = await createHost({ imports: { "acme:crm/lookup@1.0.0": { find: async (name) => String(name), add: (a: bigint) => a } } });
const outcome: Outcome<{ readonly text: string }> = await host.run<string, { readonly text: string }>("app", "x").outcome;
if (outcome.kind === "succeeded") outcome.output.text satisfies string;
if (outcome.kind === "over-budget") outcome.limit satisfies keyof Outcome["limits"] | UnreadLimit;
for await (const event of host.run("app", 1)) if (event.kind === "complete") event.outcome satisfies Outcome;
export const pool: PoolStats = (host.stats() satisfies HostStats).pool;
export const operations = (manifest: Manifest): readonly Operation[] => manifest.operations;
export const metered: Metered = meter(new Uint8Array());
export const left: bigint = createCounters({ fuel: 1, pages: 1, elements: 1 }).fuel.value;
`;
const TYPED_OPTIONS = {
  target: "ES2022",
  lib: ["ES2022", "ESNext.Disposable"],
  module: "NodeNext",
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: false,
  types: ["node"],
  noEmit: true,
};

describe("an application that installed the package", () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "airlock-app-"));
    mkdirSync(join(folder, "node_modules", "@bytecodealliance"), { recursive: true });
    symlinkSync(root, join(folder, "node_modules", "airlock"));
    for (const name of ["@bytecodealliance/jco-transpile", "@types", "piscina"]) {
      symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
    }
    writeFileSync(join(folder, "app.mjs"), APPLICATION);
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const run = (file: string) => {
    const { stdout, stderr, status } = spawnSync(process.execPath, [file], {
      cwd: folder,
      encoding: "utf8",
      timeout: 60_000,
    });
    return { stderr, status, answer: stdout === "" ? null : JSON.parse(stdout) };
  };
  const fine = { stderr: "", status: 0, answer: { kind: "succeeded", output: 5, exit: 0, error: "function" } };

  it("runs a capability from dist/", () => {
    expect(run("app.mjs")).toEqual(fine);
  });

  it("finds its worker when it is bundled into one file, with Piscina and the transpiler left outside", async () => {
    await build({
      entryPoints: [join(folder, "app.mjs")],
      outfile: join(folder, "out", "bundle.mjs"),
      bundle: true,
      platform: "node",
      format: "esm",
      external: ["piscina", "@bytecodealliance/*"],
      banner: {
        js: 'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);',
      },
      logLevel: "silent",
    });
    expect(readFileSync(join(folder, "out", "bundle.mjs"), "utf8")).toContain("AIRLOCK_POOL_QUEUE_FULL");
    expect(run(join("out", "bundle.mjs"))).toEqual(fine);
  });

  it("finds the thread of a store, and from there the driver, when it is bundled into one file", async () => {
    await build({
      stdin: { contents: STORING_APPLICATION, resolveDir: folder },
      outfile: join(folder, "stored", "bundle.mjs"),
      bundle: true,
      platform: "node",
      format: "esm",
      external: ["piscina", "@bytecodealliance/*"],
      banner: {
        js: 'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);',
      },
      logLevel: "silent",
    });
    expect(run(join("stored", "bundle.mjs"))).toEqual({
      stderr: "",
      status: 0,
      answer: { kind: "stored", revision: 1 },
    });
    const alone = mkdtempSync(join(tmpdir(), "airlock-app-"));
    cpSync(join(folder, "stored", "bundle.mjs"), join(alone, "bundle.mjs"));
    mkdirSync(join(alone, "node_modules"));
    for (const name of ["@bytecodealliance", "piscina"])
      symlinkSync(join(root, "node_modules", name), join(alone, "node_modules", name));
    const { stderr, status } = spawnSync(process.execPath, ["bundle.mjs"], { cwd: alone, encoding: "utf8" });
    expect([status, stderr]).toEqual([1, expect.stringContaining("keep the package airlock installed beside")]);
    rmSync(alone, { recursive: true });
  });

  it("compiles against its types", () => {
    writeFileSync(join(folder, "typed.ts"), TYPED_APPLICATION);
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: TYPED_OPTIONS, files: ["typed.ts"] }),
    );
    const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
    const { stdout, status } = spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8", timeout: 60_000 });
    expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
  });

  it("reaches what package.json exports, and nothing else", () => {
    writeFileSync(
      join(folder, "exports.mjs"),
      `const { meter, SCHEDULE } = await import("airlock/meter");
       const inner = await import("airlock/dist/host.js").then(() => "reachable", (error) => error.code);
       const wit = import.meta.resolve("airlock/wit/capability/handler.wit");
       const schema = import.meta.resolve("airlock/capability.schema.json");
       const results = import.meta.resolve("airlock/bench-results.schema.json");
       process.stdout.write(JSON.stringify({ meter: typeof meter, schedule: typeof SCHEDULE, inner, wit, schema, results }));`,
    );
    const { answer } = run("exports.mjs");
    expect(answer).toMatchObject({ meter: "function", schedule: "object", inner: "ERR_PACKAGE_PATH_NOT_EXPORTED" });
    for (const url of [answer.wit, answer.schema, answer.results])
      expect(existsSync(fileURLToPath(url)), url).toBe(true);
  });
});
