import { CONNECTOR_FAILURES, INVALID_REQUEST_STATUS } from "../errors/errors.ts";
import { askConnector, type ConnectorReply } from "./connectors.ts";
import { type CoreMemory, isInside, readJsonObject, textOf } from "./core-memory.ts";
import { PRICES } from "./prices.ts";
import type { ImportScope } from "./scope.ts";

/** What the five queries answer instead of a length. */
export const QUERY_STATUS = { invalid: -1, tooSmall: -2 } as const;

/** What `emit_event` answers. */
export const EMIT_STATUS = { accepted: 0, invalid: -1, undeclared: -2, notSubscribable: -3 } as const;

/** The most that crosses in one call of `emit_event` or `connector_invoke`, each way. */
export const MOST_CROSSING_BYTES = 65_536;

const ABI_VERSION = "1.0.0";

/**
 * A query: writes the text at `ptr` and gives its length. Nothing is written, and a negative status given, where pointer and
 * capacity do not lie in the memory, or the text does not fit.
 */
export function answerQuery(
  scope: ImportScope,
  memory: CoreMemory,
  text: () => string,
): (ptr: number, capacity: number) => number {
  return (ptr, capacity) => {
    const bytes = ptr < 0 || capacity < 0 ? null : memory();
    if (bytes === null || !isInside(bytes, ptr, capacity)) return QUERY_STATUS.invalid;
    const answer = Buffer.from(text());
    if (answer.length > capacity) return QUERY_STATUS.tooSmall;
    scope.charge(answer.length * PRICES.byte);
    bytes.set(answer, ptr);
    return answer.length;
  };
}

/**
 * `emit_event`: an object with `event_id`, `version` and perhaps `payload`. After what its ABI checks come the host's own rules, the
 * declared schema and the budgets of events: what they refuse is invalid. Every refusal is counted.
 */
export function emitEvent(scope: ImportScope, memory: CoreMemory, ptr: number, length: number): number {
  const { events } = scope;
  if (!events.subscribable) {
    events.refuseUnread();
    return EMIT_STATUS.notSubscribable;
  }
  const bytes = ptr < 0 || length < 0 || length > MOST_CROSSING_BYTES ? null : memory();
  const event = bytes === null || !isInside(bytes, ptr, length) ? null : readJsonObject(scope, bytes, ptr, length);
  const type = event === null ? null : textOf(event, "event_id");
  const version = event === null ? null : textOf(event, "version");
  if (event === null || type === null || version === null) {
    events.refuseUnread();
    return EMIT_STATUS.invalid;
  }
  const payload = Object.hasOwn(event, "payload") ? event["payload"] : {};
  const verdict = events.check(type, version, JSON.stringify(payload));
  if (verdict.kind === "refused")
    return verdict.refusal.tag === "undeclared-event" ? EMIT_STATUS.undeclared : EMIT_STATUS.invalid;
  scope.publish(verdict.json);
  return EMIT_STATUS.accepted;
}

/**
 * `connector_invoke`: the request is an object with `abi_version`, `connector_id`, `operation` and `payload`; the response, one with
 * `abi_version`, `result_class` and `payload`, is written at `response`. Gives its length, or a status of `CONNECTOR_FAILURES`.
 */
export function connectorInvoke(
  scope: ImportScope,
  memory: CoreMemory,
  [request, requestLength, response, capacity]: readonly [number, number, number, number],
): number {
  if (request < 0 || requestLength < 0 || response < 0 || capacity < 0) return INVALID_REQUEST_STATUS;
  if (requestLength > MOST_CROSSING_BYTES) return CONNECTOR_FAILURES.bounded_io.status;
  const bytes = capacity > MOST_CROSSING_BYTES ? null : memory();
  if (bytes === null || !isInside(bytes, request, requestLength)) return INVALID_REQUEST_STATUS;
  const asked = readJsonObject(scope, bytes, request, requestLength);
  const connector = asked === null ? null : textOf(asked, "connector_id");
  const operation = asked === null ? null : textOf(asked, "operation");
  if (asked === null || !connector || !operation) return INVALID_REQUEST_STATUS;
  if (textOf(asked, "abi_version") !== ABI_VERSION || !Object.hasOwn(asked, "payload")) return INVALID_REQUEST_STATUS;
  const room = isInside(bytes, response, capacity) ? capacity : null;
  scope.charge(PRICES.main);
  const reply = askConnector(scope, connector, operation, JSON.stringify(asked["payload"]), room);
  if (reply.kind === "invalid-request") return INVALID_REQUEST_STATUS;
  if (reply.kind === "failure") return CONNECTOR_FAILURES[reply.failureClass].status;
  if (room === null) return CONNECTOR_FAILURES.invalid_response_memory.status;
  const envelope = Buffer.from(envelopeOf(reply));
  if (envelope.length > room) return CONNECTOR_FAILURES.bounded_io.status;
  memory()!.set(envelope, response);
  return envelope.length;
}

/** The payload is JSON text already. */
function envelopeOf({ resultClass, payload }: ConnectorReply & { readonly kind: "response" }): string {
  return `{"abi_version":"${ABI_VERSION}","result_class":${JSON.stringify(resultClass)},"payload":${payload}}`;
}
