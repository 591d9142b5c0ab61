import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { packCall, packReply, unpackCall, unpackReply } from "./packed.ts";
import type { Reply, WorkerEnding } from "./protocol.ts";

const ENDINGS: readonly WorkerEnding[] = [
  { kind: "succeeded", output: null },
  { kind: "succeeded", output: "{}" },
  { kind: "failed", failure: { code: "a" } },
  { kind: "trapped", phase: "guest", what: "unreachable" },
  { kind: "over-budget", limit: "handles" },
];

/** Each number is another one, so that none can stand in another's place. */
function reply(ending: WorkerEnding, numbers: readonly number[], said: boolean): Reply {
  const [fuel, setupFuel, peakMemoryBytes, hostCalls, hostBytesIn, hostBytesOut, logBytes, logDropped, randomBytes] =
    numbers as [number, number, number, number, number, number, number, number, number];
  const [accepted, refused, startedAt, setupMs, guestMs, hostMs] = numbers.slice(9) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  return {
    ending,
    usage: {
      fuel,
      setupFuel,
      fuelExact: said,
      peakMemoryBytes,
      hostCalls,
      hostBytesIn,
      hostBytesOut,
      logBytes,
      logDropped,
      randomBytes,
    },
    events: { accepted, refused },
    sayings: said ? [{ kind: "log", level: "info", message: "hello" }] : [],
    tier: "recycled",
    times: { startedAt, setupMs, guestMs, hostMs },
    fuelProfile: null,
  };
}

describe("packed", () => {
  it("unpackReply() gives what was packed, also once it was cloned", () => {
    const numbers = fc.uniqueArray(fc.double({ noNaN: true }), { minLength: 15, maxLength: 15 });
    fc.assert(
      fc.property(fc.constantFrom(...ENDINGS), numbers, fc.boolean(), (ending, values, said) => {
        const each = reply(ending, values, said);
        const packed = structuredClone(packReply(7, each));
        expect(packed[0]).toBe(7);
        expect(unpackReply(packed)).toEqual(each);
      }),
    );
  });

  it("unpackCall() gives what was packed, under the epoch", () => {
    const call = {
      deployment: "d",
      runId: "r",
      operation: "o",
      input: ["a", 1n],
      seedText: "s",
      limits: null,
      tier: "fresh",
      fuelInAll: 7,
    } as const;
    expect(unpackCall(structuredClone(packCall(call, 3)))).toEqual({ ...call, epoch: 3 });
  });
});
