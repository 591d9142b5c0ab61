import { HostError } from "../errors/errors.ts";
import type { Endpoint } from "./endpoint.ts";
import { EventIterator } from "./event-iterator.ts";
import type { RunEvent } from "./provider.ts";
import type { Run } from "./provider-run.ts";
import { NDJSON, type RecordFormat, SERVER_SENT_EVENTS } from "./record-format.ts";
import type { GateBounds } from "./unread-queue.ts";
import { WebEndpoint, type WebTarget } from "./web-endpoint.ts";
import { type ClosableTarget, WritableEndpoint, type WritableTarget, watchClosing } from "./writable-endpoint.ts";

/** Where the bytes of a run may go. It is the gate's from then on, which ends it. */
export type StreamTarget = WritableTarget | WebTarget;

/** A run as server-sent events. The head of the response, `SERVER_SENT_EVENTS.headers`, is for its owner to write. */
export function serverSentEvents(target: StreamTarget): Endpoint<string> {
  return streamOf(target, SERVER_SENT_EVENTS);
}

/** A run as one JSON text a line. The head of the response, `NDJSON.headers`, is for its owner to write. */
export function ndjson(target: StreamTarget): Endpoint<string> {
  return streamOf(target, NDJSON);
}

/**
 * A run whose outcome is all that is wanted: `(await run.to(outcomeAlone(response)).done).outcome`. The run ends when the client closes, or
 * when its signal aborts. Writes nothing.
 */
export function outcomeAlone(client?: ClosableTarget | AbortSignal): Endpoint<never> {
  return {
    encode: () => null,
    send: () => null,
    end: () => null,
    watch(gone) {
      if (client === undefined) return () => {};
      if (!(client instanceof AbortSignal)) return watchClosing(client, gone);
      const left = (): void => gone("whoever asked for the run has left");
      if (client.aborted) left();
      client.addEventListener("abort", left, { once: true });
      return () => client.removeEventListener("abort", left);
    },
  };
}

/**
 * The events of a run for a reader that misses none: a slow one slows the provider down, where that can pause, and else ends the run. One
 * that leaves before the end (`break`) ends it too, as `disconnected`. The run's own iterator does neither: it leaves out and counts.
 */
export function eventsOf(run: Pick<Run, "to">, bounds: GateBounds = {}): AsyncIterableIterator<RunEvent> {
  const events = new EventIterator();
  run.to(events, bounds);
  return events;
}

function streamOf(target: StreamTarget, format: RecordFormat): Endpoint<string> {
  checkTarget(target);
  return "getWriter" in target ? new WebEndpoint(target, format) : new WritableEndpoint(target, format);
}

/** Throws AIRLOCK_PROVIDERS_GATE_INVALID. */
function checkTarget(target: unknown): void {
  const { write, getWriter } = (target ?? {}) as { readonly write?: unknown; readonly getWriter?: unknown };
  if (typeof write === "function" || typeof getWriter === "function") return;
  throw new HostError(
    "AIRLOCK_PROVIDERS_GATE_INVALID",
    `Cannot open the gate: the target is ${target === null ? "null" : `of type ${typeof target}`}, a Writable or a WritableStream is wanted`,
  );
}
