import type { Artifact, ArtifactSource } from "../compile/compile.ts";
import type { EventDeclaration } from "../events/events.ts";
import type { ImportCounters, InterfaceLink } from "../imports/imports.ts";
import type { JsonSchema, Limits } from "../manifest/manifest.ts";
import type { FuelProfile } from "../meter/meter.ts";

/**
 * How much of an instance is new: nothing, its memory and globals are put back (`reset`, where proven possible, else as
 * `recycled`); all but its memory, which is zeroed (`recycled`); everything (`fresh`). All are observably equal.
 */
export type Tier = (typeof TIERS)[number];

export const TIERS = ["reset", "recycled", "fresh"] as const;

/** One way into a component. */
export interface Operation {
  readonly name: string;
  /** Where the function stands in the exports: in an interface, or at the top level when null. */
  readonly interfaceName: string | null;
  /** Its name in the generated glue. */
  readonly key: string;
  /** `text`: one JSON text in and out. `values`: one argument per parameter, converted by the caller. */
  readonly calling: "text" | "values";
  /** JSON Schemas of the manifest for `text`. */
  readonly inputSchema?: JsonSchema;
  readonly outputSchema?: JsonSchema;
}

/** What a thread needs to know of an installed capability, once. */
export interface Deployment {
  /** Names this installation; never used for another. */
  readonly key: string;
  readonly capabilityId: string;
  readonly capabilityVersion: string;
  readonly artifact: Artifact;
  readonly links: readonly InterfaceLink[];
  readonly operations: readonly Operation[];
  readonly subscribable: boolean;
  readonly declaredEvents: readonly EventDeclaration[];
  readonly filesystem: { readonly root: string } | null;
  /** The limits of a run that asks for no lower ones. */
  readonly limits: Limits;
}

/** A deployment before a thread needs it: the main thread holds no compiled code for it. */
export interface Deployable extends Omit<Deployment, "artifact"> {
  readonly artifact: ArtifactSource;
}

/** One run, as a thread gets it. */
export interface Call {
  /** Names this run in every message of its thread. */
  readonly epoch: number;
  readonly deployment: string;
  readonly runId: string;
  readonly operation: string;
  /** JSON text for `text`, the arguments for `values`. */
  readonly input: string | readonly unknown[];
  /** JSON text that stands for the input in what looks random; null: `input` itself. */
  readonly seedText: string | null;
  /** Null: those of the deployment. */
  readonly limits: Limits | null;
  /** Units for setup and run together, where a caller pays for both; null: only their own limits hold. */
  readonly fuelInAll: number | null;
  readonly tier: Tier;
}

export type Phase = "setup" | "lower" | "guest" | "host" | "lift" | "post";

/** How a run ended, as the thread saw it. */
export type WorkerEnding =
  | { readonly kind: "succeeded"; readonly output: unknown }
  | { readonly kind: "failed"; readonly failure: unknown }
  | { readonly kind: "trapped"; readonly phase: Phase; readonly what: string }
  | { readonly kind: "out-of-fuel"; readonly phase: Phase }
  | { readonly kind: "out-of-memory"; readonly phase: Phase; readonly limit: "memoryBytes" | "tableElements" }
  | { readonly kind: "out-of-stack"; readonly phase: Phase; readonly limit: "callDepth" | "engine" }
  | { readonly kind: "over-budget"; readonly limit: keyof Limits }
  | { readonly kind: "invalid-input"; readonly what: string }
  | { readonly kind: "invalid-output"; readonly what: string }
  | { readonly kind: "lost"; readonly what: string };

/** What a run used, as the thread counted it. */
export interface WorkerUsage extends Omit<ImportCounters, "handles"> {
  readonly fuel: number;
  readonly setupFuel: number;
  /** False when a trap lost charges that were not stored yet: the fuel is then a lower bound. */
  readonly fuelExact: boolean;
  readonly peakMemoryBytes: number;
}

/** Milliseconds of wall time, and `startedAt` as milliseconds since the epoch. */
export interface WorkerTimes {
  readonly startedAt: number;
  readonly setupMs: number;
  readonly guestMs: number;
  readonly hostMs: number;
}

export interface Reply {
  readonly ending: WorkerEnding;
  readonly usage: WorkerUsage;
  readonly events: { readonly accepted: number; readonly refused: number };
  /** What the run said last. */
  readonly sayings: readonly Saying[];
  /** What the instance was, whatever was asked for. */
  readonly tier: Tier;
  readonly times: WorkerTimes;
  /** Of a profile build; null also where nothing of the guest was run. */
  readonly fuelProfile: FuelProfile | null;
}

/** The first message of a thread: its end of the bridge. */
export interface Hello {
  readonly kind: "airlock-hello";
  readonly threadId: number;
  readonly port: import("node:worker_threads").MessagePort;
  /** See `BRIDGE_FIELDS`. */
  readonly shared: SharedArrayBuffer;
  /** See `RunClock`. */
  readonly clock: SharedArrayBuffer;
  /** See `Claims`. */
  readonly claims: SharedArrayBuffer;
}

/** Int32 fields of the bridge's shared buffer. */
export const BRIDGE_FIELDS = { answers: 0, memories: 1, count: 2 } as const;

/** Int32 fields of the buffer in which the threads of a pool add up their garbage collections. */
export const GC_FIELDS = { pauses: 0, microseconds: 1, count: 2 } as const;

/** What a run says that wants no answer. */
export type Saying =
  /** What an `EventGate` accepted, for `parseEvents`. */
  | { readonly kind: "events"; readonly json: string }
  | { readonly kind: "log"; readonly level: string; readonly message: string };

/** From the thread, besides replies. `ordinal` counts the questions of one run. */
export type BridgeMessage =
  /** The host's own code threw in the thread. */
  | { readonly kind: "broken"; readonly epoch: number; readonly what: string }
  | { readonly kind: "need"; readonly epoch: number; readonly ordinal: number; readonly deployment: string }
  | { readonly kind: "sayings"; readonly epoch: number; readonly sayings: readonly Saying[] };

/** To the thread: the answer to what it needs. Anything with another epoch or ordinal is dropped. */
export interface BridgeAnswer {
  readonly epoch: number;
  readonly ordinal: number;
  readonly deployment: Deployment | { readonly problem: string };
}
