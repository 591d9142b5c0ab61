import { subscribe, unsubscribe } from "node:diagnostics_channel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Encoded, Endpoint } from "./endpoint.ts";
import { eventsOf, outcomeAlone } from "./endpoints.ts";
import type { RunEvent } from "./provider.ts";
import { ProviderRuns } from "./provider-runs.ts";
import { TestClock } from "./test-clock.ts";
import { type HeldCall, HeldProvider, requestFor, settled } from "./test-requests.ts";

const P = "p@1.0.0";

/** An endpoint whose reader takes one message when a test says so, and leaves when it says so. */
class HeldEndpoint implements Endpoint<RunEvent> {
  readonly sent: RunEvent[] = [];
  ended = 0;
  watched = 0;
  #gone: ((message: string) => void) | null = null;
  #drained: (() => void) | null = null;
  readonly #holds: boolean;

  constructor(holds = true) {
    this.#holds = holds;
  }

  get waiting(): boolean {
    return this.#drained !== null;
  }

  encode(event: RunEvent): Encoded<RunEvent> {
    return { message: event, bytes: event.kind === "delta" ? event.text.length : 1 };
  }

  send(event: RunEvent): Promise<void> | null {
    expect(this.ended, "sent after the end").toBe(0);
    expect(this.waiting, "sent while another message waits").toBe(false);
    this.sent.push(event);
    if (!this.#holds) return null;
    return new Promise((resolve) => {
      this.#drained = resolve;
    });
  }

  end(): null {
    this.ended++;
    return null;
  }

  watch(gone: (message: string) => void): () => void {
    this.#gone = gone;
    this.watched++;
    return () => void this.watched--;
  }

  drain(): void {
    this.#drained?.();
    this.#drained = null;
  }

  leave(): void {
    this.#gone?.("left");
  }
}

async function gateFor(endpoint: HeldEndpoint, bounds = {}, runId = "r") {
  const runs = new ProviderRuns({ clock: new TestClock() });
  const provider = new HeldProvider(P);
  await runs.add(provider, { capacity: 1 });
  const run = runs.start<string>(requestFor(P, { runId }));
  const gate = run.to(endpoint, bounds);
  return { runs, run, gate, call: provider.calls[0] as HeldCall };
}

const delta = (text: string) => ({ kind: "delta", text }) as const;
const inUse = (runs: ProviderRuns): number => runs.stats().pools[P]!.inUse;

describe("StreamGate", () => {
  it("sends everything in order with the terminal event last, then ends the endpoint and stops watching it", async () => {
    const endpoint = new HeldEndpoint(false);
    const { gate, call } = await gateFor(endpoint);
    for (const text of ["a", "b", "c"]) call.emitter.emit(delta(text));
    call.finish({ kind: "succeeded", output: "abc" });
    const { delivered, outcome } = await gate.done;
    expect(delivered).toBe(true);
    expect(endpoint.sent).toEqual([
      { kind: "started", runId: "r", providerId: P },
      delta("a"),
      delta("b"),
      delta("c"),
      { kind: "complete", outcome },
    ]);
    expect(endpoint).toMatchObject({ ended: 1, watched: 0 });
    call.emitter.emit(delta("late"));
    await settled();
    expect(endpoint.sent).toHaveLength(5);
    expect(gate.stats()).toMatchObject({ sent: 5, unreadEvents: 0, unreadBytes: 0, pauses: 0 });
  });

  it("takes what was said before it was opened, also of a run that has ended", async () => {
    const runs = new ProviderRuns({ clock: new TestClock() });
    const provider = new HeldProvider(P);
    await runs.add(provider, { capacity: 1 });
    const run = runs.start(requestFor(P, { runId: "r" }));
    provider.calls[0]!.emitter.emit(delta("a"));
    provider.calls[0]!.finish();
    await run.outcome;
    const endpoint = new HeldEndpoint(false);
    expect(await run.to(endpoint).done).toMatchObject({ delivered: true, outcome: { kind: "succeeded" } });
    expect(endpoint.sent.map(({ kind }) => kind)).toEqual(["started", "delta", "complete"]);
  });

  it("pauses a provider that waits for room, and lets it go on when little is left", async () => {
    const endpoint = new HeldEndpoint();
    const { gate, call } = await gateFor(endpoint, { events: 16 });
    const emitter = call.emitter;
    let emitted = 1;
    while (emitter.room!() === null) {
      emitter.emit(delta("x"));
      emitted++;
    }
    expect(emitted).toBe(5);
    let free = false;
    void emitter.room!()!.then(() => {
      free = true;
    });
    for (const left of [4, 3, 2]) {
      await settled();
      expect([gate.stats().unreadEvents, free]).toEqual([left + 1, false]);
      endpoint.drain();
    }
    await settled();
    expect([gate.stats().unreadEvents, free, emitter.room!()]).toEqual([2, true, null]);
    expect(gate.stats()).toMatchObject({ pauses: 1, mostUnreadEvents: 5 });
  });

  it.each([
    ["ends", (call: HeldCall) => call.finish(), "succeeded"],
    ["loses its reader", (_: HeldCall, endpoint: HeldEndpoint) => endpoint.leave(), "disconnected"],
  ])("wakes a paused provider when its run %s", async (_, act, kind) => {
    const endpoint = new HeldEndpoint();
    const { run, call } = await gateFor(endpoint, { events: 4 });
    call.emitter.emit(delta("x"));
    const room = call.emitter.room!();
    expect(room).not.toBeNull();
    act(call, endpoint);
    await room;
    expect(await run.outcome).toMatchObject({ kind });
    expect(call.emitter.room!()).toBeNull();
  });

  it.each([
    ["unreadEvents", { events: 3 }, ["a", "b", "c", "d"], 3],
    ["unreadBytes", { bytes: 10 }, ["aaaa", "bbbb", "cccc", "d"], 3],
    ["unreadBytes", { bytes: 10 }, ["x".repeat(11)], 1],
  ])(
    "ends a run that does not pause as over-budget at %s, sends what it has taken, and stops the provider",
    async (limit, bounds, texts, taken) => {
      const endpoint = new HeldEndpoint();
      const { runs, gate, call } = await gateFor(endpoint, bounds);
      for (const text of texts) call.emitter.emit(delta(text));
      expect(call.signal.aborted).toBe(true);
      expect(inUse(runs)).toBe(0);
      expect(gate.stats().unreadEvents).toBe(taken);
      while (endpoint.ended === 0) {
        endpoint.drain();
        await settled();
      }
      const { delivered, outcome } = await gate.done;
      expect(delivered).toBe(true);
      expect(outcome).toMatchObject({ kind: "over-budget", limit });
      expect(endpoint.sent.slice(1)).toEqual([
        ...texts.slice(0, taken - 1).map(delta),
        { kind: "error", failure: "over_budget", outcome },
      ]);
    },
  );

  it("tells a sink of the event that had no room before it tells it of the end", async () => {
    const runs = new ProviderRuns({ clock: new TestClock() });
    const provider = new HeldProvider(P);
    await runs.add(provider, { capacity: 1 });
    const heard: RunEvent[] = [];
    const run = runs.start(requestFor(P, { runId: "r" }), { sink: (event) => void heard.push(event) });
    run.to(new HeldEndpoint(), { events: 2 });
    for (const text of ["a", "b", "c"]) provider.calls[0]!.emitter.emit(delta(text));
    expect(heard.map(({ kind }) => kind)).toEqual(["started", "delta", "delta", "error"]);
  });

  it("sends nothing that was said after an event that had no room, be it from inside a sink", async () => {
    const runs = new ProviderRuns({ clock: new TestClock() });
    const provider = new HeldProvider(P);
    await runs.add(provider, { capacity: 1 });
    const sink = (event: RunEvent): void => {
      if (event.kind === "delta" && event.text.length > 10) provider.calls[0]!.emitter.emit(delta("small"));
    };
    const endpoint = new HeldEndpoint(false);
    const { done } = runs.start(requestFor(P, { runId: "r" }), { sink }).to(endpoint, { bytes: 10 });
    provider.calls[0]!.emitter.emit(delta("x".repeat(11)));
    expect(await done).toMatchObject({ delivered: true, outcome: { kind: "over-budget", limit: "unreadBytes" } });
    expect(endpoint.sent.map(({ kind }) => kind)).toEqual(["started", "error"]);
  });

  it("ends a run whose reader leaves as transport_disconnected, once, and sends nothing more", async () => {
    const endpoint = new HeldEndpoint();
    const { runs, run, gate, call } = await gateFor(endpoint);
    call.emitter.emit(delta("a"));
    await settled();
    endpoint.leave();
    endpoint.leave();
    expect(inUse(runs)).toBe(0);
    expect(call.signal.aborted).toBe(true);
    expect(await gate.done).toMatchObject({ delivered: false, outcome: { kind: "disconnected", message: "left" } });
    expect(run.terminal).toMatchObject({ kind: "error", failure: "transport_disconnected" });
    endpoint.drain();
    call.emitter.emit(delta("b"));
    call.finish();
    await settled();
    expect(endpoint.sent.map(({ kind }) => kind)).toEqual(["started"]);
    expect(endpoint).toMatchObject({ ended: 0, watched: 0 });
    expect(runs.stats().endings).toMatchObject({ disconnected: 1, succeeded: 0 });
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("no wire");
      },
    ],
    ["rejects", () => Promise.reject(new Error("no wire"))],
  ])("takes an endpoint that %s for one that is gone", async (_, send) => {
    const endpoint = Object.assign(new HeldEndpoint(), { send });
    const { gate } = await gateFor(endpoint);
    expect(await gate.done).toMatchObject({ delivered: false, outcome: { kind: "disconnected", message: "no wire" } });
  });

