import type { Limits } from "../manifest/manifest.ts";
import type { Outcome } from "./outcome.ts";

/** One request for a capability. */
export interface RunRequest {
  /** Non-empty; names this run and nothing else. */
  readonly runId: string;
  readonly providerId: string;
  readonly operation: string;
  readonly input: unknown;
  /** Nothing that another run has used may serve this one, be it clean. */
  readonly fresh?: boolean;
  /** May only lower what manifest and policy allow. */
  readonly limits: Partial<Limits>;
  /** Hard and absolute, in milliseconds since the epoch; null for none. */
  readonly deadline: number | null;
}

/** A validated event of a capability. `payload` is a JSON value. */
export interface CapabilityEvent {
  readonly type: string;
  readonly version: string;
  readonly payload: unknown;
}

/** What happens in a run, in order; exactly one terminal event, at the end. Live and provisional until it succeeds. */
export type RunEvent =
  | { readonly kind: "started"; readonly runId: string; readonly providerId: string }
  | { readonly kind: "log"; readonly level: string; readonly message: string }
  | { readonly kind: "event"; readonly event: CapabilityEvent }
  /** The iterator's reader was so slow that this many events were left out of the iteration. */
  | { readonly kind: "skipped"; readonly count: number }
  | { readonly kind: "complete" | "error" | "cancelled"; readonly outcome: Outcome };

/** Where a provider says what happens. It cannot end the run: the outcome that it returns does. */
export interface Emitter {
  emit(event: Extract<RunEvent, { kind: "log" | "event" }>): void;
}

/** Whether the run was ended from outside: the part of an `AbortSignal` that a provider needs. */
export interface RunSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** What answers for a capability. Every admitted component is one. */
export interface Provider {
  /** `id@version`. */
  readonly id: string;
  /** Names of what can be asked of it. */
  readonly operations: readonly string[];
  /** Checks a request before anything of it starts; throws a HostError. */
  check(request: RunRequest): void;
  /** Carries it out. Never rejects for what a guest does. */
  execute(request: RunRequest, emitter: Emitter, signal: RunSignal): Promise<Outcome>;
}
