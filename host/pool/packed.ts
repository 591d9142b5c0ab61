import type { HostAnswer } from "../imports/imports.ts";
import type { Limits } from "../manifest/manifest.ts";
import type { FuelProfile } from "../meter/meter.ts";
import type { Call, Reply, Saying, Tier, WorkerEnding } from "./protocol.ts";

/** A call as it crosses to the thread. A flat array crosses four times as fast as the object that it stands for. */
export type PackedCall = readonly [
  epoch: number,
  deployment: string,
  runId: string,
  operation: string,
  input: string | readonly unknown[],
  seedText: string | null,
  limits: Limits | null,
  tier: Tier,
  fuelInAll: number | null,
];

/** A reply as it crosses back. */
export type PackedReply = readonly [
  epoch: number,
  /** Null: succeeded. */
  ending: WorkerEnding | null,
  output: unknown,
  fuel: number,
  setupFuel: number,
  fuelExact: boolean,
  peakMemoryBytes: number,
  hostCalls: number,
  hostBytesIn: number,
  hostBytesOut: number,
  logBytes: number,
  logDropped: number,
  randomBytes: number,
  accepted: number,
  refused: number,
  sayings: readonly Saying[] | null,
  tier: Tier,
  startedAt: number,
  setupMs: number,
  guestMs: number,
  hostMs: number,
  fuelProfile: FuelProfile | null,
];

/** A call of a guest to a function of the embedding application. */
export type PackedQuestion = readonly [
  kind: "host-call",
  epoch: number,
  ordinal: number,
  interfaceName: string,
  functionName: string,
  args: readonly unknown[],
  fuel: number,
];

/** The answer to it: the value, or the message of one that is `broken`. */
export type PackedAnswer = readonly [epoch: number, ordinal: number, kind: HostAnswer["kind"], value: unknown];

export function packAnswer(epoch: number, ordinal: number, answer: HostAnswer): PackedAnswer {
  return [epoch, ordinal, answer.kind, answer.kind === "broken" ? answer.message : answer.value];
}

export function unpackAnswer([, , kind, value]: PackedAnswer): HostAnswer {
  return kind === "broken" ? { kind, message: value as string } : { kind, value };
}

/** The call as run `epoch` of a thread. */
export function packCall(call: Omit<Call, "epoch">, epoch: number): PackedCall {
  const { deployment, runId, operation, input, seedText, limits, tier, fuelInAll } = call;
  return [epoch, deployment, runId, operation, input, seedText, limits, tier, fuelInAll];
}

export function unpackCall(packed: PackedCall): Call {
  const [epoch, deployment, runId, operation, input, seedText, limits, tier, fuelInAll] = packed;
  return { epoch, deployment, runId, operation, input, seedText, limits, tier, fuelInAll };
}

export function packReply(epoch: number, reply: Reply): PackedReply {
  const { ending, usage, events, sayings, tier, times, fuelProfile } = reply;
  const succeeded = ending.kind === "succeeded";
  return [
    epoch,
    succeeded ? null : ending,
    succeeded ? ending.output : null,
    usage.fuel,
    usage.setupFuel,
    usage.fuelExact,
    usage.peakMemoryBytes,
    usage.hostCalls,
    usage.hostBytesIn,
    usage.hostBytesOut,
    usage.logBytes,
    usage.logDropped,
    usage.randomBytes,
    events.accepted,
    events.refused,
    sayings.length === 0 ? null : sayings,
    tier,
    times.startedAt,
    times.setupMs,
    times.guestMs,
    times.hostMs,
    fuelProfile,
  ];
}

export function unpackReply(packed: PackedReply): Reply {
  return {
    ending: packed[1] ?? { kind: "succeeded", output: packed[2] },
    usage: {
      fuel: packed[3],
      setupFuel: packed[4],
      fuelExact: packed[5],
      peakMemoryBytes: packed[6],
      hostCalls: packed[7],
      hostBytesIn: packed[8],
      hostBytesOut: packed[9],
      logBytes: packed[10],
      logDropped: packed[11],
      randomBytes: packed[12],
    },
    events: { accepted: packed[13], refused: packed[14] },
    sayings: packed[15] ?? [],
    tier: packed[16],
    times: { startedAt: packed[17], setupMs: packed[18], guestMs: packed[19], hostMs: packed[20] },
    fuelProfile: packed[21],
  };
}
