import { assertNever, isHostError, messageOf } from "../errors/errors.ts";
import type { InvokeAnswer } from "../imports/imports.ts";
import type { Outcome, RunBudget } from "../providers/providers.ts";

/** The result of a call, as the guest gets it. */
export type InvokeResult = InvokeAnswer["result"];

/** Why a call got no answer, as the guest gets it. */
export type InvokeError = Extract<InvokeResult, { readonly tag: "err" }>["val"];

/** What the outcome of a nested run is to the guest that asked for it. `budget`: what that guest had left. */
export function resultOf(outcome: Outcome, budget: RunBudget): InvokeResult {
  if (outcome.kind === "succeeded") return { tag: "ok", val: JSON.stringify(outcome.output) };
  return { tag: "err", val: errorOf(outcome, budget) };
}

/** What a refusal before the start is to the guest. Its text names the callee, which the guest knows, and no other. */
export function refusalOf(thrown: unknown): InvokeError {
  if (isHostError(thrown)) {
    const val = messageOf(thrown);
    if (thrown.code === "AIRLOCK_INVOCATION_OPERATION_UNKNOWN") return { tag: "unknown-operation", val };
    if (thrown.failure === "invalid_request") return { tag: "invalid-input", val };
    if (thrown.failure === "queue_full" || thrown.failure === "provider_unavailable")
      return { tag: "unavailable", val };
  }
  return ended("provider-failed", PROVIDER_FAILED);
}

/** The text of an error of the application may hold its secrets: it is in the outcome, not in the guest. */
const PROVIDER_FAILED = "the provider failed";

function errorOf(outcome: Exclude<Outcome, { readonly kind: "succeeded" }>, budget: RunBudget): InvokeError {
  const { kind } = outcome;
  switch (kind) {
    case "failed": {
      const { code, message, retryable, detail } = outcome.failure;
      const text = detail === undefined ? undefined : JSON.stringify(detail);
      return { tag: "declined", val: { code, message, retryable, ...(text === undefined ? {} : { detail: text }) } };
    }
    case "invalid-input":
      return { tag: "invalid-input", val: outcome.message };
    case "out-of-fuel":
      if (fuelOf(outcome) >= budget.fuel) return { tag: "out-of-budget", val: "fuel" };
      return ended(kind, `limit ${outcome.limit}`);
    case "out-of-memory":
      if (outcome.limit === "memoryBytes" && outcome.limits.memoryBytes >= budget.memoryBytes) {
        return { tag: "out-of-budget", val: "memory" };
      }
      return ended(kind, `limit ${outcome.limit}`);
    case "past-deadline":
      // The only deadline of a nested run is its caller's.
      if (outcome.limit === "deadlineMs") return { tag: "out-of-budget", val: "time" };
      return ended(kind, `limit ${outcome.limit}`);
    case "out-of-stack":
    case "over-budget":
      return ended(kind, `limit ${outcome.limit}`);
    case "trapped":
      return ended(kind, outcome.trap.message);
    case "cancelled":
      return ended(kind, outcome.reason);
    case "provider-failed":
      return ended(kind, PROVIDER_FAILED);
    case "invalid-output":
    case "lost":
    case "disconnected":
      return ended(kind, outcome.message);
    default:
      return assertNever(kind);
  }
}

/** What a caller is charged for a run. */
export function fuelOf({ usage }: Pick<Outcome, "usage">): number {
  return usage.fuel + usage.setupFuel;
}

function ended(kind: string, message: string): InvokeError {
  return { tag: "ended", val: { kind, message } };
}
