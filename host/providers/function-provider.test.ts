import { describe, expect, it } from "vitest";
import { resolvePolicy } from "../manifest/manifest.ts";
import { DeclinedError, type FunctionDefinition, functionProvider } from "./function-provider.ts";
import type { FunctionContext } from "./function-run.ts";
import type { Outcome } from "./outcome.ts";
import type { RunEvent, RunRequest } from "./provider.ts";
import { ProviderRuns } from "./provider-runs.ts";
import { TestClock } from "./test-clock.ts";
import { requestFor, settled } from "./test-requests.ts";

const P = "acme.fn@1.0.0";

type Definition = Omit<FunctionDefinition, "id">;

async function bench(definition: Definition, policy = resolvePolicy()) {
  const clock = new TestClock();
  const runs = new ProviderRuns({ clock });
  await runs.add(functionProvider({ id: P, ...definition }, { clock, policy }), { capacity: 2 });
  let count = 0;
  const start = (input: unknown, more: Partial<RunRequest> = {}) =>
    runs.start(requestFor(P, { runId: `r${count++}`, input, ...more }));
  return { clock, runs, start };
}

async function outcomeOf(
  definition: Definition,
  input: unknown = null,
  more: Partial<RunRequest> = {},
): Promise<Outcome> {
  const { start } = await bench(definition);
  return start(input, more).outcome;
}

