import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { HostError } from "../errors/errors.ts";
import type { Outcome } from "./outcome.ts";
import { resolveCatalog } from "./pool-catalog.ts";
import type { Provider, RunEvent } from "./provider.ts";
import { ProviderPool } from "./provider-pool.ts";
import type { ProviderRun } from "./provider-run.ts";
import { ProviderRuns } from "./provider-runs.ts";
import { TestClock } from "./test-clock.ts";
import { HeldProvider, requestFor, settled } from "./test-requests.ts";

const P = "p@1.0.0";

async function runsWith(capacity = 1, queue = 100) {
  const clock = new TestClock();
  const runs = new ProviderRuns({ clock });
  const provider = new HeldProvider(P);
  await runs.add(provider, { capacity, queue });
  return { clock, runs, provider };
}

async function collect(run: ProviderRun): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of run) events.push(event);
  return events;
}

const refusal = (code: string, failure: string): HostError =>
  expect.objectContaining({ code, failure, name: "HostError" }) as HostError;

describe("ProviderRuns.start()", () => {
  it("gives the events of a run in order and its outcome", async () => {
    const { runs, provider } = await runsWith();
    const run = runs.start<string>(requestFor(P, { runId: "r", sessionId: "s" }));
    const [call] = provider.calls;
    call!.emitter.emit({ kind: "delta", text: "he" });
    call!.emitter.emit({ kind: "event", event: { type: "t", version: "1.0.0", payload: 1 } });
    call!.emitter.emit({ kind: "delta", text: "llo" });
    call!.finish({ kind: "succeeded", output: "hello" });
    const outcome = await run.outcome;
    expect(outcome).toMatchObject({ kind: "succeeded", output: "hello", runId: "r", sessionId: "s", providerId: P });
    expect(await collect(run as ProviderRun)).toEqual([
      { kind: "started", runId: "r", providerId: P },
      { kind: "delta", text: "he" },
      { kind: "event", event: { type: "t", version: "1.0.0", payload: 1 } },
      { kind: "delta", text: "llo" },
      { kind: "complete", outcome },
    ]);
    expect(run.capabilityEvents).toEqual([{ type: "t", version: "1.0.0", payload: 1 }]);
    expect(await run.outcome).toBe(outcome);
    expect(runs.stats()).toMatchObject({
      inFlight: 0,
      started: 1,
      endings: { succeeded: 1 },
      pools: { [P]: { inUse: 0 } },
    });
  });

  it("throws what is refused before the start, with its failure, and leaves nothing behind", async () => {
    const { runs } = await runsWith(1, 0);
    const start =
      (more: object, id = P) =>
      () =>
        runs.start(requestFor(id, { runId: "r", ...more }));
    const invalid = refusal("AIRLOCK_INVOCATION_REQUEST_INVALID", "invalid_request");
    for (const runId of ["", "x".repeat(257), 7, undefined]) expect(start({ runId })).toThrow(invalid);
    for (const more of [{ sessionId: 7 }, { deadline: Number.NaN }, { operation: null }])
      expect(start(more)).toThrow(invalid);
    expect(() => runs.start(requestFor(P, { runId: "r" }), { priority: 0.5 })).toThrow(invalid);
    expect(start({}, "q@1.0.0")).toThrow(refusal("AIRLOCK_PROVIDERS_MISSING", "provider_missing"));
    expect(runs.stats()).toMatchObject({ inFlight: 0, started: 0 });
    start({})();
    expect(start({})).toThrow(refusal("AIRLOCK_INVOCATION_RUN_ID_TAKEN", "invalid_request"));
    expect(start({ runId: "s" })).toThrow(refusal("AIRLOCK_POOL_QUEUE_FULL", "queue_full"));
    expect(runs.stats()).toMatchObject({ inFlight: 1, started: 1 });
    runs.setConnected(P, false);
    expect(start({})).toThrow(refusal("AIRLOCK_PROVIDERS_UNAVAILABLE", "provider_unavailable"));
    await runs.close();
    expect(start({})).toThrow(refusal("AIRLOCK_HOST_CLOSED", "provider_unavailable"));
  });

  it("asks the provider's own check before anything starts", async () => {
    const runs = new ProviderRuns({ clock: new TestClock() });
    const check = () => {
      throw new HostError("AIRLOCK_INVOCATION_OPERATION_UNKNOWN", "no");
    };
    const provider: Provider = { id: P, check, execute: () => Promise.reject(new Error("not here")) };
    await runs.add(provider, { capacity: 1 });
    expect(() => runs.start(requestFor(P, { runId: "r" }))).toThrow(
      refusal("AIRLOCK_INVOCATION_OPERATION_UNKNOWN", "invalid_request"),
    );
    expect(runs.stats()).toMatchObject({ inFlight: 0, started: 0, pools: { [P]: { inUse: 0, granted: 0 } } });
  });

  it("takes two requests with the same session for two independent runs", async () => {
    const { runs, provider } = await runsWith(2);
    const [one, two] = ["one", "two"].map((runId) => runs.start(requestFor(P, { runId, sessionId: "same" })));
    expect(provider.calls).toHaveLength(2);
    expect(() => runs.cancel("same")).toThrow(refusal("AIRLOCK_INVOCATION_RUN_UNKNOWN", "invalid_request"));
    runs.cancel("one");
    provider.calls[1]!.finish();
    expect(await one!.outcome).toMatchObject({ kind: "cancelled", sessionId: "same" });
    expect(await two!.outcome).toMatchObject({ kind: "succeeded", sessionId: "same" });
  });

  it.each([
    ["a rejection", () => Promise.reject(new Error("broken\n pipe")), "broken pipe"],
    [
      "an exception right away",
      () => {
        throw new Error("at once");
      },
      "at once",
    ],
    ["something that is no error", () => Promise.reject("text"), "text"],
    ["no result", () => Promise.resolve(undefined), "The provider returned no result of a known kind"],
    [
      "a result of a kind that is not known",
      () => Promise.resolve({ kind: "toString" }),
      "The provider returned no result of a known kind",
    ],
  ])("ends a run as provider-failed for %s, and the provider serves the next", async (_, execute, message) => {
    const runs = new ProviderRuns({ clock: new TestClock() });
    await runs.add({ id: P, execute: execute as unknown as Provider["execute"] }, { capacity: 1 });
    for (const runId of ["one", "two"]) {
      const run = runs.start(requestFor(P, { runId }));
      const events = await collect(run);
      expect(events.at(-1)).toMatchObject({
        kind: "error",
        failure: "provider_failed",
        outcome: { kind: "provider-failed", message },
      });
    }
    expect(runs.stats()).toMatchObject({ endings: { "provider-failed": 2 }, pools: { [P]: { inUse: 0 } } });
  });

  it("tells the diagnostics channel what a provider and a sink threw, and keeps the run", async () => {
    const { runs, provider } = await runsWith();
    const heard: unknown[] = [];
    const hear = (message: unknown): void => void heard.push(message);
    const channels = ["airlock:providers:provider-failed", "airlock:providers:sink-failed"];
    for (const name of channels) subscribe(name, hear);
    const error = new Error("mine");
    const sink = (event: RunEvent): void => {
      if (event.kind === "started") throw error;
    };
    const run = runs.start(requestFor(P, { runId: "r" }), { sink });
    provider.calls[0]!.fail(error);
    expect(await run.outcome).toMatchObject({ kind: "provider-failed" });
    for (const name of channels) unsubscribe(name, hear);
    expect(heard).toEqual([
      { error, runId: "r" },
      { error, runId: "r", providerId: P },
    ]);
  });

  it("tells the host of an end before anyone else, and holds when it throws", async () => {
    const order: string[] = [];
    const provider = new HeldProvider(P);
    const runs = new ProviderRuns({
      ended: (run, terminal) => {
        order.push(`${run.runId} ${terminal.kind} with ${run.capabilityEvents.length}`);
        throw new Error("not ready for it");
      },
    });
    await runs.add(provider, { capacity: 1 });
    const sink = (event: RunEvent): void => void order.push(event.kind);
    const run = runs.start(requestFor(P, { runId: "r" }), { sink });
    provider.calls[0]!.emitter.emit({ kind: "event", event: { type: "t", version: "1.0.0", payload: 1 } });
    provider.calls[0]!.finish();
    await run.outcome;
    expect(order).toEqual(["started", "event", "r complete with 1", "complete"]);
    expect(runs.stats()).toMatchObject({ inFlight: 0, pools: { [P]: { inUse: 0 } } });
  });

  it("counts what a slow reader had no room for, where it would have stood", async () => {
    const { runs, provider } = await runsWith();
    const run = runs.start(requestFor(P, { runId: "r" }));
    const reader = run[Symbol.asyncIterator]();
    const { emitter, finish } = provider.calls[0]!;
    for (let i = 0; i < 5_000; i++) emitter.emit({ kind: "log", level: "info", message: "x" });
    expect((await reader.next()).value).toMatchObject({ kind: "started" });
    emitter.emit({ kind: "delta", text: "x".repeat(5_000_000) });
    finish();
    const outcome = await run.outcome;
    const rest = await collect(run);
    expect(rest.slice(-2)).toEqual([
      { kind: "skipped", count: 906 },
      { kind: "complete", outcome },
    ]);
    expect(rest).toHaveLength(4_097);
  });
});

