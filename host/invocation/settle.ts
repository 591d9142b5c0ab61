import { ConversionError } from "../component/component.ts";
import { assertNever, messageOf } from "../errors/errors.ts";
import type { Limits } from "../manifest/manifest.ts";
import type { PoolAnswer, Reply } from "../pool/pool.ts";
import type { Evidence, Outcome, RunPhase, RunRequest, Usage } from "../providers/providers.ts";
import type { OperationPlan } from "./operations.ts";
import type { StopCause } from "./stop.ts";

/** What is known of a run besides the thread's reply. Times in milliseconds since the epoch. */
export interface RunFacts {
  readonly request: RunRequest;
  readonly providerId: string;
  readonly limits: Limits;
  readonly evidence: Evidence;
  readonly submittedAt: number;
  readonly phase: RunPhase;
  readonly startedAt: number | null;
  readonly enteredAt: number | null;
  /** Lower bounds. */
  readonly fuel: number;
  readonly hostCalls: number;
  /** Events that were heard of. */
  readonly events: number;
}

/** The outcome of a run, whatever happened to it. */
export function settle(facts: RunFacts, plan: OperationPlan, answer: PoolAnswer, cause: StopCause | null): Outcome {
  const endedAt = performance.timeOrigin + performance.now();
  if (answer.kind === "replied") {
    const outcome = fromReply(facts, plan, answer.reply, endedAt);
    const { fuelProfile } = answer.reply;
    return fuelProfile === null ? outcome : { ...outcome, fuelProfile };
  }
  const common = {
    ...identity(facts),
    usage: usageWithoutReply(facts, endedAt),
    events: { accepted: facts.events, refused: 0 },
  };
  if (answer.kind === "lost") return { ...common, kind: "lost", message: answer.what };
  if (cause?.kind === "past-deadline")
    return { ...common, kind: "past-deadline", phase: facts.phase, limit: cause.limit };
  return { ...common, kind: "cancelled", reason: cause?.reason ?? "cancelled" };
}

function fromReply(facts: RunFacts, plan: OperationPlan, reply: Reply, endedAt: number): Outcome {
  const { ending, usage, times, tier, events } = reply;
  const { runId, operation } = facts.request;
  const { componentSha256, scheduleId } = facts.evidence;
  // Field by field: this runs for every run, and copies by spread take ten times as long.
  const common = {
    runId,
    providerId: facts.providerId,
    operation,
    limits: facts.limits,
    evidence: { componentSha256, scheduleId, tier },
    usage: {
      fuel: usage.fuel,
      setupFuel: usage.setupFuel,
      fuelExact: usage.fuelExact,
      peakMemoryBytes: usage.peakMemoryBytes,
      hostCalls: usage.hostCalls,
      hostBytesIn: usage.hostBytesIn,
      hostBytesOut: usage.hostBytesOut,
      logBytes: usage.logBytes,
      logDropped: usage.logDropped,
      randomBytes: usage.randomBytes,
      queueMs: times.startedAt - facts.submittedAt,
      setupMs: times.setupMs,
      guestMs: times.guestMs,
      hostMs: times.hostMs,
      totalMs: endedAt - facts.submittedAt,
    },
    events,
  };
  switch (ending.kind) {
    case "succeeded":
      try {
        return { ...common, kind: "succeeded", output: plan.fromGuest(ending.output) };
      } catch (thrown) {
        return { ...common, kind: "invalid-output", message: conversionText(thrown) };
      }
    case "failed":
      try {
        return { ...common, kind: "failed", failure: plan.failureOf(ending.failure) };
      } catch (thrown) {
        return { ...common, kind: "invalid-output", message: conversionText(thrown) };
      }
    case "trapped":
      return { ...common, kind: "trapped", trap: { phase: ending.phase, message: ending.what } };
    case "out-of-fuel":
      return {
        ...common,
        kind: "out-of-fuel",
        phase: ending.phase,
        limit: ending.phase === "setup" ? "setupFuel" : "fuel",
      };
    case "out-of-memory":
    case "out-of-stack":
    case "over-budget":
      return { ...common, ...ending } as Outcome;
    case "invalid-input":
    case "invalid-output":
    case "lost":
      return { ...common, kind: ending.kind, message: ending.what };
    default:
      return assertNever(ending);
  }
}

function identity(facts: RunFacts): Pick<Outcome, "runId" | "providerId" | "operation" | "limits" | "evidence"> {
  const { runId, operation } = facts.request;
  return { runId, providerId: facts.providerId, operation, limits: facts.limits, evidence: facts.evidence };
}

/** A run that was cut off: the thread counted, but cannot say any more. */
function usageWithoutReply(facts: RunFacts, endedAt: number): Usage {
  const { submittedAt, startedAt, enteredAt } = facts;
  return {
    fuel: facts.fuel,
    setupFuel: 0,
    fuelExact: false,
    peakMemoryBytes: 0,
    hostCalls: facts.hostCalls,
    hostBytesIn: 0,
    hostBytesOut: 0,
    logBytes: 0,
    logDropped: 0,
    randomBytes: 0,
    queueMs: (startedAt ?? endedAt) - submittedAt,
    setupMs: startedAt === null ? 0 : (enteredAt ?? endedAt) - startedAt,
    guestMs: enteredAt === null ? 0 : endedAt - enteredAt,
    hostMs: 0,
    totalMs: endedAt - submittedAt,
  };
}

function conversionText(thrown: unknown): string {
  return thrown instanceof ConversionError ? `the output ${thrown.path} ${thrown.message}` : messageOf(thrown);
}
