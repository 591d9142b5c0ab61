import { EventEmitter } from "node:events";

/**
 * What ends a run from outside, as Piscina listens for it. A run that nobody ends would pay several microseconds for an
 * `AbortController` that nobody asks, so there is one only where a function of the application wants its signal.
 */
export class StopSignal extends EventEmitter<{ abort: [] }> {
  aborted = false;
  reason: unknown = undefined;
  #controller: AbortController | null = null;

  /** The first reason stays. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.emit("abort");
    this.#controller?.abort(reason);
  }

  /** The same as the signal that the platform knows. */
  get abortSignal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.aborted) this.#controller.abort(this.reason);
    }
    return this.#controller.signal;
  }
}
