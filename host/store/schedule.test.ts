import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStore, type Schedule, type Store } from "./store.ts";

let directory: string;
let store: Store;
let schedule: Schedule;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "airlock-store-"));
  store = await openStore({ directory });
  schedule = store.schedule;
});

afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

const body = Buffer.from("do");
const add = (id: string, dueAt: number, namespace = "n") => schedule.add(namespace, id, { dueAt, body });
const claim = async (now: number, limit = 10, leaseMs = 100) => schedule.claimDue({ now, limit, leaseMs });

describe("schedule", () => {
  it("gives what is due by due time and then id, and what is not yet due to nobody", async () => {
    expect(await schedule.nextAt()).toBeNull();
    for (const [id, dueAt] of [
      ["c", 20],
      ["b", 30],
      ["a", 20],
      ["é", 20],
      ["d", 10],
      ["z", 31],
    ] as const)
      expect(await add(id, dueAt, id === "a" ? "m" : "n")).toEqual({ kind: "scheduled" });
    expect(await schedule.nextAt()).toBe(10);
    expect(await claim(9)).toEqual([]);
    expect((await claim(30, 2)).map(({ id }) => id)).toEqual(["d", "a"]);
    const rest = await claim(30);
    expect(rest.map(({ id }) => id)).toEqual(["c", "é", "b"]);
    expect(rest[0]).toEqual({
      serial: expect.any(Number),
      namespace: "n",
      id: "c",
      dueAt: 20,
      format: "bytes",
      body,
      attempt: 1,
      leasedUntil: 130,
    });
    expect(await schedule.nextAt()).toBe(31);
  });

  it("gives what was not settled to anybody once the lease is over, with a higher attempt", async () => {
    await add("a", 10);
    const [first] = await claim(10);
    expect(await claim(109)).toEqual([]);
    expect(await schedule.nextAt()).toBe(110);
    const [second] = await claim(110);
    expect(second).toEqual({ ...first, attempt: 2, leasedUntil: 210 });
    // Whoever was too slow has nothing to settle any more.
    expect(await schedule.settle(first!)).toBe(false);
    expect(await schedule.settle(second!)).toBe(true);
    expect(await schedule.settle(second!)).toBe(false);
    expect(await schedule.find("n", "a")).toBeNull();
    expect(await schedule.usage("n")).toEqual({ entries: 0, bytes: 0 });
  });

  it("does not let an old claim settle a new entry of the same id", async () => {
    await add("a", 10);
    const [first] = await claim(10);
    await schedule.cancel("n", "a", { now: 110 });
    await add("a", 10);
    const [second] = await claim(200);
    expect(second!.attempt).toBe(first!.attempt);
    expect(await schedule.settle(first!)).toBe(false);
    expect(await schedule.find("n", "a")).toEqual({ id: "a", dueAt: 10, bytes: 2, attempt: 1 });
  });

  it("says which time an id is taken for, until it is settled or cancelled", async () => {
    await add("a", 10);
    expect(await add("a", 10)).toEqual({ kind: "duplicate", dueAt: 10 });
    expect(await add("a", 99)).toEqual({ kind: "duplicate", dueAt: 10 });
    expect(await add("a", 99, "m")).toEqual({ kind: "scheduled" });
    expect(await schedule.cancel("n", "a", { now: 0 })).toEqual({ kind: "cancelled" });
    expect(await schedule.cancel("n", "a", { now: 0 })).toEqual({ kind: "missing" });
    expect(await schedule.cancel("never", "a", { now: 0 })).toEqual({ kind: "missing" });
    expect(await add("a", 99)).toEqual({ kind: "scheduled" });
  });

  it("takes back nothing that somebody works on", async () => {
    await add("a", 10);
    await claim(10);
    expect(await schedule.cancel("n", "a", { now: 109 })).toEqual({ kind: "claimed" });
    expect(await schedule.cancel("n", "a", { now: 110 })).toEqual({ kind: "cancelled" });
    expect(await claim(200)).toEqual([]);
  });

  it("holds the quota of a namespace", async () => {
    const quota = { entries: 2, bytes: 7 };
    const bounded = (id: string) => schedule.add("n", id, { dueAt: 1, body, format: "json" }, { quota });
    expect(await bounded("a")).toEqual({ kind: "scheduled" });
    expect(await bounded("long-id")).toEqual({ kind: "over-quota", usage: { entries: 1, bytes: 3 } });
    expect(await bounded("b")).toEqual({ kind: "scheduled" });
    expect(await bounded("c")).toEqual({ kind: "over-quota", usage: { entries: 2, bytes: 6 } });
    await schedule.settle((await claim(1, 1))[0]!);
    expect(await schedule.usage("n")).toEqual({ entries: 1, bytes: 3 });
    expect(await bounded("c")).toEqual({ kind: "scheduled" });
  });

  it("lists a namespace page by page, and nothing of another whose name begins with it", async () => {
    const ids = ["a", "a\0", "b", "'; --", "%", "é", "x".repeat(512)];
    for (const namespace of ["acme", "acme.notes"]) for (const id of ids) await add(id, 5, namespace);
    await add("first", -7, "acme");
    const inOrder = ["first", ...[...ids].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))];
    const seen: string[] = [];
    for (let after: { after: { dueAt: number; id: string } } | undefined; ; ) {
      const page = await schedule.list("acme", { ...after, limit: 3 });
      seen.push(...page.entries.map(({ id }) => id));
      if (!page.more) break;
      after = { after: page.entries.at(-1)! };
    }
    expect(seen).toEqual(inOrder);
    expect(await schedule.list("acm", { limit: 1 })).toEqual({ entries: [], more: false });
  });

  const wrong: readonly (readonly [string, () => Promise<unknown>])[] = [
    ["namespace", () => add("a", 1, "")],
    ["id", () => add("", 1)],
    ["id", () => add("\udfff", 1)],
    ["dueAt", () => add("a", Number.NaN)],
    ["dueAt", () => add("a", Infinity)],
    ["dueAt", () => add("a", 8.64e15 + 1)],
    ["dueAt", () => add("a", 0.5)],
    ["dueAt", () => add("a", "1" as never)],
    ["body", () => schedule.add("n", "a", { dueAt: 1, body: [] as never })],
    ["now", () => schedule.cancel("n", "a", {} as never)],
    ["now", () => claim(Number.NaN)],
    ["limit", () => claim(1, 0)],
    ["leaseMs", () => claim(1, 1, 0)],
    ["leaseMs", () => claim(1, 1, Infinity)],
    ["serial", () => schedule.settle({ serial: 0, attempt: 1 })],
    ["attempt", () => schedule.settle({ serial: 1, attempt: 0 })],
    ["after.dueAt", () => schedule.list("n", { after: { dueAt: Infinity, id: "a" }, limit: 1 })],
    ["after.id", () => schedule.list("n", { after: { dueAt: 1, id: "" }, limit: 1 })],
  ];
  it.each(wrong)("refuses an argument that is not as it says: %s", async (name, call) => {
    const message = expect.stringContaining(`Cannot use the store: ${name} is `);
    await expect(call()).rejects.toMatchObject({ code: "AIRLOCK_STORE_OPTIONS_INVALID", message });
    expect(await schedule.nextAt()).toBeNull();
  });

  it("does what a list with leases would do, whatever is asked", async () => {
    const id = fc.constantFrom("a", "b", "c");
    const step = fc.oneof(
      fc.record({ kind: fc.constant("add" as const), id, ahead: fc.integer({ min: -5, max: 20 }) }),
      fc.record({ kind: fc.constant("cancel" as const), id }),
      fc.record({
        kind: fc.constant("claim" as const),
        limit: fc.integer({ min: 1, max: 3 }),
        leaseMs: fc.integer({ min: 1, max: 15 }),
      }),
      fc.record({ kind: fc.constant("settle" as const), which: fc.nat(20) }),
      fc.record({ kind: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 12 }) }),
    );
    let now = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        interface Held {
          id: string;
          dueAt: number;
          attempt: number;
          until: number;
        }
        const model = new Map<string, Held>();
        const claims: { claim: Awaited<ReturnType<typeof claim>>[number]; of: Held }[] = [];
        for (const each of steps) {
          if (each.kind === "pass") now += each.ms;
          else if (each.kind === "add") {
            const twin = model.get(each.id);
            const dueAt = now + each.ahead;
            expect(await add(each.id, dueAt)).toEqual(
              twin === undefined ? { kind: "scheduled" } : { kind: "duplicate", dueAt: twin.dueAt },
            );
            if (twin === undefined) model.set(each.id, { id: each.id, dueAt, attempt: 0, until: dueAt });
          } else if (each.kind === "cancel") {
            const held = model.get(each.id);
            const kind =
              held === undefined ? "missing" : held.attempt > 0 && held.until > now ? "claimed" : "cancelled";
            expect(await schedule.cancel("n", each.id, { now })).toEqual({ kind });
            if (kind === "cancelled") model.delete(each.id);
          } else if (each.kind === "claim") {
            const due = [...model.values()]
              .filter(({ dueAt, until }) => dueAt <= now && until <= now)
              .sort((a, b) => a.dueAt - b.dueAt || (a.id < b.id ? -1 : 1))
              .slice(0, each.limit);
            const got = await claim(now, each.limit, each.leaseMs);
            for (const held of due) {
              held.attempt++;
              held.until = now + each.leaseMs;
            }
            expect(got.map(({ id, attempt, dueAt }) => [id, attempt, dueAt])).toEqual(
              due.map(({ id, attempt, dueAt }) => [id, attempt, dueAt]),
            );
            for (const [index, claim] of got.entries()) claims.push({ claim, of: due[index]! });
          } else if (claims.length > 0) {
            const { claim: old, of } = claims[each.which % claims.length]!;
            const valid = model.get(of.id) === of && of.attempt === old.attempt;
            expect(await schedule.settle(old)).toBe(valid);
            if (valid) model.delete(of.id);
          }
          expect((await schedule.usage("n")).entries).toBe(model.size);
          const times = [...model.values()].map(({ until }) => until);
          expect(await schedule.nextAt()).toBe(times.length === 0 ? null : Math.min(...times));
        }
        now += 100;
        for (const due of await claim(now)) await schedule.settle(due);
      }),
      { numRuns: 120 },
    );
  });
});
