import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { type Connector, ConnectorError, Connectors, mediate } from "./gateway.ts";
import { askThroughChain } from "./test-connector-call.ts";

const EVIDENCE = {
  connectorId: "acme.odd",
  resolvedVersion: "1.0.0",
  resultClass: "failure",
  failureClass: "execution_failed",
};
const UNSAID = {
  kind: "failure",
  failureClass: "execution_failed",
  code: "failed",
  message: "the connector did not carry the request out",
  retryable: false,
  evidence: EVIDENCE,
};

const secret = (): never => {
  throw new Error("hunter2");
};

function answerOf(invoke: () => unknown) {
  const connector = { id: "acme.odd", version: "1.0.0", invoke: invoke as never };
  return askThroughChain(connector, "do", {});
}

/** A ConnectorError with a field that is not as its constructor makes it. */
function odd(field: string, property: PropertyDescriptor): ConnectorError {
  return Object.defineProperty(new ConnectorError("busy", "come again", { retryable: true }), field, property);
}

describe("mediate()", () => {
  it.each([
    [
      "a class that throws",
      {
        get resultClass() {
          return secret();
        },
        payload: {},
      },
    ],
    [
      "a payload that throws",
      {
        resultClass: "success",
        get payload() {
          return secret();
        },
      },
    ],
    ["nothing that can be read", new Proxy({}, { get: (_, key) => (key === "then" ? undefined : secret()) })],
    [
      "a then that throws",
      {
        // biome-ignore lint/suspicious/noThenProperty: it is what the test is about.
        get then() {
          return secret();
        },
      },
    ],
  ])("leaves evidence, and tells nothing, of a response with %s", async (_, response) => {
    expect(await answerOf(() => response)).toEqual(UNSAID);
  });

  it.each([
    ["a code that throws", odd("code", { get: secret })],
    ["a message that throws", odd("message", { get: secret })],
    ["a message that is no text", odd("message", { value: { hunter: 2 } })],
    ["a prototype that throws", new Proxy({}, { getPrototypeOf: secret })],
    ["nothing that can be read", new Proxy(new ConnectorError("busy", "come again"), { get: secret })],
  ])("leaves evidence, and tells nothing, of an error with %s", async (_, error) => {
    const answer = await answerOf(() => {
      throw error;
    });
    expect(answer).toEqual(UNSAID);
  });

  it("gives the guest what it has checked of an error, also where it reads otherwise the next time", async () => {
    let reads = 0;
    const error = odd("code", { get: () => (reads++ === 0 ? "busy" : "/etc/hunter2") });
    const answer = await answerOf(() => {
      throw error;
    });
    expect(answer).toEqual({ ...UNSAID, code: "busy", message: "come again", retryable: true });
  });

  it("takes for retryable nothing but true, which can cross to the thread", async () => {
    const answer = await answerOf(() => {
      throw odd("retryable", { value: () => true });
    });
    expect(answer).toEqual({ ...UNSAID, code: "busy", message: "come again" });
  });
});

const ENDED = { ...UNSAID, code: "run-ended", message: "the run has ended" };

/** One call of a connector that does what `invoke` does, in a run that `signal` ends. */
function call(invoke: Connector["invoke"], signal: AbortSignal) {
  const connectors = new Connectors();
  connectors.bind({ id: "acme.odd", version: "1.0.0", invoke });
  const context = { runId: "r", capabilityId: "cap.x", capabilityVersion: "1.0.0", signal, deadline: null };
  const declared = [{ id: "acme.odd", range: "*" }];
  return mediate({ connector: "acme.odd", operation: "ask", payload: "1", room: 1_000, declared, context }, connectors);
}

describe("mediate() and the end of a run", () => {
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