  it("leaves a run alone that ended before its reader left, and says that not all was delivered", async () => {
    const endpoint = new HeldEndpoint();
    const { runs, gate, call } = await gateFor(endpoint);
    call.finish();
    await settled();
    endpoint.leave();
    expect(await gate.done).toMatchObject({ delivered: false, outcome: { kind: "succeeded" } });
    expect(runs.stats().late.endings).toBe(0);
  });

  it("ends a run as provider-failed for an event that cannot be said, and says instead of an output that its is none", async () => {
    const one = new HeldEndpoint(false);
    const encode = (event: RunEvent): Encoded<RunEvent> => ({
      message: JSON.parse(JSON.stringify(event)) as RunEvent,
      bytes: 1,
    });
    const failing = await gateFor(Object.assign(one, { encode }));
    failing.call.emitter.emit({ kind: "event", event: { type: "t", version: "1.0.0", payload: 1n } });
    expect(await failing.gate.done).toMatchObject({ delivered: true, outcome: { kind: "provider-failed" } });
    const two = Object.assign(new HeldEndpoint(false), { encode });
    const { gate, call } = await gateFor(two);
    call.finish({ kind: "succeeded", output: 1n });
    expect(await gate.done).toMatchObject({ delivered: true, outcome: { kind: "succeeded" } });
    expect(two.sent.at(-1)).toMatchObject({
      kind: "error",
      failure: "output_invalid",
      outcome: { kind: "invalid-output" },
    });
  });

