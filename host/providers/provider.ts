import type { FailureCode } from "../errors/errors.ts";
import type { Limits } from "../manifest/manifest.ts";
import type { Capabilities, CommandRequest, OllamaAnswer, TransportStatus } from "./commands.ts";
import type { Outcome, RunPhase, RunReport, RunResult, TokenUsage } from "./outcome.ts";

/** What a run has left of its own, for a run that it asks for. */
export interface RunBudget {
  /** Units, for setup and run together. */
  readonly fuel: number;
  readonly memoryBytes: number;
  readonly eventCount: number;
  readonly eventTotalBytes: number;
}

/** That a run is a part of another one, which waits for it. */
export interface NestedIn {
  readonly callerRunId: string;
  /** 1 for a run that was asked for by one that nobody asked for but the application. */
  readonly depth: number;
  /** A provider that counts any of this holds the run to it, besides its own limits. The rest of the time is the request's `deadline`. */
  readonly budget: RunBudget;
}

/** One request for a capability. */
export interface RunRequest {
  /** Non-empty; names this run and nothing else. */
  readonly runId: string;
  /** Says to whoever asked what belongs together. It selects, makes, resumes and ends nothing. */
  readonly sessionId?: string;
  readonly providerId: string;
  readonly operation: string;
  readonly input: unknown;
  /** Nothing that another run has used may serve this one, be it clean. */
  readonly fresh?: boolean;
  /** May only lower what manifest and policy allow. */
  readonly limits: Partial<Limits>;
  /** Hard and absolute, in milliseconds since the epoch; null for none. The only time that ends a run from outside. */
  readonly deadline: number | null;
  /** Left out for a run that the application asks for. */
  readonly nested?: NestedIn;
}

/** A validated event of a capability. `payload` is a JSON value. */
export interface CapabilityEvent {
  readonly type: string;
  readonly version: string;
  readonly payload: unknown;
}

/** What a nested run that succeeded has said, at its place among what its caller says. It counts when that has succeeded as well. */
export interface NestedEvents {
  readonly runId: string;
  readonly providerId: string;
  readonly events: readonly (CapabilityEvent | NestedEvents)[];
  /** Of all of them, and bytes of their payloads as JSON. */
  readonly count: number;
  readonly bytes: number;
}

/** What a provider may say while it works. */
export type LiveEvent =
  /** The next piece of output that comes in pieces. The outcome has the whole. */
  | { readonly kind: "delta"; readonly text: string }
  | { readonly kind: "event"; readonly event: CapabilityEvent }
  | { readonly kind: "log"; readonly level: string; readonly message: string }
  /** Tokens so far. The last one stands in the outcome as well. */
  | { readonly kind: "usage"; readonly tokens: TokenUsage };

/** How a run ended, as its last event. `complete` is for a run that succeeded, and for no other. */
export interface TerminalEvent {
  readonly kind: "complete" | "error" | "cancelled";
  /** Why, in provider-neutral words; with `error` and `cancelled`. */
  readonly failure?: FailureCode;
  readonly outcome: Outcome;
}

/** What happens in a run, in order; exactly one terminal event, at the end. Live and provisional until it succeeds. */
export type RunEvent =
  | { readonly kind: "started"; readonly runId: string; readonly providerId: string }
  | LiveEvent
  /** The iterator's reader was so slow that this many events were left out of the iteration. */
  | { readonly kind: "skipped"; readonly count: number }
  | TerminalEvent;

/** What a provider that measures knows of a run, at any moment. Its functions must not throw. */
export interface RunAccount {
  /** Where the run is. */
  readonly phase: RunPhase;
  /** Called before the run ends, however it does: what it has others do for it is to end, and to be in the report. */
  ending?(): void;
  /** Asked when the run is ended from outside, and for a result without a report. `endedAt` is in milliseconds since the epoch. */
  report(endedAt: number): RunReport;
  /** Ends the run this many milliseconds after `wallSince`; left out, nothing but its deadline does. */
  readonly wallMs?: number;
  /** When the wall clock began, in milliseconds since the epoch; null while it has not. Left out: when the run got its slot. */
  wallSince?(): number | null;
}

/** Where a provider says what happens. It cannot end the run: the result that it returns does. */
export interface Emitter {
  /**
   * Takes one event, in order. After the run's end it is dropped and counted. One of any other form than a `LiveEvent` ends the run as
   * `provider-failed`. Never throws.
   */
  emit(event: LiveEvent): void;
  /**
   * Null while whoever reads the run has room; else settles once he has, or once the run has ended. Never rejects. A provider that
   * can pause looks after what it emits (`await emitter.room?.()`); the run of one that does not may end as `over-budget`
   * when its reader is slow. The run's clocks go on meanwhile.
   */
  room?(): Promise<void> | null;
  /** Hands in the run's account, once and early. Without one the outcome of a run that is cut off has times and no more. */
  account?(account: RunAccount): void;
  /** When the run was asked for, in milliseconds since the epoch. */
  readonly submittedAt?: number;
}

/**
 * Whether the run was ended from outside: the part of an `AbortSignal` that a provider needs. A real one costs microseconds, so
 * there is one only for whom asks: see `abortSignalOf`.
 */
export interface RunSignal {
  readonly aborted: boolean;
  /** A text, once it is aborted. */
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** Starts and stops what a provider needs: a connection, a cache. */
export interface Lifecycle {
  /** Called once, before the first run. A rejection leaves the provider out of the registry. */
  start?(): Promise<void> | void;
  /** Called once, after the last run. */
  stop?(): Promise<void> | void;
}

/** Answers provider commands. A command that is not here is one that the provider does not have. */
export interface Commands {
  capabilities?(): Promise<Capabilities> | Capabilities;
  /** The rest of the answer is known by who keeps the provider's slots and connection. */
  transport_status?(): Promise<Pick<TransportStatus, "kind">> | Pick<TransportStatus, "kind">;
  ollama_api?(
    request: Extract<CommandRequest, { command: "ollama_api" }>,
    signal: AbortSignal,
  ): Promise<OllamaAnswer> | OllamaAnswer;
}

/** What answers for a capability. Every admitted component is one. Each optional part is looked up by its presence. */
export interface Provider {
  /** `id@version`. */
  readonly id: string;
  /** What can be asked of it. A request without an operation means the only one. */
  readonly operations?: readonly string[];
  /** Checks a request before anything of it starts; throws a HostError. */
  check?(request: RunRequest): void;
  /**
   * Carries a request out. What it returns ends the run, unless something else has ended it before. A guest's doing is a result;
   * a rejection is a defect of the provider, and ends the run as `provider-failed`. A provider that measures returns a
   * whole `Outcome`; else the run's own account is filled in.
   */
  execute(request: RunRequest, emitter: Emitter, signal: RunSignal): Promise<RunResult>;
  readonly lifecycle?: Lifecycle;
  readonly commands?: Commands;
}
