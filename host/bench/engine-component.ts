import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { transpileBytes } from "@bytecodealliance/jco-transpile";
import { componentize } from "componentize-qjs";
import { plenty, type Variant } from "./metered-variants.ts";
import { SALT_EXPORT, salted } from "./salt.ts";
import type { Subject } from "./trials.ts";

const WIT = "package airlock:bench;\nworld program { export run: func(x: string) -> string; }\n";

/** Objects, strings, closures, sorting, exceptions and regular expressions, some milliseconds of them. */
const PROGRAM = `export function run(x) {
  const counts = {};
  for (let i = 0; i < +x; i++) counts["k" + (i % 97)] = (counts["k" + (i % 97)] || 0) + i;
  const points = Array.from({ length: +x / 10 }, (_, i) => ({ x: (i * 7919) % 1013, y: i }));
  points.sort((a, b) => a.x - b.x || a.y - b.y);
  let sum = 0;
  for (const { x, y } of points) sum = (sum * 31 + x * y) % 1000003;
  let caught = 0;
  for (let i = 0; i < 20; i++) try { JSON.parse("{bad"); } catch (error) { caught += error.name.length; }
  const text = JSON.stringify(points.slice(0, 50)).replace(/"x":(\\d+)/g, (_, digits) => digits + "x");
  return Object.keys(counts).sort().map((k) => k + counts[k]).join() + sum + caught + text.length;
}`;

interface Glue {
  instantiate(
    get: (path: string) => WebAssembly.Module,
    imports: object,
    instantiateCore: (module: WebAssembly.Module, imports: WebAssembly.Imports) => WebAssembly.Instance,
  ): { run(x: string): string };
}

/** A JavaScript engine as a component, which runs a program; and its core modules. */
export interface EngineComponent {
  readonly cores: readonly Uint8Array[];
  subject(variants: readonly Variant[]): Subject;
}

/** Builds QuickJS with the program inside. */
export async function buildQuickjs(): Promise<EngineComponent> {
  const folder = mkdtempSync(join(tmpdir(), "airlock-bench-"));
  try {
    writeFileSync(join(folder, "world.wit"), WIT);
    const options = { witPath: folder, jsSource: PROGRAM, sync: true, stubWasi: true, optSize: false };
    const { component } = (await componentize(options)) as { component: Uint8Array };
    return await engineComponent("quickjs", component, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function engineComponent(name: string, component: Uint8Array, folder: string): Promise<EngineComponent> {
  allowExtendedConstants();
  const transpiled = await transpileBytes(component, {
    name: "guest",
    instantiation: "sync",
    emitTypescriptDeclarations: false,
  });
  const files = transpiled.files as Record<string, Uint8Array>;
  const file = join(folder, "guest.mjs");
  writeFileSync(file, files["guest.js"]!);
  const glue = (await import(pathToFileURL(file).href)) as Glue;
  const paths = Object.keys(files).filter((path) => path.endsWith(".wasm"));
  const largest = paths.reduce((a, b) => (files[a]!.length < files[b]!.length ? b : a));
  return {
    cores: paths.map((path) => files[path]!),
    subject: (variants) => ({
      name,
      start(variant, salt) {
        const counters = plenty();
        const get = (path: string): WebAssembly.Module => {
          const bytes = files[path]!;
          return new WebAssembly.Module(variants[variant]!(path === largest ? salted(bytes, salt) : bytes));
        };
        const guest = glue.instantiate(get, {}, (module, imports) => {
          const instance = new WebAssembly.Instance(module, { ...imports, $airlock: counters });
          (instance.exports[SALT_EXPORT] as ((value: number) => number) | undefined)?.(1);
          return instance;
        });
        return () => guest.run("6000");
      },
    }),
  };
}

/** Node 20 has them behind a flag, and the engine places its data with them. */
function allowExtendedConstants(): void {
  // (global i32 (i32.add (i32.const 0) (i32.const 0)))
  const probe = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 6, 9, 1, 0x7f, 0, 0x41, 0, 0x41, 0, 0x6a, 0x0b];
  if (!WebAssembly.validate(Uint8Array.from(probe))) setFlagsFromString("--experimental-wasm-extended-const");
}
