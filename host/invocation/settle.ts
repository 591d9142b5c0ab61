import { ConversionError } from "../component/component.ts";
import { assertNever, type ConnectorEvidence, messageOf } from "../errors/errors.ts";
import type { Limits } from "../manifest/manifest.ts";
import type { Reply } from "../pool/pool.ts";
import {
  type Evidence,
  type NestedRun,
  nativeUsage,
  type Outcome,
  type RunReport,
  type RunRequest,
} from "../providers/providers.ts";
import type { OperationPlan } from "./operations.ts";

/** What is known of a run besides the thread's reply. Times in milliseconds since the epoch. */
export interface RunFacts {
  readonly request: RunRequest;
  readonly providerId: string;
  readonly limits: Limits;
  readonly evidence: Evidence;
  readonly submittedAt: number;
  readonly startedAt: number | null;
  readonly enteredAt: number | null;
  /** Lower bounds. */
  readonly fuel: number;
  readonly hostCalls: number;
  /** Events that were heard of. */
  readonly events: number;
  readonly nested: readonly NestedRun[];
  readonly connectorCalls: readonly ConnectorEvidence[];
}

/** The outcome of a run to which its thread replied. */
export function outcomeOf(facts: RunFacts, plan: OperationPlan, reply: Reply, endedAt: number): Outcome {
  const outcome = fromReply(facts, plan, reply, endedAt);
  const { fuelProfile } = reply;
  const { nested, connectorCalls } = facts;
  if (fuelProfile === null && nested.length === 0 && connectorCalls.length === 0) return outcome;
  return {
    ...outcome,
    ...made(facts),
    ...(fuelProfile === null ? {} : { fuelProfile }),
  };
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

/** What is known of a run to which its thread did not reply: it counted, but cannot say any more. */
export function reportWithoutReply(facts: RunFacts, endedAt: number): RunReport {
  const { submittedAt, startedAt, enteredAt } = facts;
  return {
    usage: {
      ...nativeUsage(submittedAt, startedAt, endedAt),
      fuel: facts.fuel,
      fuelExact: false,
      hostCalls: facts.hostCalls,
      setupMs: startedAt === null ? 0 : (enteredAt ?? endedAt) - startedAt,
      guestMs: enteredAt === null ? 0 : endedAt - enteredAt,
    },
    limits: facts.limits,
    events: { accepted: facts.events, refused: 0 },
    evidence: facts.evidence,
    ...made(facts),
  };
}

/** What the run has made of others, where it has. */
function made({ nested, connectorCalls }: RunFacts): Pick<RunReport, "nested" | "connectorCalls"> {
  return {
    ...(nested.length === 0 ? {} : { nested: [...nested] }),
    ...(connectorCalls.length === 0 ? {} : { connectorCalls: [...connectorCalls] }),
  };
}

function conversionText(thrown: unknown): string {
  return thrown instanceof ConversionError ? `the output ${thrown.path} ${thrown.message}` : messageOf(thrown);
}
