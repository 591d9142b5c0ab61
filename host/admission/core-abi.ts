import type { CoreArtifact } from "../component/component.ts";
import { HOST_ABI_VERSIONS, type ImportDecision } from "./interfaces.ts";

const POINTER_AND_LENGTH = "(i32, i32) -> i32";

/** Everything that a core module may import, by module and name, with the type that it must have: the Traverse Host ABI 1.0.0. */
const CORE_ABI: ReadonlyMap<string, string> = new Map([
  ["wasi_snapshot_preview1/fd_read", "(i32, i32, i32, i32) -> i32"],
  ["wasi_snapshot_preview1/fd_write", "(i32, i32, i32, i32) -> i32"],
  ["wasi_snapshot_preview1/proc_exit", "(i32) -> ()"],
  ["traverse_host/capability_id", POINTER_AND_LENGTH],
  ["traverse_host/capability_version", POINTER_AND_LENGTH],
  ["traverse_host/runtime_config", POINTER_AND_LENGTH],
  ["traverse_host/trace_context", POINTER_AND_LENGTH],
  ["traverse_host/execution_id", POINTER_AND_LENGTH],
  ["traverse_host/emit_event", POINTER_AND_LENGTH],
  ["traverse_host/connector_invoke", "(i32, i32, i32, i32) -> i32"],
]);

/** The import through which a core module calls connectors. */
export const CONNECTOR_INVOKE = "traverse_host/connector_invoke";

/** The decision on one import of a core module. */
export interface CoreImportDecision extends ImportDecision {
  readonly import: { readonly module: string; readonly name: string };
}

/** Decides on every import of a core module, each pair of module and name once, in their order. */
export function decideCoreImports({ info, importTypes }: CoreArtifact): readonly CoreImportDecision[] {
  const decisions = new Map<string, CoreImportDecision>();
  const imports = info.coreModules[0]?.imports ?? [];
  for (const [index, { module, name, kind }] of imports.entries()) {
    const full = `${module}/${name}`;
    const problem = problemOf(full, kind, importTypes[index] ?? null);
    // The same function may be imported twice; what is refused once stays refused.
    if (decisions.get(full)?.class === "refused" || (decisions.has(full) && problem === null)) continue;
    const decision =
      problem === null
        ? ({ class: "host", rule: `host ABI ${HOST_ABI_VERSIONS[0]}` } as const)
        : ({ class: "refused", rule: problem } as const);
    decisions.set(full, { name: full, ...decision, import: { module, name } });
  }
  return [...decisions.values()];
}

function problemOf(full: string, kind: string, type: string | null): string | null {
  const wanted = CORE_ABI.get(full);
  if (wanted === undefined) return "the host ABI of core modules has no such function";
  if (kind !== "func") return `it is imported as a ${kind}, the host ABI has a function`;
  return type === wanted
    ? null
    : `it is imported as ${type ?? "a function of another form"}, the host ABI has ${wanted}`;
}
