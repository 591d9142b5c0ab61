import v8 from "node:v8";
import type { LinkPlan } from "../linker/linker.ts";
import { SCHEDULE, scheduleId } from "../meter/meter.ts";
import type { CompiledComponent } from "./protocol.ts";

/** What makes an instance out of the core modules. */
export type Linkage =
  /** `modules` are in the order of the plan's. */
  | { readonly kind: "linked"; readonly plan: LinkPlan }
  /** For what the linker does not carry. See `prepareGlue`. */
  | { readonly kind: "glue"; readonly source: string };

/** One core module of an artifact, ready to be instantiated. */
export interface ArtifactModule {
  readonly name: string;
  /** A `WebAssembly.Module`. Public types lead here, and an application without the DOM's types has none of that name. */
  readonly module: object;
  /** Its own memory, which the host creates: pages of 64 KiB; null when it imports one or has none. */
  readonly memory: { readonly initial: number; readonly maximum: number } | null;
  /** Elements that its own tables hold at the start. */
  readonly tableElements: number;
}

/** A component that was admitted, planned or transpiled, metered and compiled. Independent of limits, shared by all threads. */
export interface Artifact {
  /** Names what it was made from and with: component digest, schedule, variant, versions. */
  readonly key: string;
  readonly componentSha256: string;
  readonly scheduleId: string;
  /** Whether frames are counted and NaNs are canonical. */
  readonly exact: boolean;
  readonly linkage: Linkage;
  readonly modules: readonly ArtifactModule[];
  /** Bytes of Wasm before and after metering. */
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** The way to an artifact that nobody needs to hold: what is known of it, and how to get it. */
export interface ArtifactSource extends Pick<Artifact, "componentSha256" | "scheduleId" | "exact"> {
  /** Throws AIRLOCK_HOST_CLOSED, and AIRLOCK_COMPILE_* when it has to be compiled again and that fails this time. */
  load(): Promise<Artifact>;
}

/** Compiles what the throw-away process made. */
export async function toArtifact(
  key: string,
  componentSha256: string,
  exact: boolean,
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
        tableElements: report.tables.reduce((sum, table) => sum + (table.imported ? 0 : table.initialElements), 0),
      };
    }),
  );
  return {
    key,
    componentSha256,
    scheduleId: made.modules[0]?.report.scheduleId ?? scheduleId(SCHEDULE),
    exact,
    linkage: made.linkage,
    modules,
    bytesIn: made.modules.reduce((sum, { report }) => sum + report.bytesIn, 0),
    bytesOut: made.modules.reduce((sum, { report }) => sum + report.bytesOut, 0),
  };
}
