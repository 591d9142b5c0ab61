import type { RunSignal } from "../providers/providers.ts";

/** Why the host ended a run from outside. */
export type StopCause =
  | { readonly kind: "cancelled"; readonly reason: string }
  | { readonly kind: "past-deadline"; readonly limit: "wallMs" | "deadlineMs" };

/** A timer past this fires at once; no run lasts that long, since `wallMs` is bounded and only the queue is not. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Everything that can end a run from outside. The first cause stays. */
export class Stop {
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #caller: RunSignal;
  #cause: StopCause | null = null;
  #onStop: (() => void) | null = null;
  #controller: AbortController | null = null;

  /** `caller` is the caller's own signal, `deadline` an absolute time in milliseconds since the epoch. */
  constructor(caller: RunSignal, deadline: number | null) {
    this.#caller = caller;
    if (caller.aborted) this.#cancelled();
    else caller.addEventListener("abort", this.#cancelled, { once: true });
    if (deadline !== null) {
      this.#after(deadline - Date.now(), () => this.#stop({ kind: "past-deadline", limit: "deadlineMs" }));
    }
  }

  get cause(): StopCause | null {
    return this.#cause;
  }

  /** For functions of the application. There is none before somebody asks: it costs several microseconds. */
  get abortSignal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#cause !== null) this.#controller.abort(this.#cause);
    }
    return this.#controller.signal;
  }

  /** Calls `act` when the run is to end, or at once where it is already. */
  onStop(act: () => void): void {
    this.#onStop = act;
    if (this.#cause !== null) act();
  }

  /** Ends the run `wallMs` after `since()`, in milliseconds since the epoch; null, or a later answer, puts it off. */
  watchWall(wallMs: number, since: () => number | null, waitMs = wallMs): void {
    this.#after(waitMs, () => {
      const began = since();
      const now = performance.timeOrigin + performance.now();
      const leftMs = began === null ? wallMs : wallMs - (now - began);
      if (leftMs > 0) this.watchWall(wallMs, since, leftMs);
      else this.#stop({ kind: "past-deadline", limit: "wallMs" });
    });
  }

  /** The run has ended: no timer and no listener stays. */
  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#caller.removeEventListener("abort", this.#cancelled);
  }

  readonly #cancelled = (): void => {
    const reason: unknown = this.#caller.reason;
    this.#stop({
      kind: "cancelled",
      reason: typeof reason === "string" ? reason : reason instanceof Error ? reason.message : "cancelled",
    });
  };

  #after(ms: number, act: () => void): void {
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        act();
      },
      Math.min(Math.max(0, ms), LONGEST_TIMER_MS),
    );
    this.#timers.add(timer);
  }

  #stop(cause: StopCause): void {
    if (this.#cause !== null) return;
    this.#cause = cause;
    this.#onStop?.();
    this.#controller?.abort(cause);
  }
}
