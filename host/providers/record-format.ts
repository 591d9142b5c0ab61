import type { RunEvent } from "./provider.ts";

/** How events are written, one record each. */
export interface RecordFormat {
  /** Of an HTTP response. */
  readonly headers: Readonly<Record<string, string>>;
  /** One record, whole. Throws for what JSON cannot carry. */
  record(event: RunEvent, sequence: number): string;
}

/**
 * Server-sent events, as https://html.spec.whatwg.org/multipage/server-sent-events.html has them: the name is the kind of the event,
 * the id its number in the stream, the data the event as JSON on one line. No comments keep the stream alive: silence is nothing.
 */
export const SERVER_SENT_EVENTS: RecordFormat = {
  headers: {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    // nginx would collect the events otherwise: https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_buffering
    "x-accel-buffering": "no",
  },
  record: (event, sequence) => serverSentEvent(String(sequence), event.kind, JSON.stringify(event)),
};

/** One JSON text a line, each the event. */
export const NDJSON: RecordFormat = {
  headers: {
    "content-type": "application/x-ndjson; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
  },
  record: (event) => `${JSON.stringify(event)}\n`,
};

/** One event of a stream. Whatever the three texts are, they stay in their fields. */
export function serverSentEvent(id: string, name: string, data: string): string {
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `id: ${oneLine(id)}\nevent: ${oneLine(name)}\n${lines.join("")}\n`;
}

/** An id with a NUL is ignored by readers, and a line break would begin another field. */
function oneLine(text: string): string {
  return text.replace(/[\r\n\0]/g, "\ufffd");
}
