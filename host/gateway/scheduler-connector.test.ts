import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStore, type Store } from "../store/store.ts";
import {
  type ConnectorAnswer,
  Connectors,
  type Due,
  mediate,
  type SchedulerClock,
  type SchedulerConnector,
  type SchedulerOptions,
  schedulerConnector,
} from "./gateway.ts";

const NOON = Date.parse("2030-01-31T12:00:00Z");
const DAY_MS = 86_400_000;
const MiB = 2 ** 20;

/** A clock that goes on when it is told to, and wakes whom it passes, one after the other. */
class HandClock implements SchedulerClock {
  #now = NOON;
  #alarms = new Set<{ readonly at: number; readonly wake: () => void }>();

  now(): number {
    return this.#now + 0.75;
  }

  after(ms: number, wake: () => void): unknown {
    const alarm = { at: this.#now + ms, wake };
    this.#alarms.add(alarm);
    return alarm;
  }

  cancel(alarm: unknown): void {
    this.#alarms.delete(alarm as never);
  }

  get alarms(): number {
    return this.#alarms.size;
  }

  /** Each one that wakes has done what it can before the next one does. */
  async pass(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (;;) {
      await settled();
      const next = [...this.#alarms].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#alarms.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.wake();
    }
    this.#now = until;
  }
}

/** The store answers in order: what was asked before has been answered, and so has what was asked because of that, a few times over. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) {
    await store.schedule.nextAt().catch(() => null);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

let directory: string;
let store: Store;
let clock: HandClock;
let scheduler: SchedulerConnector;
let connectors: Connectors;
let delivered: Due[];

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "airlock-schedule-"));
  store = await openStore({ directory });
  clock = new HandClock();
  delivered = [];
  connectors = new Connectors();
  bind();
});

afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

function bind(options: Partial<SchedulerOptions> = {}): void {
  scheduler = schedulerConnector({ store, clock, onDue: (due) => void delivered.push(due), ...options });
  connectors = new Connectors();
  connectors.bind(scheduler, { requestBytes: MiB, responseBytes: MiB });
}

/** One call through the whole chain, as a guest makes it; the payload is a value or JSON text. */
function ask(operation: string, payload: unknown, capabilityId = "acme.notes", room = MiB): Promise<ConnectorAnswer> {
  return mediate(
    {
      connector: "scheduler",
      operation,
      payload: typeof payload === "string" ? payload : JSON.stringify(payload),
      room,
      declared: [{ id: "scheduler", range: "^1.0.0" }],
      context: {
        runId: "run",
        capabilityId,
        capabilityVersion: "1.0.0",
        signal: new AbortController().signal,
        deadline: null,
      },
    },
    connectors,
  );
}

/** The result class and the payload of a response; the code of a failure and its message. */
async function said(...call: Parameters<typeof ask>): Promise<readonly [string, unknown]> {
  const answer = await ask(...call);
  if (answer.kind === "response") return [answer.resultClass, JSON.parse(answer.payload)];
  return answer.kind === "failure" ? [answer.code, answer.message] : ["unparsed", answer.message];
}

const at = (ms: number): string => new Date(NOON + ms).toISOString();
const schedule = (id: string, ms: number, rest: object = {}, capabilityId?: string) =>
  said("schedule", { id, dueAt: NOON + ms, ...rest }, capabilityId);

describe("schedulerConnector()", () => {
  it("gives the application what is due, never before its time, with what came with it and how late it is", async () => {
    scheduler.start();
    expect(await schedule("json", 2_500, { value: { do: ["this"] } })).toEqual(["scheduled", { dueAt: at(2_500) }]);
    expect(await schedule("bytes", 2_500, { body: "AP8v" })).toEqual(["scheduled", { dueAt: at(2_500) }]);
    expect(await schedule("nothing", 40, {}, "acme.other")).toEqual(["scheduled", { dueAt: at(40) }]);
    await clock.pass(39);
    expect(delivered).toEqual([]);
    await clock.pass(1);
    const common = { dueAt: NOON + 40, lateMs: 0, attempt: 1, serial: 3 };
    expect(delivered).toEqual([{ capabilityId: "acme.other", id: "nothing", content: null, ...common }]);
    await clock.pass(2_459);
    expect(delivered).toHaveLength(1);
    await clock.pass(1);
    expect(delivered.slice(1)).toMatchObject([
      { capabilityId: "acme.notes", id: "bytes", content: { kind: "bytes", body: Buffer.of(0, 255, 47) } },
      { capabilityId: "acme.notes", id: "json", content: { kind: "json", value: { do: ["this"] } } },
    ]);
    await clock.pass(60_000);
    expect(delivered).toHaveLength(3);
    expect(await store.schedule.nextAt()).toBeNull();
  });

  it("says how late what was due is while nobody delivered", async () => {
    await schedule("a", 10);
    await clock.pass(5_000);
    scheduler.start();
    await clock.pass(0);
    expect(delivered).toMatchObject([{ id: "a", lateMs: 4_990, attempt: 1 }]);
  });

  it("sees within everyMs what another process has scheduled", async () => {
    bind({ everyMs: 300 });
    scheduler.start();
    await clock.pass(100);
    await store.schedule.add("acme.notes", "theirs", { dueAt: NOON + 150, body: Buffer.alloc(0) });
    await clock.pass(199);
    expect(delivered).toEqual([]);
    await clock.pass(1);
    expect(delivered).toMatchObject([{ id: "theirs", lateMs: 150 }]);
  });

  it("types duplicates, what is late and what is too far ahead, and schedules none of them", async () => {
    bind({ mostAheadMs: DAY_MS });
    expect(await schedule("a", 0)).toEqual(["scheduled", { dueAt: at(0) }]);
    expect(await schedule("b", 100)).toEqual(["scheduled", { dueAt: at(100) }]);
    expect(await schedule("b", 100, { value: "other" })).toEqual(["duplicate", { dueAt: at(100), sameDueAt: true }]);
    expect(await schedule("b", 101)).toEqual(["duplicate", { dueAt: at(100), sameDueAt: false }]);
    expect(await schedule("b", 100, {}, "acme")).toEqual(["scheduled", { dueAt: at(100) }]);
    expect(await schedule("late", -1)).toEqual(["late", { lateMs: 1 }]);
    expect(await said("schedule", { id: "late", dueAt: "1970-01-01T00:00:00Z" })).toEqual(["late", { lateMs: NOON }]);
    expect(await schedule("far", DAY_MS)).toEqual(["scheduled", { dueAt: at(DAY_MS) }]);
    expect(await schedule("further", DAY_MS + 1)).toEqual(["too-far", { mostAheadMs: DAY_MS }]);
    // Whoever did not get the answer asks again, and the time may be over.
    await clock.pass(5_000);
    expect(await schedule("b", 100)).toEqual(["duplicate", { dueAt: at(100), sameDueAt: true }]);
    expect(await schedule("b", 2 * DAY_MS)).toEqual(["duplicate", { dueAt: at(100), sameDueAt: false }]);
    expect((await store.schedule.list("acme.notes", { limit: 10 })).entries.map(({ id }) => id)).toEqual([
      "a",
      "b",
      "far",
    ]);
  });

  it("frees an id once its entry was carried out", async () => {
    scheduler.start();
    await schedule("a", 10);
    await clock.pass(10);
    expect(await schedule("a", 20)).toEqual(["scheduled", { dueAt: at(20) }]);
    await clock.pass(10);
    expect(delivered.map(({ id, attempt, serial }) => [id, attempt, serial])).toEqual([
      ["a", 1, 1],
      ["a", 1, 2],
    ]);
  });

  it("cancels what is not yet being delivered, and says when it is", async () => {
    await schedule("a", 10);
    expect(await said("cancel", { id: "a" }, "acme")).toEqual(["missing", {}]);
    expect(await said("cancel", { id: "a" })).toEqual(["cancelled", {}]);
    expect(await said("cancel", { id: "a" })).toEqual(["missing", {}]);
    await schedule("b", 10);
    await clock.pass(10);
    const [claimed] = await scheduler.claimDue();
    expect(await said("cancel", { id: "b" })).toEqual(["delivering", {}]);
    expect(await schedule("b", 50)).toEqual(["duplicate", { dueAt: at(10), sameDueAt: false }]);
    expect(await scheduler.settle(claimed!)).toBe(true);
    expect(await said("cancel", { id: "b" })).toEqual(["missing", {}]);
  });

  it("either cancels or delivers, whichever of the two is first", async () => {
    for (let round = 0; round < 20; round++) {
      await schedule(`r${round}`, 10 * round);
      await clock.pass(10);
      const cancel = () => said("cancel", { id: `r${round}` });
      const claim = () => scheduler.claimDue();
      const [first, second] = round % 2 === 0 ? [cancel(), claim()] : [claim(), cancel()];
      const [a, b] = [await first, await second];
      const [cancelled, claims] = (round % 2 === 0 ? [a, b] : [b, a]) as [readonly [string, unknown], readonly Due[]];
      expect([cancelled[0], claims.length]).toEqual(claims.length === 1 ? ["delivering", 1] : ["cancelled", 0]);
      for (const due of claims) await scheduler.settle(due);
    }
  });

  it("delivers again what was not carried out, with a higher attempt, once the lease is over", async () => {
    const failures: unknown[] = [];
    const hear = (message: unknown): number => failures.push(message);
    subscribe("airlock:gateway:due-failed", hear);
    let working = false;
    bind({
      leaseMs: 5_000,
      onDue: async (due) => {
        delivered.push(due);
        if (!working) throw new Error("not today");
      },
    });
    scheduler.start();
    await schedule("a", 10);
    await clock.pass(10);
    expect(delivered).toMatchObject([{ attempt: 1, lateMs: 0 }]);
    expect(failures).toMatchObject([
      { capabilityId: "acme.notes", id: "a", attempt: 1, error: { message: "not today" } },
    ]);
    working = true;
    await clock.pass(4_999);
    expect(delivered).toHaveLength(1);
    await clock.pass(1);
    expect(delivered.slice(1)).toMatchObject([{ attempt: 2, lateMs: 5_000 }]);
    await clock.pass(60_000);
    expect(delivered).toHaveLength(2);
    unsubscribe("airlock:gateway:due-failed", hear);
  });

  it("tells of what took longer than its lease, and was carried out twice", async () => {
    const failures: unknown[] = [];
    const hear = (message: unknown): number => failures.push(message);
    subscribe("airlock:gateway:due-failed", hear);
    const ends: (() => void)[] = [];
    bind({
      leaseMs: 5_000,
      onDue: (due) => {
        delivered.push(due);
        return new Promise<void>((resolve) => ends.push(resolve));
      },
    });
    scheduler.start();
    await schedule("a", 10);
    await clock.pass(5_010);
    expect(delivered).toMatchObject([{ attempt: 1 }, { attempt: 2, lateMs: 5_000 }]);
    ends[0]!();
    await settled();
    expect(failures).toMatchObject([{ id: "a", attempt: 1, error: { message: expect.stringContaining("its lease") } }]);
    expect(await said("cancel", { id: "a" })).toEqual(["delivering", {}]);
    ends[1]!();
    await settled();
    expect(failures).toHaveLength(1);
    expect(await store.schedule.nextAt()).toBeNull();
    unsubscribe("airlock:gateway:due-failed", hear);
  });

  it("carries out no more at once than it may, and the next when one has ended", async () => {
    const ends: (() => void)[] = [];
    bind({
      atOnce: 2,
      onDue: (due) => {
        delivered.push(due);
        return new Promise<void>((resolve) => ends.push(resolve));
      },
    });
    for (const id of ["a", "b", "c", "d"]) await schedule(id, 10);
    scheduler.start();
    await clock.pass(3_000);
    expect(delivered.map(({ id }) => id)).toEqual(["a", "b"]);
    ends[1]!();
    await clock.pass(0);
    expect(delivered.map(({ id }) => id)).toEqual(["a", "b", "c"]);
    // Something new rings in between, and there is no place for it.
    await schedule("e", 3_010);
    await clock.pass(10);
    expect(delivered).toHaveLength(3);
    ends[0]!();
    ends[2]!();
    await clock.pass(0);
    expect(delivered.map(({ id }) => id)).toEqual(["a", "b", "c", "d", "e"]);
    const stopped = scheduler.stop();
    ends[3]!();
    ends[4]!();
    await stopped;
    expect(await store.schedule.nextAt()).toBeNull();
  });

  it("stops when what it has claimed has ended, keeps no alarm, and can start again", async () => {
    let end = (): void => {};
    bind({
      onDue: (due) => {
        delivered.push(due);
        return new Promise<void>((resolve) => {
          end = resolve;
        });
      },
    });
    scheduler.start();
    scheduler.start();
    await schedule("a", 10);
    await clock.pass(10);
    let stopped = false;
    const stop = scheduler.stop().then(() => {
      stopped = true;
    });
    await settled();
    expect([stopped, delivered.length, clock.alarms]).toEqual([false, 1, 0]);
    end();
    await stop;
    await schedule("b", 20);
    await clock.pass(DAY_MS);
    expect(delivered).toHaveLength(1);
    await scheduler.stop();
    scheduler.start();
    await clock.pass(1);
    expect(delivered).toMatchObject([{ id: "a" }, { id: "b", lateMs: DAY_MS - 10 }]);
    end();
    await scheduler.close();
    expect(clock.alarms).toBe(0);
  });

  it("goes on when the store did not answer once", async () => {
    const failures: unknown[] = [];
    const hear = (message: unknown): number => failures.push(message);
    subscribe("airlock:gateway:schedule-failed", hear);
    await schedule("a", 10);
    scheduler.start();
    await store.close();
    await clock.pass(2_000);
    expect(failures).toMatchObject([{ error: { code: "AIRLOCK_STORE_CLOSED" } }, {}, {}]);
    unsubscribe("airlock:gateway:schedule-failed", hear);
    store = await openStore({ directory });
    expect(await said("list", {})).toEqual(["unavailable", "the store cannot be used"]);
  });

  it("two of them on one store deliver each entry once", async () => {
    const other: Due[] = [];
    const twin = schedulerConnector({ store, clock, onDue: (due) => void other.push(due) });
    for (let number = 0; number < 50; number++) await schedule(`id-${number}`, 10);
    scheduler.start();
    twin.start();
    await clock.pass(10);
    expect([...delivered, ...other].map(({ id }) => id).sort()).toEqual(
      Array.from({ length: 50 }, (_, number) => `id-${number}`).sort(),
    );
    await twin.close();
  });

  it("lists a capability's own, page by page and within the bytes that the guest has", async () => {
    for (let number = 0; number < 120; number++)
      await store.schedule.add("acme.notes", `id-${number % 2}-${number}`, {
        dueAt: NOON + (number % 3),
        body: Buffer.alloc(7),
      });
    await schedule("not mine", 1, {}, "acme");
    for (const room of [MiB, 1_000, 256]) {
      const seen: string[] = [];
      for (let after: unknown = null; ; ) {
        const [resultClass, payload] = await said("list", { after }, "acme.notes", room);
        expect(resultClass).toBe("success");
        const page = payload as {
          entries: { id: string; dueAt: string; bytes: number; attempt: number }[];
          next: unknown;
        };
        seen.push(...page.entries.map(({ dueAt, id }) => `${dueAt} ${id}`));
        expect(page.entries[0]).toMatchObject({ bytes: 7, attempt: 0 });
        if (page.next === null) break;
        after = page.next;
      }
      expect(seen).toHaveLength(120);
      expect(seen).toEqual([...new Set(seen)].sort());
    }
  });

  it("holds the quota of each capability", async () => {
    bind({ quotaEntries: 2, quotaBytes: 12 });
    const over = { mostEntries: 2, mostBytes: 12 };
    expect(await schedule("a", 10, { value: "12345678" })).toMatchObject(["scheduled", {}]);
    expect(await schedule("bb", 10)).toEqual(["over-quota", { entries: 1, bytes: 11, ...over }]);
    expect(await schedule("b", 10)).toMatchObject(["scheduled", {}]);
    expect(await schedule("c", 10)).toEqual(["over-quota", { entries: 2, bytes: 12, ...over }]);
    expect(await schedule("c", 10, {}, "acme")).toMatchObject(["scheduled", {}]);
    await said("cancel", { id: "a" });
    expect(await schedule("c", 10)).toMatchObject(["scheduled", {}]);
  });

  it.each([
    ["2030-01-31T12:00:00Z", 0],
    ["2030-01-31T12:00:00.5Z", 500],
    ["2030-01-31T12:00:00.123456789Z", 123],
    ["2030-02-01T00:00:00.000Z", DAY_MS / 2],
    [NOON + 1, 1],
  ])("takes the time %j", async (dueAt, ms) => {
    expect(await said("schedule", { id: "a", dueAt })).toEqual(["scheduled", { dueAt: at(ms) }]);
  });

  const times = [
    "NaN",
    "1e400",
    "-1e400",
    "8640000000000001",
    "-8640000000000001",
    "9007199254740993",
    "1.5",
    "null",
    "true",
    "[]",
    "{}",
    '""',
    '"soon"',
    '"2030-01-31"',
    '"2030-01-31T12:00:00"',
    '"2030-01-31T12:00:00+00:00"',
    '"2030-01-31 12:00:00Z"',
    '"2030-02-29T12:00:00Z"',
    '"2030-02-30T12:00:00Z"',
    '"2030-13-01T12:00:00Z"',
    '"2030-01-31T24:00:00Z"',
    '"2030-01-31T12:00:60Z"',
    '"+012030-01-31T12:00:00Z"',
    '"2030-01-31T12:00:00.Z"',
    '"2030-01-31T12:00:00Z\\n"',
    `"${"9".repeat(100_000)}"`,
    '{"valueOf":1}',
    '"１2030-01-31T12:00:00Z"',
  ];
  it.each(times.map((text) => [text.slice(0, 40), text]))("refuses the time %s", async (_, text) => {
    const [code, message] = await said("schedule", `{"id":"a","dueAt":${text}}`);
    // NaN is no JSON, and is refused before any connector.
    expect(code).toBe(text === "NaN" ? "unparsed" : "invalid-request");
    expect(message).toContain(text === "NaN" ? "is not JSON" : "whole milliseconds since 1970, is wanted");
    expect(String(message).length).toBeLessThan(300);
    expect(await store.schedule.nextAt()).toBeNull();
  });

  const due = at(10);
  const hostile: readonly (readonly [string, string, unknown])[] = [
    ["schedule", "an object with id, dueAt, body, value is wanted", []],
    ["schedule", "dueAt is undefined", { id: "a" }],
    ["schedule", "id is undefined", { dueAt: due }],
    ["schedule", "id is 5", { id: 5, dueAt: due }],
    ["schedule", "id is a list", { id: ["a"], dueAt: due }],
    ["schedule", "id has 0 bytes", { id: "", dueAt: due }],
    ["schedule", "id has 513 bytes", { id: "x".repeat(513), dueAt: due }],
    ["schedule", "id has 900000 bytes", { id: "x".repeat(900_000), dueAt: due }],
    ["schedule", "id has half a character", `{"id":"\\udfff","dueAt":"${due}"}`],
    ["schedule", 'unknown field "__proto__"', `{"__proto__":{"id":"a"},"id":"a","dueAt":"${due}"}`],
    ["schedule", 'unknown field "dueat": did you mean "dueAt"?', { id: "a", dueat: due }],
    ["schedule", "the payload has body and value", { id: "a", dueAt: due, body: "", value: 1 }],
    ["schedule", "body is no base64", { id: "a", dueAt: due, body: "?" }],
    ["schedule", "value has a number that is too large", `{"id":"a","dueAt":"${due}","value":1e400}`],
    ["cancel", "an object with id is wanted", "null"],
    ["cancel", "id is null", { id: null }],
    ["cancel", 'unknown field "dueAt"', { id: "a", dueAt: due }],
    ["list", "limit is 0", { limit: 0 }],
    ["list", "limit is Infinity", '{"limit":1e400}'],
    ["list", "limit is a list", { limit: [1] }],
    ["list", "after is 5", { after: 5 }],
    ["list", "after is a list", { after: [due, "a"] }],
    ["list", "after.dueAt is undefined", { after: { id: "a" } }],
    ["list", "after.id has 0 bytes", { after: { id: "", dueAt: due } }],
    ["list", 'The payload has the unknown field "x"', { after: { id: "a", dueAt: due, x: 1 } }],
  ];
  it.each(hostile)("refuses %s: %s", async (operation, message, payload) => {
    expect(await said(operation, payload)).toEqual(["invalid-request", expect.stringContaining(message)]);
    expect(await store.schedule.nextAt()).toBeNull();
  });

  it("knows no other operation", async () => {
    expect(await said("claim", { id: "a" })).toEqual([
      "unknown-operation",
      expect.stringContaining("one of schedule, cancel, list is wanted"),
    ]);
  });

  it("does nothing where not even an answer would have place", async () => {
    expect(await said("schedule", { id: "a", dueAt: due }, "acme.notes", 255)).toMatchObject([
      "response-too-large",
      {},
    ]);
    expect(await store.schedule.nextAt()).toBeNull();
  });

  it("answers any JSON at all with a response or a word of its own", async () => {
    const name = fc.constantFrom("id", "dueAt", "value", "body", "after", "limit", "__proto__");
    const field = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom<unknown>("a", "YQ==", 1, null, due, NOON + 5, NOON - 5, "\u0000"),
    );
    const payload = fc.oneof(fc.jsonValue(), fc.dictionary(name, field, { maxKeys: 4, noNullPrototype: true }));
    await fc.assert(
      fc.asyncProperty(fc.constantFrom("schedule", "cancel", "list"), payload, async (operation, asked) => {
        const answer = await ask(operation, JSON.stringify(asked));
        if (answer.kind === "failure" && answer.failureClass !== "unauthorized_output")
          expect(answer.code).toBe("invalid-request");
        else expect(["response", "failure"]).toContain(answer.kind);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    [undefined, "options is undefined, an object is wanted"],
    [{}, "store is undefined, what openStore answers is wanted"],
    [{ store: {}, onDu: 1 }, 'unknown key "onDu"; did you mean "onDue"?'],
    [{ store: {}, onDue: 1 }, "onDue is 1"],
    [{ store: {}, clock: {} }, "clock is an object"],
    [{ store: {}, clock: null }, "clock is null"],
    [{ store: {}, mostAheadMs: Infinity }, "mostAheadMs is Infinity"],
    [{ store: {}, quotaEntries: 0 }, "quotaEntries is 0"],
    [{ store: {}, leaseMs: -1 }, "leaseMs is -1"],
    [{ store: {}, everyMs: 2 ** 31 }, "everyMs is 2147483648"],
    [{ store: {}, atOnce: 1_001 }, "atOnce is 1001"],
  ])("refuses the options %j", (options, why) => {
    expect(() => schedulerConnector(options as never)).toThrow(
      expect.objectContaining({ code: "AIRLOCK_GATEWAY_CONNECTOR_INVALID", message: expect.stringContaining(why) }),
    );
  });

  it("cannot start without somebody to deliver to", () => {
    expect(() => schedulerConnector({ store }).start()).toThrow(
      expect.objectContaining({ code: "AIRLOCK_GATEWAY_CONNECTOR_INVALID" }),
    );
  });

  it("runs by the clock of the machine where no other is given", async () => {
    const came = new Promise<Due>((resolve) => {
      bind({ clock: undefined as never, onDue: resolve });
    });
    scheduler.start();
    const dueAt = Date.now() + 20;
    expect(await said("schedule", { id: "a", dueAt })).toMatchObject(["scheduled", {}]);
    const got = await came;
    expect(got).toMatchObject({ id: "a", dueAt, attempt: 1 });
    expect(got.lateMs).toBeGreaterThanOrEqual(0);
    await scheduler.stop();
  });
});
