import type { ConnectorFailureClass } from "../errors/errors.ts";
import type { ConnectorError, Response } from "../generated/airlock-capability-connectors.ts";
import { count } from "./budget.ts";
import { guardAll } from "./guard.ts";
import { PRICES } from "./prices.ts";
import type { ImportedInterface, ImportScope } from "./scope.ts";

/** The name under which the main thread is asked. */
export const CONNECTORS = "airlock:capability/connectors@1.0.0";

/** What the main thread is asked: the guest's words, and the bytes that it has for the response; null when it has no place for any. */
export type ConnectorQuestion = readonly [connector: string, operation: string, payload: string, room: number | null];

/** What it answers. Texts of a response are JSON. */
export type ConnectorReply =
  | { readonly kind: "response"; readonly resultClass: string; readonly payload: string }
  | { readonly kind: "invalid-request"; readonly message: string }
  | {
      readonly kind: "failure";
      readonly failureClass: ConnectorFailureClass;
      readonly code: string;
      readonly message: string;
      readonly retryable: boolean;
    };

/** Asks a connector through the main thread, which mediates. Counts the call and its texts, and charges for what comes back. */
export function askConnector(scope: ImportScope, ...question: ConnectorQuestion): ConnectorReply {
  const [connector, operation, payload] = question;
  count(scope, "hostCalls", 1);
  count(scope, "hostBytesOut", bytesOf(connector, operation, payload));
  const answer = scope.askHost(CONNECTORS, "invoke", question);
  if (answer.kind !== "value") {
    const what = answer.kind === "broken" ? answer.message : "the connector call failed";
    return scope.stop({ kind: "trapped", what });
  }
  const reply = answer.value as ConnectorReply;
  const bytes = reply.kind === "response" ? bytesOf(reply.resultClass, reply.payload) : bytesOf(reply.message);
  count(scope, "hostBytesIn", bytes);
  scope.charge(bytes * PRICES.byte);
  return reply;
}

/** `airlock:capability/connectors@1.0.0`: ways to the outside, each call mediated by the main thread. */
export function connectorsInterface(scope: ImportScope): ImportedInterface {
  return guardAll(scope, "airlock:capability/connectors", PRICES.main, {
    invoke(connector: string, operation: string, payload: string): Result {
      // The types that the guest declares are its own.
      if ([connector, operation, payload].some((word) => typeof word !== "string"))
        return scope.stop({ kind: "trapped", what: "invoke takes strings" });
      const room = Math.max(0, scope.limits.hostBytesIn - scope.counters.hostBytesIn);
      return resultOf(askConnector(scope, connector, operation, payload, room));
    },
  });
}

type Result = { readonly tag: "ok"; readonly val: Response } | { readonly tag: "err"; readonly val: ConnectorError };

function resultOf(reply: ConnectorReply): Result {
  switch (reply.kind) {
    case "response":
      return { tag: "ok", val: { resultClass: reply.resultClass, payload: reply.payload } };
    case "invalid-request":
      return { tag: "err", val: { tag: "invalid-request", val: reply.message } };
    case "failure":
      return { tag: "err", val: errorOf(reply) };
  }
}

function errorOf({
  failureClass,
  code,
  message,
  retryable,
}: ConnectorReply & { readonly kind: "failure" }): ConnectorError {
  switch (failureClass) {
    case "execution_failed":
      return { tag: "execution-failed", val: { code, message, retryable } };
    case "unauthorized_output":
      return { tag: "unauthorized-output", val: message };
    case "bounded_io":
    // A component's memory is its own allocator's matter: the host always has room to offer.
    case "invalid_response_memory":
      return { tag: "bounded-io", val: message };
    default:
      return { tag: failureClass, val: message };
  }
}

function bytesOf(...texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}
