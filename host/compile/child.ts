/** The throw-away process: one component, then it ends. It reads requests from its parent and answers each once. */
import "./short-life.ts";
import { transpileBytes } from "@bytecodealliance/jco-transpile";
import { componentWit } from "@bytecodealliance/jco-transpile/wasm-tools";
import type { CheckReport } from "../admission/admission.ts";
import { kindOf } from "../component/component.ts";
import { HostError, isHostError, messageOf } from "../errors/errors.ts";
import { planLink } from "../linker/linker.ts";
import { createSchemaValidator } from "../manifest/manifest.ts";
import { buildComponent, validates } from "./component-build.ts";
import type { CompileReply, CompileRequest } from "./protocol.ts";

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
  return { kind: "compiled", component: await buildComponent(request) };
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
  const isCore = kindOf(request.bytes) === "core-module";
  try {
    if (!isCore) await componentWit(request.bytes);
  } catch (thrown) {
    return { invalid: messageOf(thrown), missingFeature: null, unlinkable: null, schemaProblems };
  }
  const planned = isCore ? null : planLink(request.bytes);
  const unlinkable = planned?.kind === "unlinkable" ? planned.reason : null;
  let missingFeature: string | null = null;
  for (const [index, { start, end }] of request.coreModules.entries()) {
    const module = request.bytes.slice(start, end);
    if (validates(module)) continue;
    // wasmparser knows more proposals than this V8: what it accepts is valid, but cannot run here.
    const problem = await bodiesProblem(isCore ? holding(request.bytes) : request.bytes);
    if (problem !== null)
      return { invalid: `core module ${index}: ${problem}`, missingFeature: null, unlinkable, schemaProblems };
    missingFeature = `core module ${index}: ${engineMessage(module)}`;
  }
  return { invalid: null, missingFeature, unlinkable, schemaProblems };
}

/** A component that holds a core module and does not instantiate it: the transpiler validates components only. */
function holding(module: Uint8Array): Uint8Array {
  const header = [0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00, 0x01];
  // The length of the section, in groups of seven bits.
  let rest = module.length;
  for (; rest >= 0x80; rest >>>= 7) header.push((rest & 0x7f) | 0x80);
  return Buffer.concat([Uint8Array.from([...header, rest]), module]);
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
