import v8 from "node:v8";
import { transpileBytes } from "@bytecodealliance/jco-transpile";
import { decodeCoreModule, kindOf } from "../component/component.ts";
import { HostError } from "../errors/errors.ts";
import { type LinkPlan, planLink } from "../linker/linker.ts";
import { type MeterOptions, meterTogether } from "../meter/meter.ts";
import { prepareGlue } from "./glue.ts";
import type { CompiledComponent, CompiledModule, CompileRequest, Variant } from "./protocol.ts";

/** What is built: the component, and how. */
export type BuildRequest = Pick<CompileRequest & { kind: "compile" }, "bytes" | "importNames" | "variant">;

/** A core module before it is metered. */
interface Original {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/**
 * Plans the component for the linker, or, for what that does not carry or where `only` says so, generates glue. A core module is
 * only metered; its growths trap where they fail, as its host ABI says.
 */
export async function buildComponent(request: BuildRequest, only?: "glue"): Promise<CompiledComponent> {
  if (kindOf(request.bytes) === "core-module") {
    const { bytes, variant } = request;
    const compiled = compileModules([{ name: "0", bytes }], variant, { trapOnRefusedGrowth: true });
    const { exports } = decodeCoreModule(bytes).info.coreModules[0]!;
    const exportsMemory = exports.some(({ name, kind }) => name === "memory" && kind === "memory");
    return { linkage: { kind: "core", exportsMemory }, ...compiled };
  }
  const planned = only === "glue" ? null : planLink(request.bytes);
  return planned?.kind === "linkable" ? cut(request, planned.plan) : transpile(request);
}

/** The core modules as they are, for the linker. */
function cut({ bytes, variant }: BuildRequest, plan: LinkPlan): CompiledComponent {
  const originals = plan.modules.map(({ start, end }, index) => ({ name: `${index}`, bytes: bytes.slice(start, end) }));
  return { linkage: { kind: "linked", plan }, ...compileModules(originals, variant) };
}

/** Generated glue, and the core modules that it wants. */
async function transpile({ bytes, importNames, variant }: BuildRequest): Promise<CompiledComponent> {
  const { files } = await transpileBytes(bytes, {
    name: "component",
    instantiation: "sync",
    emitTypescriptDeclarations: false,
    // Without a mapping the transpiler drops versions, and two versions of one interface would share one implementation.
    map: Object.fromEntries(importNames.map((name) => [name, name])),
  });
  let source: string | null = null;
  const originals: Original[] = [];
  for (const [name, content] of Object.entries(files) as [string, Uint8Array][]) {
    if (name.endsWith(".wasm")) originals.push({ name, bytes: content });
    else if (name.endsWith(".js")) source = prepareGlue(new TextDecoder().decode(content));
  }
  if (source === null)
    throw new HostError("AIRLOCK_COMPILE_FAILED", "Compiling the component failed: the transpiler wrote no glue");
  return { linkage: { kind: "glue", source }, ...compileModules(originals, variant) };
}

function compileModules(
  originals: readonly Original[],
  { exact, profile }: Variant,
  more: MeterOptions = {},
): Pick<CompiledComponent, "modules" | "extendedConst"> {
  // For what it turns on: the check may have been another process's.
  for (const { bytes } of originals) validates(bytes);
  const metered = meterTogether(
    originals.map(({ bytes }) => bytes),
    { importMemory: true, resettable: !profile, callDepth: exact, canonicalNan: exact, profile, ...more },
  );
  for (const { bytes } of metered) compileEagerly(bytes);
  const modules = metered.map((each, index): CompiledModule => ({ name: originals[index]!.name, ...each }));
  return { modules, extendedConst: extendedConstEnabled };
}

/**
 * Compiles every function body here and now, under the parent's clock: in the host it would be compiled when first called. The
 * flag is not set before it is needed, or the transpiler, which is Wasm too, would be compiled in full each time.
 */
function compileEagerly(module: Uint8Array): void {
  v8.setFlagsFromString("--no-wasm-lazy-compilation");
  new WebAssembly.Module(module);
}

let extendedConstEnabled = false;

/** Whether V8 accepts the module; turns extended constant expressions on, once, for the first module that needs them. */
export function validates(module: Uint8Array): boolean {
  if (WebAssembly.validate(module)) return true;
  if (extendedConstEnabled) return false;
  v8.setFlagsFromString("--experimental-wasm-extended-const");
  if (WebAssembly.validate(module)) {
    extendedConstEnabled = true;
    return true;
  }
  v8.setFlagsFromString("--no-experimental-wasm-extended-const");
  return false;
}