  it("throws for bounds that bound nothing, for a second reader, and for a run whose events are not all there any more", async () => {
    const endpoint = new HeldEndpoint();
    const { run, runs } = await gateFor(endpoint);
    const taken = expect.objectContaining({ code: "AIRLOCK_PROVIDERS_EVENTS_TAKEN", failure: "invalid_request" });
    expect(() => run.to(endpoint)).toThrow(taken);
    expect(() => run[Symbol.asyncIterator]()).toThrow(taken);
    const invalid = expect.objectContaining({ code: "AIRLOCK_PROVIDERS_GATE_INVALID" });
    for (const bounds of [{ events: 0 }, { bytes: Number.POSITIVE_INFINITY }, { events: 1.5 }]) {
      expect(() => run.to(endpoint, bounds)).toThrow(invalid);
    }
    const flood = new HeldProvider("q@1.0.0", ({ emitter }) => {
      for (let i = 0; i < 5_000; i++) emitter.emit(delta("x"));
    });
    await runs.add(flood, { capacity: 2 });
    const ended = runs.start(requestFor("q@1.0.0", { runId: "ended" }));
    flood.calls[0]!.finish();
    await ended.outcome;
    expect(() => ended.to(endpoint)).toThrow(taken);
    const open = new HeldEndpoint(false);
    const { outcome } = await runs.start(requestFor("q@1.0.0", { runId: "open" })).to(open).done;
    expect(outcome).toMatchObject({ kind: "over-budget", limit: "unreadEvents" });
    expect(open.sent.slice(0, -1)).toHaveLength(4_096);
  });

