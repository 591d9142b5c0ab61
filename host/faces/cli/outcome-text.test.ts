import { describe, expect, it } from "vitest";
import { ENDINGS, type OutcomeKind } from "../../errors/errors.ts";
import type { CapabilityEvent, Outcome } from "../../index.ts";
import { effectiveLimits, resolvePolicy } from "../../manifest/manifest.ts";
import { liveLine, outcomeLines } from "./outcome-text.ts";
import { paint } from "./paint.ts";

const plain = paint(false);
const HOSTILE = "x\u001b[2J\u202e\r\ny";

describe("outcomeLines()", () => {
  it("shows the ending, the output, what was used and how long it took", () => {
    expect(outcomeLines(outcome("succeeded", { output: { rows: 2 } }), [], {}, plain)).toEqual([
      "succeeded  acme.rows@1.0.0 count",
      "{",
      '  "rows": 2',
      "}",
      "",
      "fuel          1,234,567       of 2,000,000,000",
      "setup fuel    10              of 1,000,000,000",
      "memory        1.5 MiB         of 64 MiB",
      "guest time    12 ms           of 10 s",
      "host time     0.5 ms          in 3 calls",
      "queue, setup  0.1 ms, 2.3 ms",
      "total         15 ms",
    ]);
  });

  it.each<[OutcomeKind, object, string]>([
    [
      "failed",
      { failure: { code: "bad-row", message: "row 3", retryable: true } },
      "The capability declined: bad-row: row 3 (it says that trying again can help)",
    ],
    ["trapped", { trap: { phase: "guest", message: "unreachable" } }, "The guest trapped in phase guest: unreachable"],
    ["out-of-fuel", { phase: "guest", limit: "fuel" }, "The limit fuel of 2,000,000,000 was reached in phase guest"],
    [
      "out-of-memory",
      { phase: "setup", limit: "memoryBytes" },
      "The limit memoryBytes of 64 MiB was reached in phase setup",
    ],
    ["out-of-stack", { phase: "guest", limit: "engine" }, "The engine's stack ran out in phase guest"],
    ["past-deadline", { phase: "queue", limit: "deadlineMs" }, "The run's deadline passed in phase queue"],
    ["over-budget", { limit: "hostCalls" }, "The limit hostCalls of 1,000 was reached"],
    [
      "invalid-input",
      { message: "/csv: a string is wanted" },
      "The input is not what the operation wants: /csv: a string is wanted",
    ],
    [
      "invalid-output",
      { message: "/rows is missing" },
      "The output is not what the operation promises: /rows is missing",
    ],
    ["cancelled", { reason: "interrupted by SIGINT" }, "Cancelled: interrupted by SIGINT"],
    ["lost", { message: "heap" }, "The thread died: heap"],
    ["provider-failed", { message: "it threw" }, "The provider failed: it threw"],
    ["disconnected", { message: "the server hung up" }, "The connection broke off: the server hung up"],
  ])("says why a run is %s", (kind, more, line) => {
    const lines = outcomeLines(outcome(kind, more), [], {}, plain);
    expect(lines.slice(0, 2)).toEqual([`${kind}  acme.rows@1.0.0 count`, line]);
    expect(lines.includes("The same request can end otherwise when it is repeated.")).toBe(ENDINGS[kind].retry);
  });

  it("marks the limit that tripped, also one that has no line otherwise", () => {
    const fuel = outcomeLines(outcome("out-of-fuel", { phase: "guest", limit: "fuel" }), [], {}, plain);
    expect(fuel.filter((line) => line.endsWith("tripped"))).toEqual([expect.stringMatching(/^fuel /)]);
    const calls = outcomeLines(outcome("over-budget", { limit: "hostCalls" }), [], {}, plain);
    expect(calls.filter((line) => line.endsWith("tripped"))).toEqual([expect.stringMatching(/^hostCalls .* of 1,000/)]);
  });

  it("shows the first events and counts the others, and says what became of them", () => {
    const emitted = Array.from({ length: 12 }, (_, row) => event({ row }));
    const counts = { events: { accepted: 12, refused: 1 } };
    const lines = outcomeLines(outcome("failed", { failure, ...counts }), emitted, {}, plain);
    expect(lines.slice(3, 16)).toEqual([
      "events  12 dropped, because the run did not succeed, 1 refused",
      ...emitted.slice(0, 10).map(({ payload }) => `  ragged-row@1.0.0  ${JSON.stringify(payload)}`),
      "  and 2 more: --events shows all",
      "",
    ]);
    expect(outcomeLines(outcome("succeeded", { output: 1, ...counts }), [], {}, plain)).toContain(
      "events  12 committed, 1 refused",
    );
  });

  it("counts what connectors answered, and says how one is bound that was not", () => {
    const bound = { connectorId: "env", resolvedVersion: "1.0.0", resultClass: "success", failureClass: null };
    const unbound = { connectorId: "http", resolvedVersion: null, resultClass: "failure", failureClass: "unbound" };
    const lines = (...connectorCalls: object[]): readonly string[] => {
      return outcomeLines(outcome("succeeded", { output: 1, connectorCalls }), [], {}, plain).slice(3);
    };
    expect(lines(bound, bound).slice(0, 3)).toEqual(["connectors", "  env@1.0.0  success (2 times)", ""]);
    expect(lines(bound, unbound).slice(0, 5)).toEqual([
      "connectors",
      "  env@1.0.0  success",
      "  http  unbound",
      "  What is unbound a file binds, for this capability: see airlock connectors --help",
      "",
    ]);
  });

  it("tells whoever asked for more than there is", () => {
    const lines = outcomeLines(outcome("succeeded", { output: 1 }), [], { fuel: 5e9, memoryBytes: 1024 }, plain);
    expect(lines.filter((line) => line.includes("changed nothing"))).toEqual([
      "--limit fuel=5000000000 changed nothing: a run can only lower a limit, the package and the host allow 2,000,000,000",
    ]);
  });

  it("shows of a run without Wasm its tokens and times, and nothing again that was streamed", () => {
    const { usage } = outcome("succeeded", {});
    const tokens = { inputTokens: 1_200, outputTokens: 5, model: "tiny" };
    const output = { text: "said", model: "tiny" };
    const native = outcome("succeeded", { output, tokens, usage: { ...usage, fuel: 0, setupFuel: 0 } });
    expect(outcomeLines(native, [], {}, plain, "said")).toEqual([
      "succeeded  acme.rows@1.0.0 count",
      "{",
      '  "model": "tiny"',
      "}",
      "",
      "tokens        1,200 in, 5 out  by tiny",
      "queue, setup  0.1 ms, 2.3 ms",
      "total         15 ms",
    ]);
    expect(outcomeLines(native, [], {}, plain, "sai")).toContain('  "text": "said",');
    expect(outcomeLines(outcome("succeeded", { output: "said" }), [], {}, plain, "said")[1]).toBe("");
  });

  it("lets nothing of a capability reach the terminal unescaped", () => {
    const hostile: Outcome[] = [
      outcome("succeeded", { output: { [HOSTILE]: HOSTILE }, operation: HOSTILE, providerId: HOSTILE }),
      outcome("failed", { failure: { code: HOSTILE, message: HOSTILE, retryable: false, detail: HOSTILE } }),
      outcome("trapped", { trap: { phase: "guest", message: HOSTILE } }),
      outcome("invalid-output", { message: HOSTILE }),
    ];
    for (const each of hostile) {
      const lines = outcomeLines(each, [{ type: HOSTILE, version: HOSTILE, payload: HOSTILE }], {}, plain);
      for (const line of lines) expect(line).not.toMatch(/[\u0000-\u001f\u202e]/);
    }
    for (const line of [
      liveLine({ kind: "log", level: "info", message: HOSTILE }, plain),
      liveLine({ kind: "event", event: { type: HOSTILE, version: "1.0.0", payload: HOSTILE } }, plain),
    ]) {
      expect(line).not.toMatch(/[\u0000-\u001f\u202e]/);
    }
  });
});

const failure = { code: "no", message: "no", retryable: false };

function event(payload: unknown): CapabilityEvent {
  return { type: "ragged-row", version: "1.0.0", payload };
}

function outcome(kind: OutcomeKind, more: object): Outcome {
  return {
    kind,
    runId: "r1",
    providerId: "acme.rows@1.0.0",
    operation: "count",
    limits: effectiveLimits(resolvePolicy()),
    events: { accepted: 0, refused: 0 },
    evidence: null,
    usage: {
      fuel: 1_234_567,
      setupFuel: 10,
      fuelExact: true,
      peakMemoryBytes: 1_572_864,
      hostCalls: 3,
      hostBytesIn: 0,
      hostBytesOut: 0,
      logBytes: 0,
      logDropped: 0,
      randomBytes: 0,
      queueMs: 0.1,
      setupMs: 2.3,
      guestMs: 12,
      hostMs: 0.5,
      totalMs: 15,
    },
    ...more,
  } as Outcome;
}
