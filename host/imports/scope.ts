import type { EventGate } from "../events/events.ts";
import type { Limits } from "../manifest/manifest.ts";

/** How an import can end a run. The pool knows more endings; an import can only cause these. */
export type ImportEnding =
  | {
      readonly kind: "over-budget";
      readonly limit: "hostCalls" | "hostBytesIn" | "hostBytesOut" | "randomBytes" | "handles" | "outputBytes";
    }
  /** A core module is done before its entry has returned: what it wrote is its output, JSON text if it is well formed. */
  | { readonly kind: "succeeded"; readonly output: string }
  | { readonly kind: "invalid-output"; readonly what: string }
  | { readonly kind: "failed"; readonly failure: ExitFailure }
  | { readonly kind: "trapped"; readonly what: string };

/** What a core module that exits with a status other than zero has said with it. */
export interface ExitFailure {
  readonly code: "exit-status";
  readonly message: string;
  readonly retryable: false;
}

/** The answer of the main thread to a host call. */
export type HostAnswer =
  | { readonly kind: "value"; readonly value: unknown }
  /** The function's own error, for a function whose WIT result is a `result`. */
  | { readonly kind: "error"; readonly value: unknown }
  /** The function could not be carried out. */
  | { readonly kind: "broken"; readonly message: string };

/** Which request the guest is working on. */
export interface InvocationFacts {
  readonly runId: string;
  readonly capabilityId: string;
  readonly capabilityVersion: string;
  readonly operation: string;
}

/** What an import may count. `handles` is what is open now, the rest are totals. */
export interface ImportCounters {
  hostCalls: number;
  hostBytesIn: number;
  hostBytesOut: number;
  logBytes: number;
  logDropped: number;
  randomBytes: number;
  handles: number;
}

/** What the guest's side of an interface sees of the run that it serves. */
export interface ImportScope {
  readonly invocation: InvocationFacts;
  /** The request's input as JSON text; empty for an operation that takes values. */
  readonly input: string;
  readonly limits: Limits;
  readonly counters: ImportCounters;
  readonly events: EventGate;
  /** Seed of everything that looks random: 32 bytes from the digests of component and input. */
  readonly seed: Uint8Array;
  /** The one directory that the guest may read, by its absolute path; null when it was granted none. */
  readonly filesystem: { readonly root: string } | null;
  /** Units of fuel that are left, and that the run began with. */
  fuelLeft(): bigint;
  fuelAtStart(): bigint;
  /** Bytes that the guest's memories may grow by. */
  memoryLeft(): number;
  /** Takes what a nested run has used; from one that is not exact on, this run's fuel is a lower bound. */
  chargeNested(units: number, isExact: boolean): void;
  /** Takes units of fuel; ends the run when they are not there. */
  charge(units: number): void;
  /** Records how the run ends and leaves the guest. */
  stop(ending: ImportEnding): never;
  /** Hands an accepted event, as the gate gave it, or a line, to the main thread. */
  publish(json: string): void;
  log(level: string, message: string): void;
  /** Asks the main thread and waits. */
  askHost(interfaceName: string, functionName: string, args: readonly unknown[]): HostAnswer;
  /** Remembers what is to be done when the guest has stopped for good, while lines can still be logged. */
  atEnd(finish: () => void): void;
  /** Called around every imported function: refuses it where the guest may not leave. */
  enter(name: string): void;
  leave(): void;
}

/** Functions and resource classes of one interface, by their JavaScript names. */
export type ImportedInterface = Record<string, unknown>;
