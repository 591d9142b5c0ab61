import { randomUUID } from "node:crypto";
import { HostError, quote } from "./errors/errors.ts";
import type { ComponentProvider } from "./invocation/invocation.ts";
import { type Limits, parseLimits } from "./manifest/manifest.ts";
import type { RunRequest } from "./providers/providers.ts";

/** How a run may be asked for. */
export interface RunOptions {
  /** Which operation; may be left out when the capability has one. */
  readonly operation?: string;
  /** Lowers limits for this run. */
  readonly limits?: Partial<Limits>;
  /** Cancels the run. */
  readonly signal?: AbortSignal;
  /** Names the run; default: a new UUID. */
  readonly runId?: string;
  /** Milliseconds from now on: queue, guest and host calls included. */
  readonly deadlineMs?: number;
  /** Asks for memories of its own, whatever the host's tier. Nothing but the time it takes can differ. */
  readonly tier?: "fresh";
}

/** The request that the options mean. Throws AIRLOCK_INVOCATION_*. */
export function runRequest(
  provider: ComponentProvider,
  input: unknown,
  options: RunOptions,
  inFlight: ReadonlyMap<string, unknown>,
): RunRequest {
  const { runId = randomUUID(), deadlineMs } = options;
  if (typeof runId !== "string" || runId === "" || runId.length > 256) {
    throw wrong("runId", runId, "a string of 1 to 256 characters");
  }
  if (inFlight.has(runId)) {
    throw new HostError("AIRLOCK_INVOCATION_RUN_ID_TAKEN", `Cannot start the run: a run ${quote(runId)} is in flight`);
  }
  if (deadlineMs !== undefined && !(Number.isFinite(deadlineMs) && deadlineMs > 0)) {
    throw wrong("deadlineMs", deadlineMs, "a number of milliseconds above 0");
  }
  if (options.tier !== undefined && options.tier !== "fresh") throw wrong("tier", options.tier, '"fresh", or none');
  const operation = options.operation ?? provider.defaultOperation;
  if (operation === null) throw wrong("operation", undefined, `one of ${provider.operations.join(", ")}`);
  return {
    runId,
    providerId: provider.id,
    operation,
    input,
    fresh: options.tier === "fresh",
    limits: parseLimits(options.limits ?? {}, "limits", "AIRLOCK_INVOCATION_REQUEST_INVALID"),
    deadline: deadlineMs === undefined ? null : Date.now() + deadlineMs,
  };
}

function wrong(field: string, value: unknown, wanted: string): HostError {
  const shown = typeof value === "string" ? quote(value) : String(value);
  return new HostError(
    "AIRLOCK_INVOCATION_REQUEST_INVALID",
    `Cannot start the run: ${field} is ${shown}, ${wanted} is wanted`,
  );
}
