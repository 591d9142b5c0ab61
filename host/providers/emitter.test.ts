import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ENDINGS, type OutcomeKind } from "../errors/errors.ts";
import { type LateCounts, RunEmitter, type RunListener } from "./emitter.ts";
import type { RunReport, RunResult } from "./outcome.ts";
import type { RunEvent } from "./provider.ts";
import { TestClock } from "./test-clock.ts";
import { requestFor } from "./test-requests.ts";

class Listener implements RunListener {
  readonly events: RunEvent[] = [];
  ends = 0;

  heard(event: RunEvent): void {
    this.events.push(event);
  }

  ended(): void {
    this.ends++;
  }
}

function emitter(deadline: number | null = null, sessionId?: string) {
  const clock = new TestClock();
  const listener = new Listener();
  const late: LateCounts = { events: 0, endings: 0 };
  const request = requestFor("p@1.0.0", {
    runId: "r",
    deadline: deadline === null ? null : clock.now() + deadline,
    ...(sessionId === undefined ? {} : { sessionId }),
  });
  return { clock, listener, late, run: new RunEmitter(request, listener, clock, late) };
}

/** Everything that can race in a run, with the kind of its ending, or null when it ends nothing. */
const INPUTS = {
  delta: null,
  event: null,
  usage: null,
  log: null,
  "a quiet second": null,
  result: "succeeded",
  decline: "failed",
  "no result": "provider-failed",
  throw: "provider-failed",
  cancel: "cancelled",
  disconnect: "disconnected",
  deadline: "past-deadline",
  "a slow reader": "over-budget",
} as const satisfies Record<string, OutcomeKind | null>;

type Input = keyof typeof INPUTS;