describe("a provider's check", () => {
  it("refuses as it says, and one that throws anything else has failed: nothing has started", async () => {
    const runs = new ProviderRuns();
    const refused = new HostError("AIRLOCK_INVOCATION_INPUT_TOO_LARGE", "Cannot run it: too large");
    let thrown: unknown = refused;
    const check = (): never => {
      throw thrown;
    };
    await runs.add(Object.assign(new HeldProvider(P), { check }), { capacity: 1 });
    expect(() => runs.start(requestFor(P, { runId: "r" }))).toThrow(refused);
    for (thrown of [new TypeError("no such field"), "a text"]) {
      expect(() => runs.start(requestFor(P, { runId: "r" }))).toThrow(
        refusal("AIRLOCK_PROVIDERS_CHECK_FAILED", "provider_failed"),
      );
    }
    expect(runs.stats()).toMatchObject({ inFlight: 0, started: 0, pools: { [P]: { granted: 0 } } });
  });
});

describe("the queue", () => {
  it("counts the time in it apart, and serves by priority", async () => {
    const { clock, runs, provider } = await runsWith();
    const [first, later, urgent] = ["first", "later", "urgent"].map((runId) =>
      runs.start(requestFor(P, { runId }), { priority: runId === "urgent" ? 1 : 0 }),
    );
    clock.pass(30);
    provider.calls[0]!.finish();
    await first!.outcome;
    expect(provider.calls.map(({ request }) => request.runId)).toEqual(["first", "urgent"]);
    clock.pass(12);
    provider.calls[1]!.finish();
    expect((await urgent!.outcome).usage).toMatchObject({ queueMs: 30, guestMs: 12, totalMs: 42 });
    clock.pass(3);
    provider.calls[2]!.finish();
    expect((await later!.outcome).usage).toMatchObject({ queueMs: 42, guestMs: 3, totalMs: 45 });
  });

  it("ends a run in it at the deadline, at a cancellation and when the caller's signal aborts", async () => {
    const { clock, runs, provider } = await runsWith();
    const held = runs.start(requestFor(P, { runId: "held" }));
    const abort = new AbortController();
    const late = runs.start(requestFor(P, { runId: "late", deadline: clock.now() + 10 }));
    const unwanted = runs.start(requestFor(P, { runId: "unwanted" }));
    const left = runs.start(requestFor(P, { runId: "left" }), { signal: abort.signal });
    const gone = runs.start(requestFor(P, { runId: "gone" }), { signal: AbortSignal.abort(new Error("before")) });
    expect(runs.stats().pools[P]).toMatchObject({ inUse: 1, waiting: 3 });
    runs.cancel("unwanted", "enough");
    abort.abort("the client left");
    clock.pass(10);
    expect(await late.outcome).toMatchObject({ kind: "past-deadline", phase: "queue", limit: "deadlineMs" });
    expect(late.terminal).toMatchObject({ kind: "error", failure: "deadline_exceeded" });
    expect(await unwanted.outcome).toMatchObject({ kind: "cancelled", reason: "enough", usage: { guestMs: 0 } });
    expect(unwanted.terminal).toMatchObject({ kind: "cancelled", failure: "cancelled" });
    expect(await left.outcome).toMatchObject({ kind: "cancelled", reason: "the client left" });
    expect(await gone.outcome).toMatchObject({ kind: "cancelled", reason: "before" });
    provider.calls[0]!.finish();
    await held.outcome;
    expect(provider.calls).toHaveLength(1);
    expect(runs.stats()).toMatchObject({ inFlight: 0, pools: { [P]: { inUse: 0, waiting: 0 } } });
  });

  it("leaves no listener on the caller's signal, however a run ends", async () => {
    const { clock, runs, provider } = await runsWith(2);
    const { signal } = new AbortController();
    const start = (runId: string, deadline: number | null = null) =>
      runs.start(requestFor(P, { runId, deadline }), { signal });
    start("past", clock.now() - 1);
    const [done, late, gone, waiting] = ["done", "late", "gone", "waiting"].map((runId) =>
      start(runId, runId === "late" ? clock.now() + 5 : null),
    );
    expect(getEventListeners(signal, "abort")).toHaveLength(4);
    provider.calls[0]!.finish();
    await done!.outcome;
    clock.pass(5);
    await late!.outcome;
    gone!.disconnect("gone");
    waiting!.cancel();
    expect(getEventListeners(signal, "abort")).toEqual([]);
    expect(runs.stats()).toMatchObject({ inFlight: 0, pools: { [P]: { inUse: 0, waiting: 0 } } });
  });

  it("passes a slot on when the run that gets it is aborted in the same tick, before and after it got it", async () => {
    const { runs, provider } = await runsWith();
    const [before, after] = [new AbortController(), new AbortController()];
    const held = runs.start(requestFor(P, { runId: "held" }));
    const one = runs.start(requestFor(P, { runId: "one" }), { signal: before.signal });
    const two = runs.start(requestFor(P, { runId: "two" }), { signal: after.signal });
    const three = runs.start(requestFor(P, { runId: "three" }));
    before.abort();
    held.cancel();
    expect(provider.calls.map(({ request }) => request.runId)).toEqual(["held", "two"]);
    after.abort();
    expect(provider.calls.map(({ request }) => request.runId)).toEqual(["held", "two", "three"]);
    provider.calls[2]!.finish();
    expect((await Promise.all([held, one, two, three].map(({ outcome }) => outcome))).map(({ kind }) => kind)).toEqual([
      "cancelled",
      "cancelled",
      "cancelled",
      "succeeded",
    ]);
    expect(runs.stats().pools[P]).toMatchObject({ inUse: 0, waiting: 0, granted: 3, releasedAgain: 0 });
  });

  it("carries a run out once that gets its slot while it is told that it has started", async () => {
    const { runs, provider } = await runsWith();
    const held = runs.start(requestFor(P, { runId: "held" }));
    const sink = (event: RunEvent): void => {
      if (event.kind === "started") held.cancel();
    };
    const run = runs.start(requestFor(P, { runId: "r" }), { sink });
    expect(provider.calls.map(({ request }) => request.runId)).toEqual(["held", "r"]);
    provider.calls[1]!.finish();
    expect(await run.outcome).toMatchObject({ kind: "succeeded" });
    expect(runs.stats()).toMatchObject({ inFlight: 0, pools: { [P]: { inUse: 0, waiting: 0 } } });
  });

  it("holds when a provider that is stopped ends, starts and cancels other runs from inside its listener", async () => {
    const { runs, provider } = await runsWith();
    const held = runs.start(requestFor(P, { runId: "held" }));
    const waiting = runs.start(requestFor(P, { runId: "waiting" }));
    let started: ProviderRun | null = null;
    provider.calls[0]!.signal.addEventListener("abort", () => {
      waiting.cancel("by the listener");
      started = runs.start(requestFor(P, { runId: "started" }));
      throw new Error("and it throws");
    });
    held.cancel();
    expect(held.terminal).toMatchObject({ kind: "cancelled" });
    expect(waiting.terminal).toMatchObject({ outcome: { reason: "by the listener" } });
    expect(provider.calls.map(({ request }) => request.runId)).toEqual(["held", "started"]);
    provider.calls[1]!.finish();
    expect(await started!.outcome).toMatchObject({ kind: "succeeded" });
    expect(runs.stats().pools[P]).toMatchObject({ inUse: 0, waiting: 0 });
  });
});

