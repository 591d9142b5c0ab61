import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AdmissionLease } from "./admission-lease.ts";
import { type PoolCatalog, resolveCatalog } from "./pool-catalog.ts";
import { ProviderPool, type QueuePlace, type Waiter } from "./provider-pool.ts";

class Run implements Waiter {
  lease: AdmissionLease | null = null;
  place: QueuePlace | null = null;
  ended = false;

  granted(lease: AdmissionLease): void {
    expect(this.lease).toBeNull();
    expect(this.ended).toBe(false);
    this.lease = lease;
    this.place = null;
  }
}

function poolOf(catalog: PoolCatalog): ProviderPool {
  const pool = new ProviderPool(resolveCatalog(catalog));
  for (const { providerId } of catalog.candidates) pool.connect(providerId, true);
  return pool;
}

function enter(pool: ProviderPool, wanted: string | null = null, priority = 0): Run {
  const run = new Run();
  const entered = pool.enter(run, wanted, priority);
  if (entered instanceof AdmissionLease) run.lease = entered;
  else run.place = entered;
  return run;
}

const served = (run: Run): string | null => run.lease?.providerId ?? null;

describe("ProviderPool", () => {
  it("chooses by connection, priority, free slots and catalog, in this order", () => {
    const pool = poolOf({
      candidates: [
        { providerId: "low", capacity: 9, priority: 1 },
        { providerId: "first", capacity: 2, priority: 5 },
        { providerId: "second", capacity: 2, priority: 5 },
      ],
    });
    expect(served(enter(pool))).toBe("first");
    expect(served(enter(pool))).toBe("second");
    expect(served(enter(pool))).toBe("first");
    pool.connect("second", false);
    expect(served(enter(pool))).toBe("low");
    pool.connect("second", true);
    expect(served(enter(pool))).toBe("second");
    expect(served(enter(pool))).toBe("low");
  });

  it("refuses at once when the queue is full, and when nobody is connected", () => {
    const pool = poolOf({ candidates: [{ providerId: "a", capacity: 1 }], queue: 1 });
    const [held, waiting] = [enter(pool), enter(pool)];
    expect(() => enter(pool)).toThrow(
      expect.objectContaining({ code: "AIRLOCK_POOL_QUEUE_FULL", failure: "queue_full" }),
    );
    held.lease!.release();
    expect(served(waiting)).toBe("a");
    const [stranded] = [enter(pool)];
    expect(pool.connect("a", false)).toEqual([stranded]);
    expect(() => enter(pool)).toThrow(
      expect.objectContaining({ code: "AIRLOCK_PROVIDERS_UNAVAILABLE", failure: "provider_unavailable" }),
    );
    expect(pool.stats()).toMatchObject({ inUse: 1, waiting: 0 });
    waiting.lease!.release();
    expect(pool.stats()).toMatchObject({ inUse: 0 });
  });

  it("serves who waits by priority, then in the order of arrival, also when one waits for a certain candidate", () => {
    const pool = poolOf({
      candidates: [
        { providerId: "a", capacity: 1 },
        { providerId: "b", capacity: 1 },
      ],
    });
    const [a, b] = [enter(pool, "a"), enter(pool, "b")];
    const anyone = enter(pool, null, 0);
    const wantsA = enter(pool, "a", 0);
    const urgent = enter(pool, "a", 7);
    a.lease!.release();
    expect([served(urgent), served(anyone), served(wantsA)]).toEqual(["a", null, null]);
    urgent.lease!.release();
    expect([served(anyone), served(wantsA)]).toEqual(["a", null]);
    b.lease!.release();
    expect(served(wantsA)).toBeNull();
    anyone.lease!.release();
    expect(served(wantsA)).toBe("a");
  });

  it("counts a second release and changes nothing by it", () => {
    const pool = poolOf({ candidates: [{ providerId: "a", capacity: 1 }] });
    const [first, second, third] = [enter(pool), enter(pool), enter(pool)];
    const lease = first.lease!;
    lease.release();
    lease.release();
    lease.release();
    expect(lease.held).toBe(false);
    expect([served(second), served(third)]).toEqual(["a", null]);
    expect(pool.stats()).toEqual({ capacity: 1, inUse: 1, waiting: 1, granted: 2, releasedAgain: 2 });
  });

  it("gives a slot that becomes free to who waited, not to who comes while it is given", () => {
    const pool = poolOf({ candidates: [{ providerId: "a", capacity: 2 }] });
    const [one, two] = [enter(pool), enter(pool)];
    const order: string[] = [];
    const late = new Run();
    const name = (run: Run, text: string): Run => {
      const granted = run.granted.bind(run);
      run.granted = (lease) => {
        order.push(text);
        granted(lease);
        if (text === "first") {
          two.lease!.release();
          const entered = pool.enter(name(late, "late"), null, 0);
          expect(entered).not.toBeInstanceOf(AdmissionLease);
        }
      };
      return run;
    };
    for (const text of ["first", "second"]) pool.enter(name(new Run(), text), null, 0);
    one.lease!.release();
    expect(order).toEqual(["first", "second"]);
    expect(pool.stats()).toMatchObject({ inUse: 2, waiting: 1 });
  });

  it("serves a queue of runs that end as soon as they begin without a deep stack", () => {
    const pool = poolOf({ candidates: [{ providerId: "a", capacity: 1 }], queue: 100_000 });
    const held = enter(pool);
    let ended = 0;
    const brief: Waiter = {
      granted(lease) {
        ended++;
        lease.release();
      },
    };
    for (let i = 0; i < 100_000; i++) pool.enter(brief, null, i % 3);
    held.lease!.release();
    expect(ended).toBe(100_000);
    expect(pool.stats()).toMatchObject({ inUse: 0, waiting: 0, releasedAgain: 0 });
  });

  const action = fc.record({
    kind: fc.constantFrom("arrive", "arrive", "arrive", "end", "end", "leave", "end twice", "disconnect", "connect"),
    which: fc.nat(1_000),
    wanted: fc.constantFrom(null, "a", "b", "c"),
    priority: fc.integer({ min: -1, max: 1 }),
  });
  const capacities = fc.tuple(
    fc.integer({ min: 1, max: 4 }),
    fc.integer({ min: 1, max: 4 }),
    fc.integer({ min: 1, max: 4 }),
  );

  it("never has more slots in use than there are, loses none, and never counts below zero, whatever comes in which order", () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 150 }), capacities, fc.nat(8), (actions, [a, b, c], queue) => {
        const candidates = [
          { providerId: "a", capacity: a, priority: 2 },
          { providerId: "b", capacity: b, priority: 1 },
          { providerId: "c", capacity: c, priority: 1 },
        ];
        const pool = poolOf({ candidates, queue });
        const connected = new Set(["a", "b", "c"]);
        const runs: { readonly run: Run; readonly wanted: string | null }[] = [];
        const running = () => runs.filter(({ run }) => run.lease !== null && !run.ended);
        const waiting = () => runs.filter(({ run }) => run.place !== null && !run.ended);
        let again = 0;
        for (const { kind, which, wanted, priority } of actions) {
          if (kind === "arrive") {
            const reachable = wanted === null ? connected.size > 0 : connected.has(wanted);
            try {
              runs.push({ run: enter(pool, wanted, priority), wanted });
              expect(reachable).toBe(true);
            } catch (error) {
              expect((error as { code?: string }).code).toBe(
                reachable ? "AIRLOCK_POOL_QUEUE_FULL" : "AIRLOCK_PROVIDERS_UNAVAILABLE",
              );
              if (reachable) expect(waiting()).toHaveLength(queue);
            }
          } else if (kind === "end" || kind === "end twice") {
            const all = running();
            const chosen = all[which % Math.max(1, all.length)];
            if (chosen === undefined) continue;
            chosen.run.ended = true;
            chosen.run.lease!.release();
            if (kind === "end twice") {
              chosen.run.lease!.release();
              again++;
            }
          } else if (kind === "leave") {
            const all = waiting();
            const chosen = all[which % Math.max(1, all.length)];
            if (chosen === undefined) continue;
            pool.leave(chosen.run.place!);
            pool.leave(chosen.run.place!);
            chosen.run.ended = true;
          } else {
            const id = wanted ?? "a";
            const stranded = pool.connect(id, kind === "connect");
            if (kind === "connect") connected.add(id);
            else connected.delete(id);
            for (const run of stranded) (run as Run).ended = true;
          }
          const { inUse, releasedAgain, ...stats } = pool.stats();
          expect(inUse).toBe(running().length);
          expect(stats.waiting).toBe(waiting().length);
          expect(stats.waiting).toBeLessThanOrEqual(queue);
          expect(releasedAgain).toBe(again);
          for (const { providerId, capacity } of candidates) {
            const slots = pool.slotsOf(providerId);
            expect(slots.inUse).toBe(running().filter(({ run }) => served(run) === providerId).length);
            expect(slots.inUse).toBeLessThanOrEqual(capacity);
            // Nobody waits for what is there.
            const free = connected.has(providerId) && slots.inUse < capacity;
            if (free) expect(waiting().filter(({ wanted }) => wanted === null || wanted === providerId)).toEqual([]);
          }
          for (const { run, wanted } of running()) if (wanted !== null) expect(served(run)).toBe(wanted);
          for (const { wanted } of waiting()) {
            expect(wanted === null ? connected.size > 0 : connected.has(wanted)).toBe(true);
          }
        }
        for (const id of ["a", "b", "c"]) pool.connect(id, true);
        while (running().length > 0) {
          const { run } = running()[0]!;
          run.ended = true;
          run.lease!.release();
        }
        expect(pool.stats()).toMatchObject({ inUse: 0, waiting: 0 });
      }),
      { numRuns: 500 },
    );
  });
});

