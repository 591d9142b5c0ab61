/** The throw-away process: one component, then it ends. It reads requests from its parent and answers each once. */
import "./short-life.ts";
import v8 from "node:v8";
import { transpileBytes } from "@bytecodealliance/jco-transpile";
import { componentWit } from "@bytecodealliance/jco-transpile/wasm-tools";
import type { CheckReport } from "../admission/admission.ts";
import { HostError, isHostError, messageOf } from "../errors/errors.ts";
import { type LinkPlan, planLink } from "../linker/linker.ts";
import { createSchemaValidator } from "../manifest/manifest.ts";
import { meter } from "../meter/meter.ts";
import { prepareGlue } from "./glue.ts";
import type { CompiledComponent, CompiledModule, CompileReply, CompileRequest } from "./protocol.ts";

process.on("message", (request: CompileRequest) => {
  answer(request).then(send, (thrown: unknown) => {
    const error = isHostError(thrown)
      ? thrown.toRecord()
      : new HostError("AIRLOCK_COMPILE_FAILED", `Compiling the component failed: ${messageOf(thrown)}`).toRecord();
    send({ kind: "refused", error });
  });
});
process.on("disconnect", () => process.exit(0));
send({ kind: "ready" });

async function answer(request: CompileRequest): Promise<CompileReply> {
  if (request.kind === "check") return { kind: "checked", report: await check(request) };
  return { kind: "compiled", component: await compile(request) };
}

async function check(request: CompileRequest & { kind: "check" }): Promise<CheckReport> {
  const schemaProblems: { field: string; problem: string }[] = [];
  const validator = createSchemaValidator();
  for (const { field, schema } of request.schemas) {
    try {
      validator.compile(schema);
    } catch (thrown) {
      schemaProblems.push({ field, problem: messageOf(thrown) });
    }
  }
  try {
    await componentWit(request.bytes);
  } catch (thrown) {
    return { invalid: messageOf(thrown), missingFeature: null, unlinkable: null, schemaProblems };
  }
  const planned = planLink(request.bytes);
  const unlinkable = planned.kind === "linkable" ? null : planned.reason;
  let missingFeature: string | null = null;
  for (const [index, { start, end }] of request.coreModules.entries()) {
    const module = request.bytes.slice(start, end);
    if (validates(module)) continue;
    // wasmparser knows more proposals than this V8: what it accepts is valid, but cannot run here.
    const problem = await bodiesProblem(request.bytes);
    if (problem !== null)
      return { invalid: `core module ${index}: ${problem}`, missingFeature: null, unlinkable, schemaProblems };
    missingFeature = `core module ${index}: ${engineMessage(module)}`;
  }
  return { invalid: null, missingFeature, unlinkable, schemaProblems };
}

async function compile(request: CompileRequest & { kind: "compile" }): Promise<CompiledComponent> {
  const planned = planLink(request.bytes);
  return planned.kind === "linkable" ? cut(request, planned.plan) : transpile(request);
}

/** The core modules as they are, for the linker. */
function cut({ bytes, callDepth }: CompileRequest & { kind: "compile" }, plan: LinkPlan): CompiledComponent {
  const modules = plan.modules.map(({ start, end }, index) =>
    compileModule(`${index}`, bytes.slice(start, end), callDepth),
  );
  return { linkage: { kind: "linked", plan }, modules, extendedConst: extendedConstEnabled };
}

/** Generated glue, and the core modules that it wants. */
async function transpile(request: CompileRequest & { kind: "compile" }): Promise<CompiledComponent> {
  const { files } = await transpileBytes(request.bytes, {
    name: "component",
    instantiation: "sync",
    emitTypescriptDeclarations: false,
    // Without a mapping the transpiler drops versions, and two versions of one interface would share one implementation.
    map: Object.fromEntries(request.importNames.map((name) => [name, name])),
  });
  let source: string | null = null;
  const modules: CompiledModule[] = [];
  for (const [name, content] of Object.entries(files) as [string, Uint8Array][]) {
    if (name.endsWith(".wasm")) {
      modules.push(compileModule(name, content, request.callDepth));
    } else if (name.endsWith(".js")) {
      source = prepareGlue(new TextDecoder().decode(content));
    }
  }
  if (source === null)
    throw new HostError("AIRLOCK_COMPILE_FAILED", "Compiling the component failed: the transpiler wrote no glue");
  return { linkage: { kind: "glue", source }, modules, extendedConst: extendedConstEnabled };
}

function compileModule(name: string, content: Uint8Array, callDepth: boolean): CompiledModule {
  // For what it turns on: the check may have been another process's.
  validates(content);
  const { bytes, report } = meter(content, { importMemory: true, callDepth });
  compileEagerly(bytes);
  return { name, bytes, report };
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
function validates(module: Uint8Array): boolean {
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

/** Full validation, function bodies included, by the transpiler's own validator; null when valid. */
async function bodiesProblem(bytes: Uint8Array): Promise<string | null> {
  try {
    await transpileBytes(bytes, { name: "component", instantiation: "sync", emitTypescriptDeclarations: false });
    return null;
  } catch (thrown) {
    return messageOf(thrown);
  }
}

function engineMessage(module: Uint8Array): string {
  try {
    new WebAssembly.Module(module);
    return "refused by this version of Node";
  } catch (thrown) {
    return messageOf(thrown);
  }
}

function send(reply: CompileReply): void {
  process.send?.(reply);
}
