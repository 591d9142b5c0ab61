import type { RunEvent } from "./provider.ts";

/** Events that wait for a reader; past it they are counted and left out of the iteration. */
const MOST_EVENTS = 4_096;
/** Characters of deltas and log lines that wait for a reader; the same holds past it. */
const MOST_CHARACTERS = 4 * 1024 * 1024;

/**
 * The events of a run between whoever emits and one reader, in order. Bounded: what a slow reader has no room for is counted where
 * it would have stood, as an event of kind `skipped`. The last event always finds room.
 */
export class EventBuffer implements AsyncIterable<RunEvent> {
  readonly #events: RunEvent[] = [];
  #characters = 0;
  #closed = false;
  #wake: (() => void) | null = null;

  push(event: RunEvent, last: boolean): void {
    const characters = charactersOf(event);
    const fits = this.#events.length < MOST_EVENTS && this.#characters + characters <= MOST_CHARACTERS;
    if (fits || last) {
      this.#events.push(event);
      this.#characters += characters;
    } else {
      this.#skip();
    }
    if (last) this.#closed = true;
    this.#wake?.();
    this.#wake = null;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<RunEvent> {
    for (;;) {
      const next = this.#events.shift();
      if (next !== undefined) {
        this.#characters -= charactersOf(next);
        yield next;
      } else if (this.#closed) {
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  #skip(): void {
    const previous = this.#events.at(-1);
    const count = previous?.kind === "skipped" ? previous.count + 1 : 1;
    if (count > 1) this.#events.pop();
    this.#events.push({ kind: "skipped", count });
  }
}

function charactersOf(event: RunEvent): number {
  if (event.kind === "delta") return event.text.length;
  return event.kind === "log" ? event.message.length : 0;
}