describe("an ending from outside", () => {
  it("answers at once, tells the provider, and drops and counts what that still says", async () => {
    const { runs, provider } = await runsWith();
    const run = runs.start(requestFor(P, { runId: "r" }));
    const { signal, emitter, finish } = provider.calls[0]!;
    let told = 0;
    const listener = (): void => void told++;
    signal.addEventListener("abort", listener);
    signal.addEventListener("abort", listener);
    signal.addEventListener("abort", () => {
      throw new Error("nobody's business");
    });
    const removed = (): void => {
      told += 100;
    };
    signal.addEventListener("abort", removed);
    signal.removeEventListener("abort", removed);
    run.cancel("enough");
    expect(run.terminal).toMatchObject({ kind: "cancelled", outcome: { reason: "enough" } });
    expect(signal).toMatchObject({ aborted: true, reason: "enough" });
    expect(told).toBe(1);
    emitter.emit({ kind: "delta", text: "late" });
    finish();
    await settled();
    expect(run.cancel()).toBe(false);
    expect(runs.stats().late).toEqual({ events: 1, endings: 2 });
    expect((await collect(run)).map(({ kind }) => kind)).toEqual(["started", "cancelled"]);
    expect(() => runs.cancel("r")).toThrow(refusal("AIRLOCK_INVOCATION_RUN_UNKNOWN", "invalid_request"));
    expect(() => runs.cancel("")).toThrow(refusal("AIRLOCK_INVOCATION_REQUEST_INVALID", "invalid_request"));
  });

  it("ends the runs of a provider whose connection goes, and those that wait for nobody else; later ones are served", async () => {
    const { clock, runs, provider } = await runsWith();
    const [running, waiting] = ["running", "waiting"].map((runId) => runs.start(requestFor(P, { runId })));
    clock.pass(5);
    runs.setConnected(P, false, "the server hung up");
    runs.setConnected(P, false, "again");
    for (const run of [running, waiting]) {
      expect(run!.terminal).toMatchObject({
        kind: "error",
        failure: "transport_disconnected",
        outcome: { kind: "disconnected", message: "the server hung up" },
      });
    }
    expect(provider.calls[0]!.signal.aborted).toBe(true);
    runs.setConnected(P, true);
    const next = runs.start(requestFor(P, { runId: "next" }));
    provider.calls[1]!.finish();
    expect(await next.outcome).toMatchObject({ kind: "succeeded" });
    expect(runs.stats()).toMatchObject({ inFlight: 0, pools: { [P]: { inUse: 0, releasedAgain: 0 } } });
  });

  it("takes a disconnect of whoever asked as an ending of the run alone", async () => {
    const { runs, provider } = await runsWith(2);
    const [one, two] = ["one", "two"].map((runId) => runs.start(requestFor(P, { runId })));
    one!.disconnect("the client is gone");
    provider.calls[1]!.finish();
    expect(await one!.outcome).toMatchObject({ kind: "disconnected", message: "the client is gone" });
    expect(await two!.outcome).toMatchObject({ kind: "succeeded" });
  });
});

