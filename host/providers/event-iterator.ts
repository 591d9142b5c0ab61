import type { Encoded, Endpoint } from "./endpoint.ts";
import type { RunEvent } from "./provider.ts";

type Ask = (result: IteratorResult<RunEvent, undefined>) => void;

/** What an event without a text of its own takes, roughly. */
const SMALL_BYTES = 64;

/** An endpoint that is read as an iterator. An event is sent when it has been asked for. */
export class EventIterator implements Endpoint<RunEvent>, AsyncIterableIterator<RunEvent, undefined> {
  readonly #asks: Ask[] = [];
  #offer: { readonly event: RunEvent; readonly taken: () => void } | null = null;
  #done = false;
  #gone: ((message: string) => void) | null = null;

  encode(event: RunEvent): Encoded<RunEvent> {
    return { message: event, bytes: bytesOf(event) };
  }

  send(event: RunEvent): Promise<void> | null {
    const ask = this.#asks.shift();
    if (ask !== undefined) {
      ask({ done: false, value: event });
      return null;
    }
    return new Promise((taken) => {
      this.#offer = { event, taken };
    });
  }

  end(): null {
    this.#finish();
    return null;
  }

  watch(gone: (message: string) => void): () => void {
    this.#gone = gone;
    return () => {
      this.#gone = null;
    };
  }

  next(): Promise<IteratorResult<RunEvent, undefined>> {
    const offer = this.#offer;
    this.#offer = null;
    if (offer !== null) {
      offer.taken();
      return Promise.resolve({ done: false, value: offer.event });
    }
    if (this.#done) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => void this.#asks.push(resolve));
  }

  /** The reader leaves. */
  return(): Promise<IteratorResult<RunEvent, undefined>> {
    this.#offer = null;
    this.#finish();
    this.#gone?.("the reader left before the end");
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #finish(): void {
    this.#done = true;
    for (const ask of this.#asks.splice(0)) ask({ done: true, value: undefined });
  }
}

function bytesOf(event: RunEvent): number {
  if (event.kind === "delta") return SMALL_BYTES + Buffer.byteLength(event.text);
  if (event.kind === "log") return SMALL_BYTES + Buffer.byteLength(event.message);
  return event.kind === "event" ? SMALL_BYTES + Buffer.byteLength(JSON.stringify(event.event)) : SMALL_BYTES;
}
