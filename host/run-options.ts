import { randomUUID } from "node:crypto";
import { HostError, quote } from "./errors/errors.ts";
import { type Limits, parseLimits } from "./manifest/manifest.ts";
import { type Provider, type RunRequest, SYSTEM_CLOCK } from "./providers/providers.ts";

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
  /** Says to whoever asked what belongs together; it stands in the outcome, and means nothing to the host. */
  readonly sessionId?: string;
  /** Of the runs that wait the highest is served first. A whole number, default 0. */
  readonly priority?: number;
  /** Asks for memories of its own, whatever the host's tier. Nothing but the time it takes can differ. */
  readonly tier?: "fresh";
}

/** The request that the options mean. `provider` is null for a pool. Throws AIRLOCK_INVOCATION_*. */
export function runRequest(id: string, provider: Provider | null, input: unknown, options: RunOptions): RunRequest {
  const { runId = randomUUID(), deadlineMs, sessionId } = options;
  if (deadlineMs !== undefined && !(Number.isFinite(deadlineMs) && deadlineMs > 0)) {
    throw wrong("deadlineMs", deadlineMs, "a number of milliseconds above 0");
  }
  if (options.tier !== undefined && options.tier !== "fresh") throw wrong("tier", options.tier, '"fresh", or none');
  const operation = options.operation ?? onlyOf(provider?.operations);
  if (operation === undefined) {
    throw wrong("operation", undefined, wantedOf(provider));
  }
  return {
    runId,
    ...(sessionId === undefined ? {} : { sessionId }),
    providerId: provider?.id ?? id,
    operation,
    input,
    fresh: options.tier === "fresh",
    limits: parseLimits(options.limits ?? {}, "limits", "AIRLOCK_INVOCATION_REQUEST_INVALID"),
    // By the clock that watches it: `Date.now` goes its own way when the machine sleeps, or its clock is set.
    deadline: deadlineMs === undefined ? null : SYSTEM_CLOCK.now() + deadlineMs,
  };
}

function wantedOf(provider: Provider | null): string {
  if (provider === null) return "for a pool the name of an operation";
  return `one of ${provider.operations?.join(", ") ?? "the provider's operations"}`;
}

function onlyOf(operations: readonly string[] | undefined): string | undefined {
  return operations?.length === 1 ? operations[0] : undefined;
}

function wrong(field: string, value: unknown, wanted: string): HostError {
  const shown = typeof value === "string" ? quote(value) : String(value);
  return new HostError(
    "AIRLOCK_INVOCATION_REQUEST_INVALID",
    `Cannot start the run: ${field} is ${shown}, ${wanted} is wanted`,
  );
}