describe("a pool of providers", () => {
  const catalog = {
    candidates: [
      { providerId: "a@1.0.0", capacity: 1, priority: 2 },
      { providerId: "b@1.0.0", capacity: 1, priority: 1 },
    ],
    queue: 2,
  };

  async function pooled() {
    const runs = new ProviderRuns({ clock: new TestClock() });
    runs.addPool("models", catalog);
    const [a, b] = [new HeldProvider("a@1.0.0"), new HeldProvider("b@1.0.0")];
    await runs.add(a);
    await runs.add(b);
    return { runs, a, b, start: (runId: string, id = "models") => runs.start(requestFor(id, { runId })) };
  }

  it("has a run carried out by a candidate, and the outcome says by whom", async () => {
    const { a, b, start } = await pooled();
    const [one, two, three] = ["one", "two", "three"].map((runId) => start(runId));
    b.calls[0]!.finish();
    expect(await two!.outcome).toMatchObject({ kind: "succeeded", providerId: "b@1.0.0" });
    b.calls[1]!.finish();
    expect(await three!.outcome).toMatchObject({ providerId: "b@1.0.0" });
    a.calls[0]!.finish();
    expect(await one!.outcome).toMatchObject({ providerId: "a@1.0.0" });
    expect((await collect(one!))[0]).toEqual({ kind: "started", runId: "one", providerId: "models" });
  });

  it("shares the slots with runs that name a candidate", async () => {
    const { runs, a, b, start } = await pooled();
    start("direct", "a@1.0.0");
    start("any");
    expect([a.calls.length, b.calls.length]).toEqual([1, 1]);
    const waits = start("waits", "a");
    b.calls[0]!.finish();
    await settled();
    expect(b.calls).toHaveLength(1);
    a.calls[0]!.finish();
    await settled();
    a.calls[1]!.finish();
    expect(await waits.outcome).toMatchObject({ providerId: "a@1.0.0" });
    expect(runs.stats().pools["models"]).toMatchObject({ inUse: 0, waiting: 0 });
  });

  it("avoids no candidate because of earlier failures, and replaces none", async () => {
    const { a, b, start } = await pooled();
    for (let i = 0; i < 5; i++) {
      const run = start(`r${i}`);
      a.calls[i]!.fail(new Error("broken"));
      expect(await run.outcome).toMatchObject({ kind: "provider-failed", providerId: "a@1.0.0" });
    }
    expect(b.calls).toHaveLength(0);
  });

  it("goes on with the candidates that are left, and ends who waits only when there are none", async () => {
    const { runs, a, b, start } = await pooled();
    const [one, two, waits] = ["one", "two", "waits"].map((runId) => start(runId));
    runs.setConnected("a@1.0.0", false, "gone");
    expect(one!.terminal).toMatchObject({ outcome: { kind: "disconnected", providerId: "a@1.0.0" } });
    expect(waits!.terminal).toBeNull();
    b.calls[0]!.finish();
    await two!.outcome;
    expect(b.calls[1]!.request.runId).toBe("waits");
    const last = start("last");
    runs.setConnected("b@1.0.0", false, "gone too");
    expect(waits!.terminal).toMatchObject({ outcome: { kind: "disconnected", providerId: "b@1.0.0" } });
    expect(last.terminal).toMatchObject({ outcome: { kind: "disconnected", providerId: "models" } });
    expect(() => start("more")).toThrow(refusal("AIRLOCK_PROVIDERS_UNAVAILABLE", "provider_unavailable"));
    expect(a.calls).toHaveLength(1);
    expect(runs.stats()).toMatchObject({ inFlight: 0, pools: { models: { inUse: 0, waiting: 0 } } });
  });

  it("checks a request by who carries it out, and a refusal is the run's ending", async () => {
    const runs = new ProviderRuns({ clock: new TestClock() });
    runs.addPool("one", { candidates: [{ providerId: P, capacity: 1 }] });
    const check = () => {
      throw new HostError("AIRLOCK_INVOCATION_REQUEST_INVALID", "Cannot run it: input is wrong");
    };
    await runs.add({ id: P, check, execute: () => Promise.reject(new Error("not here")) });
    expect(await runs.start(requestFor("one", { runId: "r" })).outcome).toMatchObject({
      kind: "invalid-input",
      message: "Cannot run it: input is wrong",
    });
    expect(runs.stats().pools["one"]).toMatchObject({ inUse: 0 });
  });

  it("takes no candidate without a version, which no provider could ever be", () => {
    const runs = new ProviderRuns();
    for (const providerId of ["a", "a@1", "@1.0.0", "a@latest"]) {
      expect(() => runs.addPool("models", { candidates: [{ providerId, capacity: 1 }] })).toThrow(
        refusal("AIRLOCK_PROVIDERS_CATALOG_INVALID", "invalid_request"),
      );
    }
  });

  it("takes no name twice", async () => {
    const { runs, a } = await pooled();
    await runs.add(new HeldProvider("free@1.0.0"), { capacity: 1 });
    const twice = (name: string, providerId: string) => () =>
      runs.addPool(name, { candidates: [{ providerId, capacity: 1 }] });
    const duplicate = refusal("AIRLOCK_PROVIDERS_DUPLICATE", "invalid_request");
    expect(() => runs.addPool("models", catalog)).toThrow(duplicate);
    expect(() => runs.addPool("others", catalog)).toThrow(duplicate);
    expect(twice("free@1.0.0", "x@1.0.0")).toThrow(duplicate);
    expect(twice("free", "x@1.0.0")).toThrow(duplicate);
    expect(twice("others", "free@1.0.0")).toThrow(duplicate);
    await expect(runs.add(new HeldProvider("models@1.0.0"), { capacity: 1 })).rejects.toThrow(duplicate);
    runs.addPool("team@1.0.0", { candidates: [{ providerId: "c@1.0.0", capacity: 1 }] });
    await expect(runs.add(new HeldProvider("team@1.0.0"), { capacity: 1 })).rejects.toThrow(duplicate);
    await expect(runs.add(a)).rejects.toThrow(duplicate);
    await expect(runs.add(new HeldProvider("a@1.0.0"), { capacity: 1 })).rejects.toThrow(duplicate);
    const start = (): Promise<void> => new Promise(() => {});
    void runs.add(Object.assign(new HeldProvider("starting@1.0.0"), { lifecycle: { start } }), { capacity: 1 });
    for (const name of ["starting", "starting@1.0.0"]) expect(twice(name, "x@1.0.0")).toThrow(duplicate);
  });
});

