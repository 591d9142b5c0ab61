import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
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

describe("an application that installed the package", () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "airlock-app-"));
    mkdirSync(join(folder, "node_modules", "@bytecodealliance"), { recursive: true });
    symlinkSync(root, join(folder, "node_modules", "airlock"));
    for (const name of ["@bytecodealliance/jco-transpile", "piscina"]) {
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

  it("reaches what package.json exports, and nothing else", () => {
    writeFileSync(
      join(folder, "exports.mjs"),
      `const { meter, SCHEDULE } = await import("airlock/meter");
       const inner = await import("airlock/dist/host.js").then(() => "reachable", (error) => error.code);
       const wit = import.meta.resolve("airlock/wit/capability/handler.wit");
       const schema = import.meta.resolve("airlock/capability.schema.json");
       process.stdout.write(JSON.stringify({ meter: typeof meter, schedule: typeof SCHEDULE, inner, wit, schema }));`,
    );
    const { answer } = run("exports.mjs");
    expect(answer).toMatchObject({ meter: "function", schedule: "object", inner: "ERR_PACKAGE_PATH_NOT_EXPORTED" });
    for (const url of [answer.wit, answer.schema]) expect(existsSync(fileURLToPath(url)), url).toBe(true);
  });
});