describe("resolveCatalog()", () => {
  const candidates = [{ providerId: "a", capacity: 1 }];

  it("fills in the defaults", () => {
    expect(resolveCatalog({ candidates })).toEqual({
      candidates: [{ providerId: "a", capacity: 1, priority: 0 }],
      queue: 1_024,
      policy: "fifo",
    });
  });

  it.each([
    [{ candidates: [] }, "candidates is an empty array: an array of at least one candidate is wanted"],
    [{ candidates: [{ providerId: "a", capacity: 0 }] }, "candidates.0.capacity is 0: a whole number from 1 to 65536"],
    [{ candidates: [{ providerId: "a", capacity: 1.5 }] }, "candidates.0.capacity is 1.5"],
    [{ candidates: [{ providerId: "", capacity: 1 }] }, 'candidates.0.providerId is "": an id is wanted'],
    [{ candidates: [...candidates, ...candidates] }, 'candidates is "a": each provider once is wanted'],
    [{ candidates, queue: -1 }, "queue is -1"],
    [{ candidates, policy: "lifo" }, 'policy is "lifo": "fifo" is wanted'],
    [{ candidates, que: 1 }, 'has the unknown key "que": did you mean "queue"?'],
  ])("refuses %j and says what is wanted", (catalog, text) => {
    expect(() => resolveCatalog(catalog as PoolCatalog)).toThrow(
      expect.objectContaining({ code: "AIRLOCK_PROVIDERS_CATALOG_INVALID", message: expect.stringContaining(text) }),
    );
  });
});