describe("shared slots", () => {
  it("bound the runs of all who share them together", async () => {
    const runs = new ProviderRuns({ clock: new TestClock() });
    const pool = new ProviderPool(resolveCatalog({ candidates: [{ providerId: "thread", capacity: 1 }] }));
    pool.connect("thread", true);
    const [a, b] = [new HeldProvider("a@1.0.0"), new HeldProvider("b@1.0.0")];
    for (const provider of [a, b]) {
      const commands = { transport_status: () => ({ kind: "thread" as const }) };
      await runs.add(Object.assign(provider, { commands }), { pool, candidate: "thread" });
    }
    const [one, two] = ["a", "b"].map((id) => runs.start(requestFor(id, { runId: id })));
    expect([a.calls.length, b.calls.length]).toEqual([1, 0]);
    const inFlight = async (id: string) => (await runs.command(id, "transport_status")).inFlight;
    expect([await inFlight("a"), await inFlight("b")]).toEqual([1, 0]);
    a.calls[0]!.finish();
    expect(await one!.outcome).toMatchObject({ providerId: "a@1.0.0" });
    expect([await inFlight("a"), await inFlight("b")]).toEqual([0, 1]);
    runs.setConnected("a@1.0.0", false);
    expect(() => runs.start(requestFor("a", { runId: "c" }))).toThrow(
      refusal("AIRLOCK_PROVIDERS_UNAVAILABLE", "provider_unavailable"),
    );
    b.calls[0]!.finish();
    expect(await two!.outcome).toMatchObject({ providerId: "b@1.0.0" });
  });
});

