import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DeclinedError } from "./function-provider.ts";
import type { FunctionContext } from "./function-run.ts";
import { NativeExecutor, type NativeFunction, type NativeManifestInput } from "./native-executor.ts";
import type { ProviderRun } from "./provider-run.ts";
import { ProviderRuns } from "./provider-runs.ts";
import { TestClock } from "./test-clock.ts";
import { kindOf, requestFor, settled } from "./test-requests.ts";

/** Capabilities that share the executor, so that what is bounded is their sum. */
const NAMES = ["a", "b", "c"];

function manifest(id: string): NativeManifestInput {
  const operations = [{ name: "call", input: true, output: { type: "string" } }];
  const emits = [{ type: "row", version: "1.0.0", schema: { type: "integer" } }];
  return { id, version: "1.0.0", artifactType: "native", serviceType: "subscribable", emits, operations };
}

async function bench(capacity: number, call: NativeFunction) {
  const clock = new TestClock();
  const runs = new ProviderRuns({ clock });
  const executor = new NativeExecutor(runs, { capacity, queue: 100_000 }, { clock });
  let active = 0;
  let most = 0;
  const counted: NativeFunction = async (input, context) => {
    // Who holds a slot: not a function that nobody waits for any more.
    let left = false;
    const leave = (): void => {
      if (!left) active--;
      left = true;
    };
    context.signal.addEventListener("abort", leave, { once: true });
    most = Math.max(most, ++active);
    try {
      return await call(input, context);
    } finally {
      leave();
    }
  };
  for (const name of NAMES) await executor.install(manifest(name), counted);
  let count = 0;
  const start = (input: unknown): ProviderRun => {
    const providerId = `${NAMES[count % NAMES.length]}@1.0.0`;
    return runs.start(requestFor(providerId, { runId: `r${count++}`, input }));
  };
  const idle = (): void => {
    expect(executor.stats()).toMatchObject({ inUse: 0, waiting: 0, releasedAgain: 0 });
    expect(runs.stats()).toMatchObject({ inFlight: 0 });
    expect(clock.alarms).toBe(0);
    expect(most).toBeLessThanOrEqual(capacity);
  };
  return { clock, runs, executor, start, idle, most: () => most };
}

async function endings(runs: readonly ProviderRun[]): Promise<Record<string, number>> {
  const kinds: Record<string, number> = {};
  for (const { outcome } of runs) {
    const kind = kindOf(await outcome);
    kinds[kind] = (kinds[kind] ?? 0) + 1;
  }
  return kinds;
}

const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a native executor under load", () => {
  it("carries out a burst of 50 on capacity 8: never more than 8 at once, and all end", async () => {
    const { start, idle, most, executor } = await bench(8, async () => {
      await later();
      return "done";
    });
    const runs = Array.from({ length: 50 }, (_, index) => start(index));
    expect(executor.stats()).toMatchObject({ inUse: 8, waiting: 42 });
    expect(await endings(runs)).toEqual({ succeeded: 50 });
    expect(most()).toBe(8);
    idle();
  });

  it("carries out 10,000 in sequence", async () => {
    const { start, idle, most, executor } = await bench(8, (input) => String(input));
    for (let index = 0; index < 10_000; index++) {
      const outcome = await start(index).outcome;
      if (outcome.kind !== "succeeded" || outcome.output !== String(index)) expect(outcome).toBe(index);
    }
    expect(executor.stats().granted).toBe(10_000);
    expect(most()).toBe(1);
    idle();
  });

  it("ends 1,000 of which half throw as 500 and 500", async () => {
    const { start, idle } = await bench(8, async (input) => {
      if ((input as number) % 4 === 1) await later();
      if ((input as number) % 2 === 1) throw new Error("odd");
      return "even";
    });
    const runs = Array.from({ length: 1_000 }, (_, index) => start(index));
    expect(await endings(runs)).toEqual({ succeeded: 500, "provider-failed": 500 });
    idle();
  });

  it("does not deadlock with capacity 1, whatever holds the slot", async () => {
    const { start, idle, most, clock } = await bench(1, (input, { signal }) => {
      if (input === "stuck") return new Promise(() => {});
      if (input === "obeys") return new Promise((_, reject) => signal.addEventListener("abort", reject));
      if (input === "throws") throw new Error("no");
      return "fine";
    });
    const runs = ["fine", "throws", "stuck", "fine", "obeys", "throws", "fine"].map((input) => start(input));
    for (let left = 3; left > 0; left--) {
      await settled();
      clock.pass(10_000);
    }
    expect(await endings(runs)).toEqual({ succeeded: 3, "provider-failed": 2, "past-deadline": 2 });
    expect(most()).toBe(1);
    idle();
  });
});

