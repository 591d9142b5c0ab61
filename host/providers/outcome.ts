import type { OutcomeKind } from "../errors/errors.ts";
import type { Limits } from "../manifest/manifest.ts";
import type { FuelProfile } from "../meter/meter.ts";

/** Why a capability declined: its own words, or for a plain function the error value of its `result`. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  /** A JSON value. */
  readonly detail?: unknown;
}

/** Where in a run something happened. */
export type RunPhase = "queue" | "setup" | "lower" | "guest" | "host" | "lift" | "post";

/** What a run used. Bytes, units of fuel, milliseconds of wall time. */
export interface Usage {
  /** Fuel from the entry of the export on, host work included. */
  readonly fuel: number;
  /** Fuel of instantiation, counted apart. */
  readonly setupFuel: number;
  /** False when the fuel is only a lower bound: the run was cut off, or a trap lost charges not stored yet. */
  readonly fuelExact: boolean;
  readonly peakMemoryBytes: number;
  readonly hostCalls: number;
  readonly hostBytesIn: number;
  readonly hostBytesOut: number;
  readonly logBytes: number;
  readonly logDropped: number;
  readonly randomBytes: number;
  readonly queueMs: number;
  readonly setupMs: number;
  readonly guestMs: number;
  readonly hostMs: number;
  readonly totalMs: number;
}

/** What can be shown for a run. */
export interface Evidence {
  readonly componentSha256: string;
  readonly scheduleId: string;
  readonly tier: "reset" | "recycled" | "fresh";
}

interface Common {
  readonly runId: string;
  /** `id@version` of the provider that answered. */
  readonly providerId: string;
  readonly operation: string;
  readonly usage: Usage;
  readonly limits: Limits;
  readonly events: { readonly accepted: number; readonly refused: number };
  readonly evidence: Evidence | null;
  /** Of a capability that was installed for it, unless the run was cut off or never began. */
  readonly fuelProfile?: FuelProfile;
}

type Ended<Kind extends OutcomeKind, More = unknown> = Common & { readonly kind: Kind } & More;

/** How a run ended: a value, whatever the guest did. */
export type Outcome<Output = unknown> =
  | Ended<"succeeded", { readonly output: Output }>
  | Ended<"failed", { readonly failure: Failure }>
  | Ended<"trapped", { readonly trap: { readonly phase: RunPhase; readonly message: string } }>
  | Ended<"out-of-fuel", { readonly phase: RunPhase; readonly limit: "fuel" | "setupFuel" }>
  | Ended<"out-of-memory", { readonly phase: RunPhase; readonly limit: "memoryBytes" | "tableElements" }>
  | Ended<"out-of-stack", { readonly phase: RunPhase; readonly limit: "callDepth" | "engine" }>
  /** `limit` says which tripped first. */
  | Ended<"past-deadline", { readonly phase: RunPhase; readonly limit: "wallMs" | "deadlineMs" }>
  | Ended<"over-budget", { readonly limit: keyof Limits }>
  | Ended<"invalid-input", { readonly message: string }>
  | Ended<"invalid-output", { readonly message: string }>
  | Ended<"cancelled", { readonly reason: string }>
  | Ended<"lost", { readonly message: string }>;