describe("functionProvider()", () => {
  it("gives the function its input and the run its output, as JSON values of their own", async () => {
    const given = { when: new Date(0), list: [1, undefined], no: undefined };
    const kept: unknown[] = [];
    const { start } = await bench({
      call: (input) => {
        kept.push(input);
        return given;
      },
    });
    const asked = { a: [1] };
    const run = start(asked);
    asked.a.push(2);
    const outcome = await run.outcome;
    expect(kept).toEqual([{ a: [1] }]);
    expect(outcome).toMatchObject({
      kind: "succeeded",
      output: { when: "1970-01-01T00:00:00.000Z", list: [1, null] },
      operation: "call",
      evidence: null,
      events: { accepted: 0, refused: 0 },
    });
    expect(await outcomeOf({ call: () => undefined }, undefined)).toMatchObject({ output: null });
  });

  it("lets the function say what happens, also with what it took out of its context", async () => {
    const events: RunEvent[] = [];
    const { runs } = await bench({
      events: [{ type: "row", version: "1.0.0", schema: { type: "integer" } }],
      call: async (_, { delta, event, log, usage, runId, sessionId, providerId, operation }) => {
        log("info", `${runId} ${sessionId} ${providerId} ${operation}`);
        delta("a");
        await null;
        event({ type: "row", version: "1.0.0", payload: 3 });
        usage({ inputTokens: 1, outputTokens: 2 });
        return 1;
      },
    });
    const sink = (event: RunEvent): void => void events.push(event);
    const run = runs.start(requestFor(P, { runId: "r", sessionId: "s" }), { sink });
    expect(await run.outcome).toMatchObject({
      events: { accepted: 1, refused: 0 },
      tokens: { inputTokens: 1, outputTokens: 2 },
      usage: { logBytes: 22 },
    });
    expect(events.slice(1, -1)).toEqual([
      { kind: "log", level: "info", message: `r s ${P} call` },
      { kind: "delta", text: "a" },
      { kind: "event", event: { type: "row", version: "1.0.0", payload: 3 } },
      { kind: "usage", tokens: { inputTokens: 1, outputTokens: 2 } },
    ]);
  });

  it("ends as failed when the function declines, and as provider-failed when it throws anything else", async () => {
    const declines = (): never => {
      throw new DeclinedError("no-stock", "none left", { retryable: true, detail: { sku: 7 } });
    };
    expect(await outcomeOf({ call: declines })).toMatchObject({
      kind: "failed",
      failure: { code: "no-stock", message: "none left", retryable: true, detail: { sku: 7 } },
    });
    const throws = async (): Promise<never> => {
      throw new TypeError("x is not a function");
    };
    expect(await outcomeOf({ call: throws })).toMatchObject({
      kind: "provider-failed",
      message: "x is not a function",
    });
  });

  it("checks the input and the output against their schemas", async () => {
    const definition: Definition = {
      call: (input) => (input === 1 ? "one" : 2),
      input: { type: "integer" },
      output: { type: "string" },
    };
    expect(await outcomeOf(definition, 1)).toMatchObject({ kind: "succeeded", output: "one" });
    expect(await outcomeOf(definition, "1")).toMatchObject({ kind: "invalid-input" });
    expect(await outcomeOf(definition, 2)).toMatchObject({
      kind: "invalid-output",
      message: expect.stringContaining("string"),
    });
    expect(await outcomeOf({ call: () => 1n })).toMatchObject({ kind: "invalid-output" });
    expect(await outcomeOf({ call: () => () => 1 })).toMatchObject({ kind: "invalid-output" });
  });

  it("refuses an event that is not declared or does not fit, counts it, and lets the function go on", async () => {
    const refusals: string[] = [];
    const call = (_: unknown, { event }: FunctionContext): number => {
      const tries = [
        { type: "row", version: "2.0.0", payload: 1 },
        { type: "row", version: "1.0.0", payload: "x" },
        { type: "row", version: "1.0.0", payload: 1 },
        { type: "row", version: "1.0.0", payload: 2 },
      ];
      for (const each of tries) {
        try {
          event(each);
        } catch (error) {
          refusals.push((error as Error).message);
        }
      }
      return 1;
    };
    const events = [{ type: "row", version: "1.0.0", schema: { type: "integer" } }];
    expect(await outcomeOf({ call, events, limits: { eventCount: 1 } })).toMatchObject({
      kind: "succeeded",
      events: { accepted: 1, refused: 3 },
      limits: { eventCount: 1 },
    });
    expect(refusals).toEqual([
      'The event row@2.0.0 was refused: it is not declared, declared are "row@1.0.0"',
      expect.stringContaining("a whole number is wanted"),
      "The event row@1.0.0 was refused: eventCount allows 1",
    ]);
  });

  it.each<[string, Definition, string]>([
    ["output", { call: () => "x".repeat(100) }, "outputBytes"],
    [
      "streamed output, also when the function swallows the error",
      {
        call: (_, { delta }) => {
          for (let i = 0; i < 100; i++) {
            try {
              delta("xx");
            } catch {
              // As a careless function does.
            }
          }
          return "fine";
        },
      },
      "outputBytes",
    ],
    [
      "streamed output",
      {
        call: (_, { delta }) => {
          for (let i = 0; i < 100; i++) delta("xx");
        },
      },
      "outputBytes",
    ],
  ])("ends as over-budget for too much %s", async (_, definition, limit) => {
    expect(await outcomeOf({ ...definition, limits: { outputBytes: 50 } })).toMatchObject({
      kind: "over-budget",
      limit,
    });
  });

  it("drops log lines past logBytes and counts them, and refuses events past their bytes", async () => {
    const call = (_: unknown, { log, event }: FunctionContext): number => {
      log("info", "12345");
      log("info", "123456");
      for (const payload of ["12", "123456789", "12"]) {
        try {
          event({ type: "t", version: "1.0.0", payload });
        } catch {
          // Counted.
        }
      }
      return 1;
    };
    const limits = { logBytes: 10, eventBytes: 10, eventTotalBytes: 6 };
    expect(await outcomeOf({ call, events: [{ type: "t", version: "1.0.0" }], limits })).toMatchObject({
      usage: { logBytes: 5, logDropped: 6 },
      events: { accepted: 1, refused: 2 },
    });
  });

  it("is stopped by its wall clock, by the deadline and by a cancellation, and need not listen", async () => {
    const signals: AbortSignal[] = [];
    const call = (_: unknown, context: FunctionContext): Promise<void> => {
      signals.push(context.signal);
      expect(context.signal).toBe(context.signal);
      return new Promise(() => {});
    };
    const { clock, runs, start } = await bench({ call, limits: { wallMs: 100 } });
    const wall = start(null);
    clock.pass(100);
    expect(await wall.outcome).toMatchObject({ kind: "past-deadline", limit: "wallMs", phase: "guest" });
    const deadline = start(null, { deadline: clock.now() + 50 });
    clock.pass(50);
    expect(await deadline.outcome).toMatchObject({
      kind: "past-deadline",
      limit: "deadlineMs",
      usage: { guestMs: 50 },
    });
    const cancelled = start(null);
    cancelled.cancel("enough");
    expect(await cancelled.outcome).toMatchObject({ kind: "cancelled", reason: "enough" });
    expect(signals.map(({ aborted, reason }) => [aborted, (reason as Error).name, (reason as Error).message])).toEqual([
      [true, "TimeoutError", "past wallMs"],
      [true, "TimeoutError", "past deadlineMs"],
      [true, "AbortError", "enough"],
    ]);
    expect(clock.alarms).toBe(0);
    expect(runs.stats()).toMatchObject({ inFlight: 0, pools: { [P]: { inUse: 0 } } });
  });

  it("sees its signal aborted also when it asks late", async () => {
    let context: FunctionContext | null = null;
    const { start } = await bench({
      call: (_, given) => {
        context = given;
        return new Promise(() => {});
      },
    });
    start(null).cancel("enough");
    await settled();
    expect(context!.signal.aborted).toBe(true);
    expect((context!.signal.reason as Error).message).toBe("enough");
  });

  it("refuses before the start what it cannot take: an operation, an input, a limit that cannot be held", async () => {
    const { runs, start } = await bench({ call: () => 1, limits: { inputBytes: 10 } });
    const refused = (code: string) => expect.objectContaining({ code, failure: "invalid_request" });
    expect(() => start(1, { operation: "other" })).toThrow(refused("AIRLOCK_INVOCATION_OPERATION_UNKNOWN"));
    expect(() => start(1n)).toThrow(refused("AIRLOCK_INVOCATION_REQUEST_INVALID"));
    expect(() => start("x".repeat(10))).toThrow(refused("AIRLOCK_INVOCATION_INPUT_TOO_LARGE"));
    expect(() => start(1, { limits: { fuel: 5 } })).toThrow(refused("AIRLOCK_INVOCATION_REQUEST_INVALID"));
    expect(() => start([[]], { limits: { inputBytes: 3 } })).toThrow(refused("AIRLOCK_INVOCATION_INPUT_TOO_LARGE"));
    expect(runs.stats()).toMatchObject({ started: 0 });
  });

  it("refuses a definition that makes no sense", () => {
    const make = (definition: object) => () => functionProvider({ id: P, ...definition } as FunctionDefinition);
    const refused = (text: string) =>
      expect.objectContaining({
        code: "AIRLOCK_PROVIDERS_DEFINITION_INVALID",
        message: expect.stringContaining(text),
      });
    expect(make({})).toThrow(refused("call is missing"));
    expect(make({ call: () => 1, cal: 1 })).toThrow(refused('did you mean "call"?'));
    expect(make({ call: () => 1, limits: { memoryBytes: 65_536 } })).toThrow(refused("limits.memoryBytes"));
    expect(make({ call: () => 1, limits: { wallMs: -1 } })).toThrow(refused("limits.wallMs"));
    expect(make({ call: () => 1, input: { type: 7 } })).toThrow(
      expect.objectContaining({ code: "AIRLOCK_ADMISSION_INVALID_SCHEMA" }),
    );
  });

  it("is held to the caps of the host's policy", async () => {
    const policy = resolvePolicy({ caps: { wallMs: 1_000 } });
    const { start } = await bench({ call: () => 1, limits: { wallMs: 60_000 } }, policy);
    expect((await start(null).outcome).limits.wallMs).toBe(1_000);
    expect((await start(null, { limits: { wallMs: 10 } }).outcome).limits.wallMs).toBe(10);
  });
});
