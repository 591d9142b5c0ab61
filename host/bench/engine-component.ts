import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { transpileBytes } from "@bytecodealliance/jco-transpile";
import { componentize } from "componentize-qjs";
import { plenty, type Variant } from "./metered-variants.ts";
import { PROGRAM, PROGRAM_ARGUMENT, PROGRAM_WIT } from "./program.ts";
import { SALT_EXPORT, salted } from "./salt.ts";
import { STARLINGMONKEY_PATH } from "./starlingmonkey.ts";
import type { Subject } from "./trials.ts";

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
  /** The one of them that is the engine. */
  readonly core: Uint8Array;
  subject(variants: readonly Variant[]): Subject;
}

/** Builds QuickJS with the program inside. */
export async function buildQuickjs(): Promise<EngineComponent> {
  const folder = mkdtempSync(join(tmpdir(), "airlock-bench-"));
  try {
    writeFileSync(join(folder, "world.wit"), PROGRAM_WIT);
    const options = { witPath: folder, jsSource: PROGRAM, sync: true, stubWasi: true, optSize: false };
    const { component } = (await componentize(options)) as { component: Uint8Array };
    return await engineComponent("quickjs", component, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** StarlingMonkey with the same program inside, which `npm run starlingmonkey` builds; undefined when it did not. */
export async function findStarlingmonkey(): Promise<EngineComponent | undefined> {
  if (!existsSync(STARLINGMONKEY_PATH)) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "airlock-bench-"));
  try {
    return await engineComponent("starlingmonkey", readFileSync(STARLINGMONKEY_PATH), folder);
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
    core: files[largest]!,
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
        return () => guest.run(PROGRAM_ARGUMENT);
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
