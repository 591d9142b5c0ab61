import fc from "fast-check";
import { expect, it } from "vitest";
import { ENDINGS, isHostError, type OutcomeKind } from "../errors/errors.ts";
import type { RunEvent } from "./provider.ts";
import type { ProviderRun } from "./provider-run.ts";
import { ProviderRuns } from "./provider-runs.ts";
import { TestClock } from "./test-clock.ts";
import { type HeldCall, HeldProvider, requestFor, settled } from "./test-requests.ts";

const PROVIDERS = ["a@1.0.0", "b@1.0.0", "c@1.0.0", "alone@1.0.0"];
const CAPACITY = { pool: 7, alone: 3 };

/** The same numbers on every run of the test: mulberry32. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

it("20,000 runs with random cancels, deadlines, disconnects and crashes end once each and leave no slot in use", async () => {
  const { seen, refused, lateEndings } = await soak(20_261_129, 20_000);
  // The schedule is worth something only where everything happens often.
  for (const kind of ["succeeded", "failed", "cancelled", "past-deadline", "disconnected", "provider-failed", "lost"]) {
    expect(seen[kind], kind).toBeGreaterThan(100);
  }
  expect(refused["queue_full"]).toBeGreaterThan(100);
  expect(refused["provider_unavailable"]).toBeGreaterThan(100);
  expect(lateEndings).toBeGreaterThan(100);
});

it("any schedule of arrivals, ends, cancels, deadlines and disconnects ends every run once and leaves no slot in use", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer(),
      fc.integer({ min: 1, max: 60 }),
      async (seed, count) => void (await soak(seed, count)),
    ),
    { numRuns: 100 },
  );
});

interface Soaked {
  /** Terminal events by the kind of their outcome. */
  readonly seen: Readonly<Record<string, number>>;
  /** Refusals by their failure. */
  readonly refused: Readonly<Record<string, number>>;
  readonly lateEndings: number;
}

/** Starts `count` runs on a schedule that the seed decides, and checks what holds for every schedule. */
async function soak(seed: number, count: number): Promise<Soaked> {
  const random = randomFrom(seed);
  const below = (bound: number): number => Math.floor(random() * bound);
  const clock = new TestClock();
  const runs = new ProviderRuns({ clock });
  const calls = new Set<HeldCall>();
  const crashing = (call: HeldCall): void => {
    calls.add(call);
    if (random() < 0.02) throw new Error("crashed at once");
  };
  runs.addPool("pool", {
    candidates: [
      { providerId: "a@1.0.0", capacity: 4, priority: 1 },
      { providerId: "b@1.0.0", capacity: 2, priority: 1 },
      { providerId: "c@1.0.0", capacity: 1 },
    ],
    queue: 20,
  });
  for (const id of PROVIDERS) {
    const provider = new HeldProvider(id, crashing);
    await runs.add(provider, id === "alone@1.0.0" ? { capacity: CAPACITY.alone, queue: 10 } : undefined);
  }
  const inFlight = new Set<ProviderRun>();
  const refused: Record<string, number> = {};
  const terminals = new Map<string, number>();
  const seen: Record<string, number> = {};
  let started = 0;

  function start(): void {
    const runId = `run-${started}`;
    const deadline = random() < 0.3 ? clock.now() + below(40) : null;
    const abort = random() < 0.2 ? new AbortController() : null;
    const named = random() < 0.5 ? "pool" : PROVIDERS[below(PROVIDERS.length)]!;
    let over = false;
    const sink = (event: RunEvent): void => {
      // What comes after the terminal event would be an order that is not the order of emission.
      expect(over).toBe(false);
      if ("outcome" in event) {
        over = true;
        terminals.set(runId, (terminals.get(runId) ?? 0) + 1);
        seen[event.outcome.kind] = (seen[event.outcome.kind] ?? 0) + 1;
        inFlight.delete(run as ProviderRun);
      } else if (random() < 0.01) {
        run?.cancel("from inside an event");
      }
    };
    let run: ProviderRun | null = null;
    try {
      run = runs.start(requestFor(named, { runId, deadline, sessionId: "one for all" }), {
        priority: below(3) - 1,
        sink,
        ...(abort === null ? {} : { signal: abort.signal }),
      });
    } catch (error) {
      expect(isHostError(error)).toBe(true);
      const { failure } = error as { failure: string };
      expect(["queue_full", "provider_unavailable"]).toContain(failure);
      refused[failure] = (refused[failure] ?? 0) + 1;
      return;
    }
    started++;
    if (run.terminal === null) inFlight.add(run);
    if (abort !== null && random() < 0.5) queueMicrotask(() => abort.abort());
  }

  function pick<T>(from: Set<T>): T | undefined {
    let left = from.size === 0 ? 0 : below(Math.min(from.size, 16));
    for (const each of from) if (left-- === 0) return each;
    return undefined;
  }

  function end(): void {
    const call = pick(calls);
    if (call === undefined) return;
    calls.delete(call);
    const luck = random();
    if (luck < 0.1) call.emitter.emit({ kind: "delta", text: "last words" });
    if (luck < 0.2) call.fail(new Error("crashed"));
    else if (luck < 0.3) call.finish({ kind: "failed", failure: { code: "no", message: "no", retryable: false } });
    else if (luck < 0.4) call.finish({ kind: "lost", message: "the process died" });
    else call.finish();
  }

  function check(): void {
    const { pools } = runs.stats();
    expect(pools["pool"]!.inUse).toBeLessThanOrEqual(CAPACITY.pool);
    expect(pools["alone@1.0.0"]!.inUse).toBeLessThanOrEqual(CAPACITY.alone);
    for (const { inUse, waiting, releasedAgain } of Object.values(pools)) {
      expect(inUse).toBeGreaterThanOrEqual(0);
      expect(waiting).toBeGreaterThanOrEqual(0);
      expect(releasedAgain).toBe(0);
    }
  }

  for (let turn = 0; started < count; turn++) {
    const luck = random();
    if (luck < 0.5) start();
    else if (luck < 0.75) end();
    else if (luck < 0.83) pick(inFlight)?.cancel();
    else if (luck < 0.87) pick(inFlight)?.disconnect("the client is gone");
    else if (luck < 0.95) clock.pass(below(6));
    else if (luck < 0.98) runs.setConnected(PROVIDERS[below(PROVIDERS.length)]!, true);
    else if (luck < 0.985) runs.setConnected(PROVIDERS[below(PROVIDERS.length)]!, false);
    else pick(calls)?.emitter.emit({ kind: "delta", text: "x" });
    if (turn % 7 === 0) await null;
    if (turn % 50 === 0) check();
  }
  for (const id of PROVIDERS) runs.setConnected(id, true);
  // A call that has just ended gives its slot to the next one only when its promise is heard.
  await settled();
  while (calls.size > 0) {
    end();
    await settled();
  }

  const { endings, inFlight: left, started: counted, pools, late } = runs.stats();
  expect(left).toBe(0);
  expect(counted).toBe(count);
  expect(terminals.size).toBe(count);
  expect([...terminals.values()].every((count) => count === 1)).toBe(true);
  for (const pool of Object.values(pools)) expect(pool).toMatchObject({ inUse: 0, waiting: 0, releasedAgain: 0 });
  expect(clock.alarms).toBe(0);
  const kinds = Object.keys(ENDINGS) as OutcomeKind[];
  expect(Object.fromEntries(kinds.filter((kind) => endings[kind] > 0).map((kind) => [kind, endings[kind]]))).toEqual(
    seen,
  );
  return { seen, refused, lateEndings: late.endings };
}
