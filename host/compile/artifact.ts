import type { LinkPlan } from "../linker/linker.ts";

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
  readonly callDepth: boolean;
  readonly linkage: Linkage;
  readonly modules: readonly ArtifactModule[];
  /** Bytes of Wasm before and after metering. */
  readonly bytesIn: number;
  readonly bytesOut: number;
}