  it("tells the diagnostics channel how it closed", async () => {
    const heard: unknown[] = [];
    const hear = (message: unknown): void => void heard.push(message);
    subscribe("airlock:providers:gate-closed", hear);
    const { gate, call } = await gateFor(new HeldEndpoint(false), {}, "told");
    call.finish();
    await gate.done;
    unsubscribe("airlock:providers:gate-closed", hear);
    expect(heard).toEqual([{ runId: "told", delivered: true, stats: gate.stats() }]);
  });
});

describe("outcomeAlone()", () => {
  it("waits for the outcome and lets the events go", async () => {
    const { gate, call } = await gateFor(outcomeAlone() as unknown as HeldEndpoint, { events: 1 });
    for (let i = 0; i < 5_000; i++) call.emitter.emit(delta("x"));
    call.finish({ kind: "succeeded", output: "all" });
    expect(await gate.done).toMatchObject({ delivered: true, outcome: { kind: "succeeded", output: "all" } });
    expect(gate.stats()).toMatchObject({ sent: 0, mostUnreadEvents: 0 });
  });

  it("ends the run when the signal of whoever asked aborts, also when it has before", async () => {
    const client = new AbortController();
    const { run } = await gateFor(outcomeAlone(client.signal) as unknown as HeldEndpoint);
    client.abort();
    expect(await run.outcome).toMatchObject({ kind: "disconnected" });
    const second = await gateFor(outcomeAlone(client.signal) as unknown as HeldEndpoint);
    expect(await second.gate.done).toMatchObject({ delivered: false, outcome: { kind: "disconnected" } });
  });
});

describe("eventsOf()", () => {
  async function iterated(bounds = {}) {
    const runs = new ProviderRuns({ clock: new TestClock() });
    const provider = new HeldProvider(P);
    await runs.add(provider, { capacity: 1 });
    const run = runs.start(requestFor(P, { runId: "r" }));
    return { run, runs, call: provider.calls[0] as HeldCall, events: eventsOf(run, bounds) };
  }

  it("gives everything to a reader that slows the provider down", async () => {
    const { call, events, run } = await iterated({ events: 8 });
    const wanted = Array.from({ length: 1_000 }, (_, i) => `${i}`);
    void (async () => {
      for (const text of wanted) {
        call.emitter.emit(delta(text));
        await call.emitter.room!();
      }
      call.finish();
    })();
    const seen: string[] = [];
    const kinds = new Set<string>();
    for await (const event of events) {
      kinds.add(event.kind);
      if (event.kind === "delta") seen.push(event.text);
    }
    expect(seen).toEqual(wanted);
    expect([...kinds]).toEqual(["started", "delta", "complete"]);
    expect(await run.outcome).toMatchObject({ kind: "succeeded" });
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });

  it("ends the run when the reader leaves before its end", async () => {
    const { call, events, run, runs } = await iterated();
    call.emitter.emit(delta("x"));
    for await (const event of events) if (event.kind === "delta") break;
    expect(await run.outcome).toMatchObject({ kind: "disconnected", message: "the reader left before the end" });
    expect(inUse(runs)).toBe(0);
  });

  it("answers several askers in the order in which they asked", async () => {
    const { call, events } = await iterated();
    const asked = [1, 2, 3, 4].map(() => events.next());
    call.emitter.emit(delta("a"));
    call.finish();
    expect((await Promise.all(asked)).map(({ value }) => value?.kind)).toEqual([
      "started",
      "delta",
      "complete",
      undefined,
    ]);
  });
});

