import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import type { Connector } from "./connector.ts";
import { Connectors } from "./connectors.ts";
import { mediate } from "./mediation.ts";

/** One call of a connector that does what `invoke` does, in a run that `signal` ends. */
function call(invoke: Connector["invoke"], signal: AbortSignal) {
  const connectors = new Connectors();
  connectors.bind({ id: "test.a", version: "1.0.0", invoke });
  const context = { runId: "r", capabilityId: "cap.x", capabilityVersion: "1.0.0", signal, deadline: null };
  const declared = [{ id: "test.a", range: "*" }];
  return mediate({ connector: "test.a", operation: "ask", payload: "1", room: 1_000, declared, context }, connectors);
}

const ENDED = {
  kind: "failure",
  failureClass: "execution_failed",
  code: "run-ended",
  message: "the run has ended",
  retryable: false,
  evidence: {
    connectorId: "test.a",
    resolvedVersion: "1.0.0",
    resultClass: "failure",
    failureClass: "execution_failed",
  },
};

describe("mediate()", () => {
  it("waits no longer than the run for a connector that never answers", async () => {
    const run = new AbortController();
    const waiting = call(() => {
      queueMicrotask(() => run.abort());
      return new Promise(() => {});
    }, run.signal);
    expect(await waiting).toEqual(ENDED);
  });

  it("asks no connector for a run that has ended", async () => {
    let asked = 0;
    const invoke = () => {
      asked += 1;
      return { resultClass: "success", payload: null };
    };
    expect(await call(invoke, AbortSignal.abort())).toEqual(ENDED);
    expect(asked).toBe(0);
  });

  it("leaves no listener on the signal, which lives longer than a call", async () => {
    const { signal } = new AbortController();
    expect(await call(() => ({ resultClass: "success", payload: 1 }), signal)).toMatchObject({ kind: "response" });
    const broken = () => {
      throw new Error("no");
    };
    expect(await call(broken, signal)).toMatchObject({ kind: "failure", code: "failed" });
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});
