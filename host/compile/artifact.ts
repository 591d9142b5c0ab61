import v8 from "node:v8";
import type { LinkPlan } from "../linker/linker.ts";
import { type ProfiledFunction, SCHEDULE, scheduleId } from "../meter/meter.ts";
import type { CompiledComponent, Variant } from "./protocol.ts";

/** What makes an instance out of the core modules. */
export type Linkage =
  /** `plan` is a `LinkPlan`, hidden from public types as the modules are. `modules` are in the order of the plan's. */
  | { readonly kind: "linked"; readonly plan: object }
  /** For what the linker does not carry. See `prepareGlue`. */
  | { readonly kind: "glue"; readonly source: string }
  /** A core module by itself. `exportsMemory`: whether it exports its memory as `memory`, so that the host can reach it. */
  | { readonly kind: "core"; readonly exportsMemory: boolean };

/** Proven over all core modules: memories, mutable globals and handles are all that a call can leave behind. */
export type ResetProof = { readonly kind: "possible" } | { readonly kind: "impossible"; readonly why: string };

/** One core module of an artifact, ready to be instantiated. */
export interface ArtifactModule {
  readonly name: string;
  /** A `WebAssembly.Module`. Public types lead here, and an application without the DOM's types has none of that name. */
  readonly module: object;
  /** Its own memory, which the host creates: pages of 64 KiB; null when it imports one or has none. */
  readonly memory: { readonly initial: number; readonly maximum: number } | null;
  /** Elements that its own tables hold at the start. */
  readonly tableElements: number;
  /** Names under which it exports its mutable globals, where an instance may be reset. */
  readonly globals: readonly string[];
  /** What a profiler must know of it; null where functions are not profiled, or there are none. */
  readonly functions: readonly ProfiledFunction[] | null;
}

/** A component that was admitted, planned or transpiled, metered and compiled. Independent of limits, shared by all threads. */
export interface Artifact {
  /** Names what it was made from and with: component digest, schedule, variant, versions. */
  readonly key: string;
  readonly componentSha256: string;
  readonly scheduleId: string;
  readonly variant: Variant;
  readonly linkage: Linkage;
  /** Whether an instance can be put back to where it was after instantiation, or why not. */
  readonly reset: ResetProof;
  readonly modules: readonly ArtifactModule[];
  /** Bytes of Wasm before and after metering. */
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** The way to an artifact that nobody needs to hold: what is known of it, and how to get it. */
export interface ArtifactSource extends Pick<Artifact, "componentSha256" | "scheduleId" | "variant"> {
  /** Throws AIRLOCK_HOST_CLOSED, and AIRLOCK_COMPILE_* when it has to be compiled again and that fails this time. */
  load(): Promise<Artifact>;
}

/** Compiles what the throw-away process made. */
export async function toArtifact(
  key: string,
  componentSha256: string,
  variant: Variant,
  made: CompiledComponent,
): Promise<Artifact> {
  // Process-wide, so only for a component that needs it; a no-op on versions of Node where it is always on.
  if (made.extendedConst) v8.setFlagsFromString("--experimental-wasm-extended-const");
  const modules = await Promise.all(
    made.modules.map(async ({ name, bytes, report }) => {
      const added = report.imports.find((each) => each.kind === "memory");
      return {
        name,
        module: await WebAssembly.compile(bytes),
        memory: added === undefined ? null : { initial: added.initialPages, maximum: added.maximumPages },
        globals: report.reset.kind === "possible" ? report.reset.globals : [],
        tableElements: report.tables.reduce((sum, table) => sum + (table.imported ? 0 : table.initialElements), 0),
        functions: report.profiled,
      };
    }),
  );
  return {
    key,
    componentSha256,
    scheduleId: made.modules[0]?.report.scheduleId ?? scheduleId(SCHEDULE),
    variant,
    linkage: made.linkage,
    reset: proveReset(made, variant),
    modules,
    bytesIn: made.modules.reduce((sum, { report }) => sum + report.bytesIn, 0),
    bytesOut: made.modules.reduce((sum, { report }) => sum + report.bytesOut, 0),
  };
}

function proveReset({ linkage, modules }: CompiledComponent, { profile }: Variant): ResetProof {
  // An instance calls the hooks that it was made with, which are those of one run's profiler.
  if (profile) return { kind: "impossible", why: "its functions are profiled" };
  // Generated glue keeps state of an instance.
  if (linkage.kind === "glue") return { kind: "impossible", why: "the linker does not carry it" };
  const instantiated = linkage.kind === "core" ? [0] : modulesOf(linkage.plan as LinkPlan);
  if (new Set(instantiated).size < instantiated.length)
    return { kind: "impossible", why: "it instantiates a core module more than once" };
  for (const [index, { report }] of modules.entries()) {
    if (report.reset.kind === "impossible")
      return { kind: "impossible", why: `core module ${index} has ${report.reset.why}` };
    // A memory that the host did not make is out of its sight.
    if (report.memory.length > 1 || (report.memory[0]?.imported === false && !report.imports.some(isMemory)))
      return { kind: "impossible", why: `core module ${index} has a memory of a kind that is not kept` };
  }
  return { kind: "possible" };
}

function modulesOf({ steps }: LinkPlan): readonly number[] {
  return steps.flatMap((step) => (step.kind === "module" ? [step.module] : []));
}

function isMemory({ kind }: { readonly kind: string }): boolean {
  return kind === "memory";
}