it("any interleaving of events, drains, departures and endings keeps the order, one terminal, the bounds, and every event unless it ended typed", async () => {
  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constant("emit" as const), length: fc.integer({ min: 0, max: 40 }) }),
    },
    { weight: 6, arbitrary: fc.constant({ kind: "drain" as const }) },
    { weight: 3, arbitrary: fc.constant({ kind: "turn" as const }) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom(...(["leave", "finish", "fail", "cancel", "disconnect"] as const))
        .map((kind) => ({ kind })),
    },
  );
  const shape = fc.record({
    steps: fc.array(step, { maxLength: 60 }),
    events: fc.integer({ min: 1, max: 20 }),
    bytes: fc.integer({ min: 1, max: 200 }),
    pausable: fc.boolean(),
    holds: fc.boolean(),
  });
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(shape, async ({ steps, events, bytes, pausable, holds }) => {
      const endpoint = new HeldEndpoint(holds);
      const { runs, run, gate, call } = await gateFor(endpoint, { events, bytes });
      const emitted: string[] = [];
      let left = false;
      for (const { kind, ...rest } of steps) {
        if (kind === "emit") {
          if (pausable && call.emitter.room!() !== null) continue;
          const text = "x".repeat((rest as { length: number }).length);
          if (run.terminal === null) emitted.push(text);
          call.emitter.emit(delta(text));
        } else if (kind === "drain") endpoint.drain();
        else if (kind === "turn") await settled();
        else if (kind === "leave") {
          left = true;
          endpoint.leave();
        } else if (kind === "finish") call.finish();
        else if (kind === "fail") call.fail(new Error("broken"));
        else if (kind === "cancel") run.cancel();
        else run.disconnect("gone");
        const { unreadEvents, unreadBytes, mostUnreadEvents, mostUnreadBytes } = gate.stats();
        expect(Math.max(unreadEvents, mostUnreadEvents)).toBeLessThanOrEqual(events);
        expect(Math.max(unreadBytes, mostUnreadBytes)).toBeLessThanOrEqual(bytes);
      }
      call.finish();
      for (let turns = 0; endpoint.ended === 0 && !left; turns++) {
        expect(turns, "the gate hangs").toBeLessThan(200);
        endpoint.drain();
        await settled();
      }
      const { delivered, outcome } = await gate.done;
      seen.set(outcome.kind, (seen.get(outcome.kind) ?? 0) + 1);
      const texts = endpoint.sent.flatMap((event) => (event.kind === "delta" ? [event.text] : []));
      const terminals = endpoint.sent.filter((event) => "outcome" in event);
      expect(texts).toEqual(emitted.slice(0, texts.length));
      expect(endpoint.watched).toBe(0);
      expect(inUse(runs)).toBe(0);
      expect(Object.values(runs.stats().endings).reduce((sum, each) => sum + each)).toBe(1);
      expect(await run.outcome).toBe(outcome);
      expect(terminals.length).toBeLessThanOrEqual(1);
      if (!delivered) {
        expect(left).toBe(true);
        return;
      }
      expect(endpoint.ended).toBe(1);
      expect(endpoint.sent.at(-1)).toEqual(run.terminal);
      if (outcome.kind !== "over-budget") expect(texts).toEqual(emitted);
    }),
    { numRuns: 500 },
  );
  // The schedules are worth something only where everything happens often.
  for (const kind of ["succeeded", "over-budget", "disconnected", "cancelled", "provider-failed"]) {
    expect(seen.get(kind), kind).toBeGreaterThan(0);
  }
});
