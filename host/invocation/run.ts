import { ENDINGS } from "../errors/errors.ts";
import type { Emitter, Outcome, RunEvent, RunSignal } from "../providers/providers.ts";

/** Says that a run is to end. An `AbortController` would cost each run several microseconds. */
export class Cancellation implements RunSignal {
  aborted = false;
  reason: unknown = undefined;
  readonly #listeners = new Set<() => void>();

  /** The first reason stays. */
  abort(reason?: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const listener of this.#listeners) listener();
  }

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.delete(listener);
  }
}

/** Events that wait for a reader; past it they are counted and left out of the iteration. The outcome loses nothing. */
const BUFFER_EVENTS = 4_096;

/**
 * One run: an async iterable of its events, a promise of its outcome, and a way to cancel it. Not iterating is fine. The
 * outcome never rejects for what a guest does. Events are live: they count only when the run has succeeded.
 */
export class Run<Output = unknown> implements AsyncIterable<RunEvent> {
  readonly runId: string;
  readonly outcome: Promise<Outcome<Output>>;
  readonly #cancellation: Cancellation;
  readonly #buffer: RunEvent[] = [];
  #skipped = 0;
  #ended = false;
  #wake: (() => void) | null = null;

  /** `start` carries the run out; it is called at once and must not throw. */
  constructor(
    runId: string,
    providerId: string,
    cancellation: Cancellation,
    start: (emitter: Emitter, signal: RunSignal) => Promise<Outcome>,
  ) {
    this.runId = runId;
    this.#cancellation = cancellation;
    this.#push({ kind: "started", runId, providerId });
    const settled = start({ emit: (event) => this.#push(event) }, cancellation).then((outcome) => {
      this.#end({ kind: ENDINGS[outcome.kind].terminal, outcome });
      return outcome as Outcome<Output>;
    });
    this.outcome = settled;
    // Whoever does not look at the outcome must not see an unhandled rejection; whoever does, still gets it.
    settled.catch(() => this.#end(null));
  }

  /** Cancels the run. A run that has ended stays as it is. */
  cancel(reason = "cancelled by the caller"): void {
    this.#cancellation.abort(reason);
  }

  /** The events, for one reader. Ends after the terminal event. */
  async *[Symbol.asyncIterator](): AsyncIterator<RunEvent> {
    for (;;) {
      if (this.#skipped > 0) {
        const count = this.#skipped;
        this.#skipped = 0;
        yield { kind: "skipped", count };
      }
      const next = this.#buffer.shift();
      if (next !== undefined) {
        yield next;
      } else if (this.#ended) {
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  #push(event: RunEvent): void {
    if (this.#ended) return;
    if (this.#buffer.length >= BUFFER_EVENTS) this.#skipped++;
    else this.#buffer.push(event);
    this.#signal();
  }

  #end(terminal: RunEvent | null): void {
    if (this.#ended) return;
    if (terminal !== null) this.#buffer.push(terminal);
    this.#ended = true;
    this.#signal();
  }

  #signal(): void {
    this.#wake?.();
    this.#wake = null;
  }
}