describe("the life of a provider", () => {
  const living = (log: string[], start: () => Promise<void> | void = () => {}): Provider => ({
    id: P,
    execute: (_request, _emitter, signal) =>
      new Promise((resolve) =>
        signal.addEventListener("abort", () => {
          log.push("aborted");
          resolve({ kind: "cancelled", reason: "x" });
        }),
      ),
    lifecycle: {
      start: () => {
        log.push("start");
        return start();
      },
      stop: () => void log.push("stop"),
    },
  });

  it("starts before its first run and stops once, after its last", async () => {
    const log: string[] = [];
    const runs = new ProviderRuns({ clock: new TestClock() });
    await runs.add(living(log), { capacity: 1 });
    const run = runs.start(requestFor(P, { runId: "r" }));
    const removed = runs.remove(P);
    expect(() => runs.start(requestFor(P, { runId: "s" }))).toThrow(
      refusal("AIRLOCK_PROVIDERS_MISSING", "provider_missing"),
    );
    await settled();
    expect(log).toEqual(["start"]);
    run.cancel();
    await removed;
    await runs.close();
    await runs.close();
    expect(log).toEqual(["start", "aborted", "stop"]);
  });

  it("finishes what it has taken when it is removed, also what waits, and may be registered anew meanwhile", async () => {
    const { runs, provider } = await runsWith(1);
    const [running, waiting] = ["running", "waiting"].map((runId) => runs.start(requestFor(P, { runId })));
    let removed = false;
    const removal = runs.remove(P).then(() => {
      removed = true;
    });
    const successor = new HeldProvider(P);
    await runs.add(successor, { capacity: 1 });
    const next = runs.start(requestFor(P, { runId: "next" }));
    provider.calls[0]!.finish();
    await running!.outcome;
    await settled();
    expect(removed).toBe(false);
    provider.calls[1]!.finish();
    expect(await waiting!.outcome).toMatchObject({ kind: "succeeded" });
    await removal;
    successor.calls[0]!.finish();
    expect(await next.outcome).toMatchObject({ kind: "succeeded" });
    expect([provider.calls.length, successor.calls.length]).toEqual([2, 1]);
  });

  it("is not registered when it cannot start, or when the host closes meanwhile", async () => {
    const log: string[] = [];
    const runs = new ProviderRuns({ clock: new TestClock() });
    const broken = living(log, () => Promise.reject(new Error("no server")));
    await expect(runs.add(broken, { capacity: 1 })).rejects.toThrow(
      refusal("AIRLOCK_PROVIDERS_START_FAILED", "provider_unavailable"),
    );
    expect(runs.list()).toEqual([]);
    let go = (): void => {};
    const slow = living(log, () => new Promise<void>((resolve) => (go = resolve)));
    const added = runs.add(slow, { capacity: 1 });
    await expect(runs.add(living(log), { capacity: 1 })).rejects.toThrow(
      refusal("AIRLOCK_PROVIDERS_DUPLICATE", "invalid_request"),
    );
    const closed = runs.close();
    go();
    await expect(added).rejects.toThrow(refusal("AIRLOCK_HOST_CLOSED", "provider_unavailable"));
    await closed;
    expect(log).toEqual(["start", "start", "stop"]);
  });

  it("refuses an id without a version, and slots that make no sense", async () => {
    const runs = new ProviderRuns({ clock: new TestClock() });
    for (const id of ["p", "@1.0.0", "p@1", "p@v1.0.0", ""]) {
      await expect(runs.add(new HeldProvider(id), { capacity: 1 })).rejects.toThrow(
        refusal("AIRLOCK_PROVIDERS_DEFINITION_INVALID", "invalid_request"),
      );
    }
    for (const capacity of [0, -1, 1.5, Number.NaN]) {
      await expect(runs.add(new HeldProvider(P), { capacity })).rejects.toThrow(
        refusal("AIRLOCK_PROVIDERS_CATALOG_INVALID", "invalid_request"),
      );
    }
    await runs.add(new HeldProvider(P));
    expect(runs.describe()).toMatchObject([{ id: P, capacity: 1 }]);
    for (const name of ["", "a b", "a\n", "x".repeat(129), 5, null]) {
      const catalog = { candidates: [{ providerId: "any@1.0.0", capacity: 1 }] };
      expect(() => runs.addPool(name as string, catalog)).toThrow(
        refusal("AIRLOCK_PROVIDERS_CATALOG_INVALID", "invalid_request"),
      );
    }
  });

  it("refuses a candidate without a version, which nobody can be, and says who has slots already", async () => {
    const runs = new ProviderRuns({ clock: new TestClock() });
    expect(() => runs.addPool("bare", { candidates: [{ providerId: "p", capacity: 1 }] })).toThrow(
      refusal("AIRLOCK_PROVIDERS_CATALOG_INVALID", "invalid_request"),
    );
    const catalog = { candidates: [{ providerId: P, capacity: 1 }] };
    runs.addPool("models", catalog);
    await expect(runs.add(new HeldProvider(P), { capacity: 1 })).rejects.toThrow(/add it without slots$/);
    expect(() => runs.addPool("more", catalog)).toThrow(/set up the pool before it and add it without slots$/);
  });

  it("close() waits for what is in flight and then cancels the rest", async () => {
    const { clock, runs, provider } = await runsWith(2);
    const [brief, long] = ["brief", "long"].map((runId) => runs.start(requestFor(P, { runId })));
    const closed = runs.close({ drainMs: 100 });
    expect(() => runs.start(requestFor(P, { runId: "late" }))).toThrow(
      refusal("AIRLOCK_HOST_CLOSED", "provider_unavailable"),
    );
    provider.calls[0]!.finish();
    expect(await brief!.outcome).toMatchObject({ kind: "succeeded" });
    clock.pass(99);
    await settled();
    expect(long!.terminal).toBeNull();
    clock.pass(1);
    expect(await long!.outcome).toMatchObject({ kind: "cancelled", reason: "the host is closing" });
    await closed;
    const other = await runsWith();
    const last = other.runs.start(requestFor(P, { runId: "last" }));
    const drained = other.runs.close({ drainMs: 100 });
    other.provider.calls[0]!.finish();
    await drained;
    expect(await last.outcome).toMatchObject({ kind: "succeeded" });
    expect(other.clock.alarms).toBe(0);
  });

  it("close() cancels every run, also one that ignores it, and none of them can start another", async () => {
    const { runs } = await runsWith(1);
    let refused: unknown = null;
    const sink = (event: RunEvent): void => {
      if (event.kind !== "cancelled") return;
      try {
        runs.start(requestFor(P, { runId: "another" }));
      } catch (error) {
        refused = error;
      }
    };
    const outcomes = ["one", "two"].map((runId) => runs.start(requestFor(P, { runId }), { sink }).outcome);
    await runs.close();
    expect((await Promise.all(outcomes)).map((outcome: Outcome) => outcome.kind)).toEqual(["cancelled", "cancelled"]);
    expect(refused).toEqual(refusal("AIRLOCK_HOST_CLOSED", "provider_unavailable"));
  });
});