describe("RunEmitter", () => {
  it("gives any interleaving of what races in order, with exactly one terminal at its end", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...(Object.keys(INPUTS) as Input[])), { maxLength: 60 }),
        fc.boolean(),
        (inputs, accounted) => {
          const { clock, listener, late, run } = emitter(1_000_000);
          run.open();
          run.begin("p@1.0.0");
          if (accounted) run.account({ phase: "guest", report: () => report(7) });
          const said: unknown[] = [];
          let first: OutcomeKind | null = null;
          const dropped = { events: 0, endings: 0 };
          for (const [index, input] of inputs.entries()) {
            const ending = INPUTS[input];
            const wasEnded = first !== null;
            apply(input, index);
            if (ending !== null) {
              if (!wasEnded) first = ending;
              // A deadline that has nobody to wake is no late ending.
              else if (input !== "deadline") dropped.endings++;
            } else if (input !== "a quiet second") {
              if (wasEnded) dropped.events++;
              else said.push(index);
            }
          }
          const kinds = listener.events.map(({ kind }) => kind);
          expect(kinds[0]).toBe("started");
          const terminals = listener.events.filter((event) => "outcome" in event);
          expect(terminals).toHaveLength(first === null ? 0 : 1);
          expect(listener.ends).toBe(terminals.length);
          if (first !== null) {
            const terminal = listener.events.at(-1);
            expect(terminal).toBe(run.terminal);
            expect(terminal).toMatchObject({ kind: ENDINGS[first].terminal, outcome: { kind: first } });
            const failure = run.terminal!.failure ?? null;
            expect(failure).toBe(ENDINGS[first].failure);
            expect(clock.alarms).toBe(0);
            expect(run.signal.aborted).toBe(
              ["cancelled", "disconnected", "past-deadline", "over-budget"].includes(first),
            );
          }
          const heard = listener.events.flatMap((event) => (event.kind === "log" ? [Number(event.message)] : []));
          const spoken = listener.events.flatMap((event) => indexOf(event) ?? []);
          expect(spoken).toEqual(said);
          expect(heard).toEqual(heard.toSorted((a, b) => a - b));
          expect(late).toEqual(dropped);

          function apply(input: Input, index: number): void {
            const text = String(index);
            if (input === "delta") run.emit({ kind: "delta", text });
            else if (input === "event")
              run.emit({ kind: "event", event: { type: text, version: "1.0.0", payload: 0 } });
            else if (input === "usage") run.emit({ kind: "usage", tokens: { inputTokens: index, outputTokens: 0 } });
            else if (input === "log") run.emit({ kind: "log", level: "info", message: text });
            else if (input === "a quiet second") clock.pass(1_000);
            else if (input === "result") run.finish({ kind: "succeeded", output: index });
            else if (input === "decline")
              run.finish({ kind: "failed", failure: { code: "no", message: "no", retryable: false } });
            else if (input === "no result") run.finish(undefined as unknown as RunResult);
            else if (input === "throw") run.fail(new Error(text));
            else if (input === "cancel") run.cancel("enough");
            else if (input === "disconnect") run.disconnect("gone");
            else if (input === "a slow reader") run.cut({ kind: "over-budget", limit: "unreadBytes" });
            else clock.pass(1_000_000);
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it("keeps the order and the one terminal when a listener ends the run from inside an event", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 1, max: 10 }), (at, count) => {
        const clock = new TestClock();
        const events: RunEvent[] = [];
        const listener: RunListener = {
          heard(event) {
            events.push(event);
            if (event.kind === "delta" && event.text === String(at)) run.cancel("heard enough");
          },
          ended() {
            run.emit({ kind: "delta", text: "from the end" });
            run.cancel("again");
          },
        };
        const run = new RunEmitter(requestFor("p@1.0.0", { runId: "r" }), listener, clock, { events: 0, endings: 0 });
        run.open();
        for (let i = 0; i < count; i++) run.emit({ kind: "delta", text: String(i) });
        run.finish({ kind: "succeeded", output: 1 });
        const spoken = events.flatMap((event) => (event.kind === "delta" ? [event.text] : []));
        const expected = Array.from({ length: count }, (_, i) => String(i)).slice(0, at + 1);
        expect(spoken).toEqual(expected);
        expect(events.filter((event) => "outcome" in event)).toHaveLength(1);
        expect(events.at(-1)).toMatchObject({ kind: at < count ? "cancelled" : "complete" });
      }),
    );
  });

  it("fills in the outcome of a provider that does not measure", () => {
    const { clock, run } = emitter(null, "session");
    run.open();
    clock.pass(5);
    run.begin("chosen@1.0.0");
    clock.pass(20);
    run.emit({ kind: "usage", tokens: { inputTokens: 1, outputTokens: 2 } });
    run.emit({ kind: "usage", tokens: { inputTokens: 1, outputTokens: 9 } });
    run.finish({ kind: "succeeded", output: "x" });
    expect(run.terminal).toMatchObject({
      kind: "complete",
      outcome: {
        runId: "r",
        sessionId: "session",
        providerId: "chosen@1.0.0",
        kind: "succeeded",
        output: "x",
        tokens: { inputTokens: 1, outputTokens: 9 },
        usage: { queueMs: 5, guestMs: 20, totalMs: 25, fuel: 0 },
        evidence: null,
      },
    });
  });

  it("takes the whole outcome of a provider that measures, and adds what only the run knows", () => {
    const whole = {
      ...report(3),
      runId: "r",
      providerId: "p@1.0.0",
      operation: "call",
      kind: "succeeded",
      output: 1,
    } as const;
    const bare = emitter();
    bare.run.open();
    bare.run.finish(whole);
    expect(bare.run.terminal!.outcome).toBe(whole);
    const rich = emitter(null, "s");
    rich.run.open();
    rich.run.emit({ kind: "usage", tokens: { inputTokens: 4, outputTokens: 4 } });
    rich.run.finish(whole);
    expect(rich.run.terminal!.outcome).toEqual({
      ...whole,
      sessionId: "s",
      tokens: { inputTokens: 4, outputTokens: 4 },
    });
  });

  it("asks the account of a run that is cut off", () => {
    const { clock, run } = emitter(50);
    run.open();
    run.begin("p@1.0.0");
    run.account({ phase: "setup", report: (endedAt) => report(endedAt - clock.now() + 11) });
    run.account({ phase: "guest", report: () => report(99) });
    clock.pass(50);
    expect(run.terminal!.outcome).toMatchObject({
      kind: "past-deadline",
      phase: "setup",
      limit: "deadlineMs",
      usage: { fuel: 11 },
    });
  });

  it("ends at the wall clock, which begins when its time is known, and says which limit tripped first", () => {
    const { clock, run } = emitter(500);
    let since: number | null = null;
    run.open();
    run.begin("p@1.0.0");
    run.account({ phase: "guest", wallMs: 100, wallSince: () => since, report: () => report(0) });
    clock.pass(80);
    since = clock.now();
    clock.pass(99);
    expect(run.terminal).toBeNull();
    clock.pass(1);
    expect(run.terminal!.outcome).toMatchObject({ kind: "past-deadline", limit: "wallMs" });
    expect(run.signal).toMatchObject({ aborted: true, reason: "past wallMs" });
  });

  it("does not begin a run whose deadline has passed while the event loop was busy", () => {
    const { clock, run } = emitter(10);
    run.open();
    clock.stall(11);
    expect(run.begin("p@1.0.0")).toBe(false);
    expect(run.terminal!.outcome).toMatchObject({ kind: "past-deadline", phase: "queue" });
  });

  it("leaves a silent run alone for as long as it likes", () => {
    const { clock, listener, run } = emitter();
    run.open();
    run.begin("p@1.0.0");
    expect(clock.alarms).toBe(0);
    clock.pass(1e12);
    expect(listener.events.map(({ kind }) => kind)).toEqual(["started"]);
    expect(run.signal.aborted).toBe(false);
  });

  it.each([
    ["a terminal event", { kind: "complete", outcome: { kind: "succeeded" } }],
    ["what only the host says", { kind: "started", runId: "r", providerId: "p@1.0.0" }],
    ["a delta without a text", { kind: "delta" }],
    ["a line without a text", { kind: "log", level: "info" }],
    ["an event without one", { kind: "event" }],
    ["no tokens", { kind: "usage", tokens: null }],
    ["nothing", null],
  ])("ends the run of a provider that emits %s, with the one terminal event that is its own", (_, event) => {
    const { run, listener } = emitter();
    run.open();
    run.begin("p@1.0.0");
    run.emit(event as never);
    expect(run.signal.aborted).toBe(true);
    expect(run.finish({ kind: "succeeded", output: 1 })).toBe(false);
    expect(listener.events).toMatchObject([
      { kind: "started" },
      { kind: "error", failure: "provider_failed", outcome: { kind: "provider-failed" } },
    ]);
    expect(listener.ends).toBe(1);
  });

  it("lets the account know before the run ends, and takes only the first end where that ends the run as well", () => {
    const { run, listener, late } = emitter();
    run.open();
    run.begin("p@1.0.0");
    const nested = [
      { runId: "n", providerId: "q@1.0.0", operation: "call", kind: "cancelled" as const, fuel: 1, evidence: null },
    ];
    let told = 0;
    run.account({
      phase: "guest",
      ending: () => void (++told === 1 && run.cancel("from inside")),
      report: () => ({ ...report(told), nested }),
    });
    expect(run.disconnect("from outside")).toBe(false);
    expect(run.terminal?.outcome).toMatchObject({ kind: "cancelled", reason: "from inside", nested });
    expect([listener.ends, told, late.endings]).toEqual([1, 2, 1]);
    expect(run.cancel("late")).toBe(false);
    expect(told).toBe(2);
  });
});

function report(fuel: number): RunReport {
  return {
    usage: { fuel } as RunReport["usage"],
    limits: {} as RunReport["limits"],
    events: { accepted: 0, refused: 0 },
    evidence: null,
  };
}

function indexOf(event: RunEvent): number | null {
  if (event.kind === "delta") return Number(event.text);
  if (event.kind === "event") return Number(event.event.type);
  if (event.kind === "usage") return event.tokens.inputTokens;
  return event.kind === "log" ? Number(event.message) : null;
}
