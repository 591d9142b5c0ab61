/** How a run can end. What a guest does is an outcome, a value; it is never thrown. */
export type OutcomeKind =
  | "succeeded"
  | "failed"
  | "trapped"
  | "out-of-fuel"
  | "out-of-memory"
  | "out-of-stack"
  | "past-deadline"
  | "over-budget"
  | "invalid-input"
  | "invalid-output"
  | "cancelled"
  | "lost"
  | "provider-failed"
  | "disconnected";

/** Every provider-neutral word for why something did not work. A word is never reused and never changes its meaning. */
export const FAILURE_CODES = [
  "provider_missing",
  "provider_unavailable",
  "command_not_allowed",
  "command_unsupported",
  "invalid_request",
  "invalid_capacity",
  "admission_rejected",
  "queue_full",
  "deadline_exceeded",
  "cancelled",
  "transport_disconnected",
  "provider_failed",
  "declined",
  "out_of_fuel",
  "out_of_memory",
  "out_of_stack",
  "over_budget",
  "output_invalid",
] as const;

/**
 * The provider-neutral word for why something did not work: of an outcome by `ENDINGS`, of an error by `CODES`. What is refused
 * before a run has started is thrown as a HostError that carries it; after that it stands in the terminal event.
 */
export type FailureCode = (typeof FAILURE_CODES)[number];

/** What the one table of endings says of an outcome. */
export interface Ending {
  /** The terminal event of the run. */
  readonly terminal: "complete" | "error" | "cancelled";
  /** Null only for `succeeded`. */
  readonly failure: FailureCode | null;
  /** HTTP status that a face over HTTP answers with. */
  readonly status: number;
  /** Exit code of the command line: 0 succeeded, 1 any other outcome. */
  readonly exit: 0 | 1;
  /** Whether the same request can end otherwise when repeated unchanged. `failed` carries the guest's own word. */
  readonly retry: boolean;
}

/** The one table of endings: every face and every room reads an outcome through it. */
export const ENDINGS: Readonly<Record<OutcomeKind, Ending>> = {
  succeeded: { terminal: "complete", failure: null, status: 200, exit: 0, retry: false },
  failed: { terminal: "error", failure: "declined", status: 422, exit: 1, retry: false },
  trapped: { terminal: "error", failure: "provider_failed", status: 502, exit: 1, retry: false },
  "out-of-fuel": { terminal: "error", failure: "out_of_fuel", status: 422, exit: 1, retry: false },
  "out-of-memory": { terminal: "error", failure: "out_of_memory", status: 422, exit: 1, retry: false },
  "out-of-stack": { terminal: "error", failure: "out_of_stack", status: 422, exit: 1, retry: false },
  "past-deadline": { terminal: "error", failure: "deadline_exceeded", status: 504, exit: 1, retry: true },
  "over-budget": { terminal: "error", failure: "over_budget", status: 422, exit: 1, retry: false },
  "invalid-input": { terminal: "error", failure: "invalid_request", status: 400, exit: 1, retry: false },
  "invalid-output": { terminal: "error", failure: "output_invalid", status: 502, exit: 1, retry: false },
  cancelled: { terminal: "cancelled", failure: "cancelled", status: 499, exit: 1, retry: true },
  lost: { terminal: "error", failure: "provider_failed", status: 503, exit: 1, retry: true },
  "provider-failed": { terminal: "error", failure: "provider_failed", status: 502, exit: 1, retry: true },
  disconnected: { terminal: "error", failure: "transport_disconnected", status: 502, exit: 1, retry: true },
};

/** Endings of runs in which no Wasm has a part. Every other kind has a guest that proves it. */
export const NATIVE_ENDINGS: ReadonlySet<string> = new Set<OutcomeKind>(["provider-failed", "disconnected"]);
