import { channel } from "node:diagnostics_channel";
import type { RunSignal } from "./provider.ts";

const failures = channel("airlock:providers:abort-listener-failed");

/** Why a run was ended from outside, as the platform names it. */
type AbortName = "AbortError" | "TimeoutError";

/** The signal of one run. Costs next to nothing while nobody asks it. */
export class StopSignal implements RunSignal {
  aborted = false;
  /** A text, once it is aborted. */
  reason: string | undefined = undefined;
  #name: AbortName = "AbortError";
  #listeners: (() => void)[] | null = null;
  #controller: AbortController | null = null;

  addEventListener(_type: "abort", listener: () => void): void {
    if (this.aborted) return;
    this.#listeners ??= [];
    if (!this.#listeners.includes(listener)) this.#listeners.push(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    const index = this.#listeners?.indexOf(listener) ?? -1;
    if (index >= 0) this.#listeners!.splice(index, 1);
  }

  /** The first reason stays. A listener that throws hurts nobody else: its error goes to the diagnostics channel. */
  abort(reason: string, name: AbortName): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.#name = name;
    const listeners = this.#listeners;
    this.#listeners = null;
    // The platform's listeners never throw here: Node hands what they throw to the process, like any event's.
    this.#controller?.abort(new DOMException(reason, name));
    for (const listener of listeners ?? []) {
      try {
        listener();
      } catch (error) {
        failures.publish({ error, reason });
      }
    }
  }

  /** The same as the signal that the platform knows; its reason is a DOMException, as of any aborted request. */
  get abortSignal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.aborted) this.#controller.abort(new DOMException(this.reason, this.#name));
    }
    return this.#controller.signal;
  }
}

/** A run's signal as the platform knows it, for `fetch` and the like. Asked for twice, it is the same. */
export function abortSignalOf(signal: RunSignal): AbortSignal {
  if (signal instanceof StopSignal) return signal.abortSignal;
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  const abort = (): void => controller.abort(new DOMException(String(signal.reason), "AbortError"));
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return controller.signal;
}
