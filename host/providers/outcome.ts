import type { ConnectorEvidence, OutcomeKind } from "../errors/errors.ts";
import type { Limits } from "../manifest/manifest.ts";
import type { FuelProfile } from "./fuel-profile.ts";

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

/** Tokens that a model counted: observed and passed on, never a reason for anything. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The model that counted, as its server names it. */
  readonly model?: string;
}

/** Bounds of a stream gate: more of the run than this waited for a slow reader. */
export type UnreadLimit = "unreadEvents" | "unreadBytes";

/** What each ending says besides its kind. */
interface EndFacts<Output> {
  readonly succeeded: { readonly output: Output };
  readonly failed: { readonly failure: Failure };
  readonly trapped: { readonly trap: { readonly phase: RunPhase; readonly message: string } };
  readonly "out-of-fuel": { readonly phase: RunPhase; readonly limit: "fuel" | "setupFuel" };
  readonly "out-of-memory": { readonly phase: RunPhase; readonly limit: "memoryBytes" | "tableElements" };
  readonly "out-of-stack": { readonly phase: RunPhase; readonly limit: "callDepth" | "engine" };
  /** `limit` says which tripped first. */
  readonly "past-deadline": { readonly phase: RunPhase; readonly limit: "wallMs" | "deadlineMs" };
  readonly "over-budget": { readonly limit: keyof Limits | UnreadLimit };
  readonly "invalid-input": { readonly message: string };
  readonly "invalid-output": { readonly message: string };
  readonly cancelled: { readonly reason: string };
  /** The thread or the process died. */
  readonly lost: { readonly message: string };
  /** A native provider threw, or its server answered with an error. */
  readonly "provider-failed": {
    readonly message: string;
    /** The HTTP status of its server's answer, where that was the error. */
    readonly status?: number;
  };
  /** The connection to the provider, or to whom the run was for, broke off. */
  readonly disconnected: { readonly message: string };
}

/** How a run ended, without the account of it. */
export type RunResult<Output = unknown> = {
  readonly [Kind in OutcomeKind]: { readonly kind: Kind } & EndFacts<Output>[Kind] & { readonly tokens?: TokenUsage };
}[OutcomeKind];

/** A run that another one asked for and waited for, in the order in which it was asked for. */
export interface NestedRun {
  readonly runId: string;
  /** `id@version` of the provider that answered. */
  readonly providerId: string;
  readonly operation: string;
  readonly kind: OutcomeKind;
  /** Units that its caller was charged for it: setup and run, and what its own nested runs used. */
  readonly fuel: number;
  /** Null for a native provider, and for a run that never began. */
  readonly evidence: Evidence | null;
  /** Its own, if it had any. */
  readonly nested?: readonly NestedRun[];
  readonly connectorCalls?: readonly ConnectorEvidence[];
}

/** What is known of a run, however it ended. */
export interface RunReport {
  readonly usage: Usage;
  /** Those that held. What counts Wasm alone holds of itself where a provider runs none. */
  readonly limits: Limits;
  readonly events: { readonly accepted: number; readonly refused: number };
  /** Null for a native provider, and for a run that never began. */
  readonly evidence: Evidence | null;
  /** Those that began, if any did; `hostCalls` bounds them. */
  readonly nested?: readonly NestedRun[];
  /** Those that were made of connectors, if any were, in their order; without those whose request could not be parsed. */
  readonly connectorCalls?: readonly ConnectorEvidence[];
}

interface Common extends RunReport {
  readonly runId: string;
  /** `id@version` of the provider that answered. */
  readonly providerId: string;
  readonly operation: string;
  /** As the request had it. */
  readonly sessionId?: string;
  /** Of a capability that was installed for it, unless the run was cut off or never began. */
  readonly fuelProfile?: FuelProfile;
}

/** How a run ended: a value, whatever the guest did. `ENDINGS` says what each kind means to a caller. */
export type Outcome<Output = unknown> = Common & RunResult<Output>;
