import { afterEach, describe, expect, it } from "vitest";
import { tightLoop } from "../../bench/bench-packages.ts";
import { createHost, type Host } from "../../index.ts";
import { answeringDesk, workbench } from "./workbench.ts";

const ID = "test.workbench";
const SPIN = { operation: "spin", limits: { fuel: 50_000_000_000 } };
let host: Host;

async function open(threads: number): Promise<(x: number) => ReturnType<Host["run"]>> {
  host = await createHost({ threads, queue: 1_000, imports: answeringDesk });
  await host.install(await workbench());
  await Promise.all(Array.from({ length: threads }, () => host.run(ID, {}, { operation: "visits" }).outcome));
  return (x) => host.run(ID, { x, y: 1 }, { operation: "add" });
}

/** A run that is known to go round in circles. */
async function spinning(): Promise<ReturnType<Host["run"]>> {
  const run = host.run("bench.loop", {});
  for await (const { kind } of run) if (kind === "event") break;
  return run;
}

describe("a thread with several calls", () => {
  afterEach(() => host.close());

  it("loses none of those behind a run that is cancelled", async () => {
    const add = await open(1);
    for (let round = 0; round < 5; round++) {
      const loop = host.run(ID, {}, SPIN);
      const behind = Array.from({ length: 6 }, (_, x) => add(x));
      setTimeout(() => loop.cancel(), 5 * round);
      expect(await loop.outcome).toMatchObject({ kind: "cancelled" });
      const outputs = await Promise.all(behind.map(({ outcome }) => outcome));
      expect(outputs.map((outcome) => outcome.kind === "succeeded" && outcome.output)).toEqual([1, 2, 3, 4, 5, 6]);
    }
    expect(host.stats().pool).toMatchObject({ free: 1, waiting: 0 });
  });

  it("gives back one that has not begun, and the run before it goes on", async () => {
    const add = await open(1);
    await host.install(await tightLoop());
    const loop = await spinning();
    const [first, second] = [add(1), add(2)];
    first.cancel("not needed");
    expect(await first.outcome).toMatchObject({ kind: "cancelled", reason: "not needed", usage: { guestMs: 0 } });
    const started = await Promise.race([loop.outcome, second.outcome, new Promise((later) => setTimeout(later, 100))]);
    expect(started).toBeUndefined();
    loop.cancel();
    expect(await second.outcome).toMatchObject({ output: 3 });
  });

  it("hands what waits in front of it to a thread that has nothing to do", async () => {
    const add = await open(2);
    await host.install(await tightLoop());
    const loop = await spinning();
    const runs = Array.from({ length: 40 }, (_, x) => add(x));
    const outcomes = await Promise.all(runs.map(({ outcome }) => outcome));
    expect(outcomes.map((outcome) => outcome.kind === "succeeded" && outcome.output)).toEqual(
      runs.map((_, x) => x + 1),
    );
    expect(host.stats().pool).toMatchObject({ free: 1, waiting: 0 });
    loop.cancel();
    await loop.outcome;
  });

  it("whatever is cancelled when, each run ends once, and no other run with it", async () => {
    const add = await open(2);
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * below);
    };
    const runs: Promise<void>[] = [];
    for (let each = 0; each < 300; each++) {
      const kind = random(10);
      if (kind === 0) {
        const loop = host.run(ID, {}, SPIN);
        setTimeout(() => loop.cancel(), random(8));
        runs.push(loop.outcome.then((outcome) => expect(outcome.kind).toBe("cancelled")));
      } else if (kind < 4) {
        const cancelled = add(each);
        setTimeout(() => cancelled.cancel(), random(4));
        runs.push(cancelled.outcome.then((outcome) => expect(outcome.kind).toMatch(/^(succeeded|cancelled)$/)));
      } else if (kind === 4) {
        runs.push(
          host.run(ID, {}, { operation: "trap" }).outcome.then((outcome) => expect(outcome.kind).toBe("trapped")),
        );
      } else {
        runs.push(add(each).outcome.then((outcome) => expect(outcome).toMatchObject({ output: each + 1 })));
      }
      if (random(5) === 0) await new Promise((turn) => setTimeout(turn, random(6)));
    }
    await Promise.all(runs);
    expect(host.stats()).toMatchObject({ runsInFlight: 0, pool: { free: 2, waiting: 0 } });
  });
});
