import { HostError } from "../errors/errors.ts";
import type { RunResult } from "./outcome.ts";
import type { RunEvent } from "./provider.ts";
import type { RunReader } from "./run-reader.ts";

/** Events that wait for a reader; past it they are counted and left out of the iteration. */
const MOST_EVENTS = 4_096;
/** Characters of deltas and log lines that wait for a reader; the same holds past it. */
const MOST_CHARACTERS = 4 * 1024 * 1024;

/** A provider that looks for room speaks on only after whoever starts the run has had its turn to open a gate. */
const REST_OF_TURN = Promise.resolve();

/**
 * The events of a run between whoever emits and one reader, in order. Bounded: what a slow reader has no room for is counted where
 * it would have stood, as an event of kind `skipped`. The last event always finds room.
 * A reader that takes over gets everything, and its answers are the buffer's.
 */
export class EventBuffer implements AsyncIterable<RunEvent>, RunReader {
  readonly #events: RunEvent[] = [];
  #characters = 0;
  #closed = false;
  #wake: (() => void) | null = null;
  #reader: RunReader | "iterator" | null = null;

  push(event: RunEvent, last: boolean): RunResult | null {
    if (this.#reader !== null && this.#reader !== "iterator") return this.#reader.push(event, last);
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
    return null;
  }

  /** The iterator has no room to wait for: a run that nobody iterates goes on. */
  room(): Promise<void> | null {
    if (this.#reader === null) return this.#closed ? null : REST_OF_TURN;
    return this.#reader === "iterator" ? null : this.#reader.room();
  }

  /**
   * Gives a reader everything that waits and all that is to come. What it answers ends the run, as in `push`: events may have been left out
   * before the reader came. Throws AIRLOCK_PROVIDERS_EVENTS_TAKEN when it cannot have them all and the run has ended, or has a reader.
   */
  handOver(reader: RunReader): RunResult | null {
    if (this.#reader !== null) throw taken("another reader has them");
    const left = this.#events.find(({ kind }) => kind === "skipped");
    if (left !== undefined && this.#closed) throw taken("some were left out before; open the gate when the run starts");
    this.#reader = reader;
    const limit = this.#events.length > MOST_EVENTS ? "unreadEvents" : "unreadBytes";
    for (const event of this.#events.splice(0)) {
      if (event === left) return { kind: "over-budget", limit };
      const refusal = reader.push(event, "outcome" in event);
      if (refusal !== null) return refusal;
    }
    return null;
  }

  [Symbol.asyncIterator](): AsyncIterator<RunEvent> {
    if (this.#reader !== null && this.#reader !== "iterator") throw taken("a gate has them");
    this.#reader = "iterator";
    return this.#iterate();
  }

  async *#iterate(): AsyncIterator<RunEvent> {
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

function taken(why: string): HostError {
  return new HostError("AIRLOCK_PROVIDERS_EVENTS_TAKEN", `Cannot read the events of the run: ${why}`);
}

function charactersOf(event: RunEvent): number {
  if (event.kind === "delta") return event.text.length;
  return event.kind === "log" ? event.message.length : 0;
}
