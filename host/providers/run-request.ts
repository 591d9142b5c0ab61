import { HostError, quote } from "../errors/errors.ts";
import type { RunRequest } from "./provider.ts";

const LONGEST_ID = 256;

/** Checks what any provider wants of a request. Throws AIRLOCK_INVOCATION_REQUEST_INVALID. */
export function checkRunRequest({ runId, sessionId, providerId, operation, deadline }: RunRequest): void {
  checkRunId(runId, "start the run");
  if (sessionId !== undefined && typeof sessionId !== "string")
    throw wrong("sessionId", sessionId, "a string, or none");
  if (typeof providerId !== "string") throw wrong("providerId", providerId, "the id of a provider or a pool");
  if (typeof operation !== "string") throw wrong("operation", operation, "the name of an operation");
  if (deadline !== null && !Number.isFinite(deadline)) {
    throw wrong("deadline", deadline, "a time in milliseconds since the epoch, or null");
  }
}

/** Throws AIRLOCK_INVOCATION_REQUEST_INVALID: nothing but a non-empty string names a run. */
export function checkRunId(runId: unknown, action: string): asserts runId is string {
  if (typeof runId === "string" && runId !== "" && runId.length <= LONGEST_ID) return;
  throw wrong("runId", runId, `a string of 1 to ${LONGEST_ID} characters`, action);
}

/** Throws AIRLOCK_INVOCATION_REQUEST_INVALID. */
export function checkPriority(priority: number): void {
  if (!Number.isSafeInteger(priority)) throw wrong("priority", priority, "a whole number");
}

function wrong(field: string, value: unknown, wanted: string, action = "start the run"): HostError {
  const shown = typeof value === "string" ? quote(value, 40) : typeof value === "object" ? "an object" : String(value);
  const text = value === null ? "null" : shown;
  return new HostError(
    "AIRLOCK_INVOCATION_REQUEST_INVALID",
    `Cannot ${action}: ${field} is ${text}, ${wanted} is wanted`,
  );
}