/** What a function may do, and how its run then ends; null where the test cancels it. */
const BEHAVIOURS = {
  returns: "succeeded",
  awaits: "succeeded",
  emits: "succeeded",
  throws: "provider-failed",
  rejects: "provider-failed",
  "throws nothing": "provider-failed",
  declines: "failed",
  "is of the wrong type": "invalid-output",
  "emits what is not declared": "invalid-output",
  "emits what does not fit": "invalid-output",
  "emits too much": "over-budget",
  hangs: "past-deadline",
  "is cancelled": "cancelled",
} as const;

type Behaviour = keyof typeof BEHAVIOURS;

async function behave(behaviour: Behaviour, { event, signal }: FunctionContext): Promise<unknown> {
  const row = { type: "row", version: "1.0.0", payload: 1 };
  if (behaviour === "throws") throw new Error("no");
  if (behaviour === "declines") throw new DeclinedError("no", "no");
  if (behaviour === "throws nothing") throw undefined;
  if (behaviour === "is of the wrong type") return 7;
  if (behaviour === "hangs") await new Promise(() => {});
  if (behaviour === "is cancelled") await new Promise((resolve) => signal.addEventListener("abort", resolve));
  if (behaviour.startsWith("emits")) event(row);
  if (behaviour === "emits what is not declared") event({ ...row, type: "col" });
  if (behaviour === "emits what does not fit") event({ ...row, payload: "x" });
  if (behaviour === "emits too much") for (let index = 0; index < 1_001; index++) event(row);
  if (behaviour !== "returns") await later();
  if (behaviour === "rejects") return Promise.reject(new Error("no"));
  return "fine";
}

describe("any mix of native runs", () => {
  it("ends each as its function decides, with no more at once than the capacity, and leaves every slot free", async () => {
    const mix = fc.array(fc.constantFrom(...(Object.keys(BEHAVIOURS) as Behaviour[])), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 9 }), mix, async (capacity, behaviours) => {
        const {
          start,
          idle,
          clock,
          runs: all,
        } = await bench(capacity, (input, context) => behave(input as Behaviour, context));
        const runs = behaviours.map((behaviour) => ({ behaviour, run: start(behaviour) }));
        for (const { behaviour, run } of runs) if (behaviour === "is cancelled") run.cancel();
        while (all.stats().inFlight > 0) {
          const before = all.stats().inFlight;
          for (let turn = 0; turn < 5; turn++) await settled();
          // Time passes only when all that is left waits for it.
          if (all.stats().inFlight === before) clock.pass(10_000);
        }
        const ended = await Promise.all(runs.map(async ({ run }) => kindOf(await run.outcome)));
        expect(ended).toEqual(behaviours.map((behaviour) => BEHAVIOURS[behaviour]));
        for (const { behaviour, run } of runs) expect(run.capabilityEvents).toHaveLength(behaviour === "emits" ? 1 : 0);
        idle();
        expect(await start("returns").outcome).toMatchObject({ kind: "succeeded" });
      }),
      { numRuns: 200 },
    );
  });
});
