/** Why the host ended a run from outside. */
export type StopCause =
  | { readonly kind: "cancelled"; readonly reason: string }
  | { readonly kind: "past-deadline"; readonly limit: "wallMs" | "deadlineMs" };

/** A timer past this fires at once; no run lasts that long, since `wallMs` is bounded and only the queue is not. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Everything that can end a run from outside, as one signal. The first cause stays. */
export class Stop {
  readonly #abort = new AbortController();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #caller: AbortSignal;
  #wall: NodeJS.Timeout | undefined;
  #cause: StopCause | null = null;

  /** `caller` is the caller's own signal, `deadline` an absolute time in milliseconds since the epoch. */
  constructor(caller: AbortSignal, deadline: number | null) {
    this.#caller = caller;
    if (caller.aborted) this.#cancelled();
    else caller.addEventListener("abort", this.#cancelled, { once: true });
    if (deadline !== null) this.#after(deadline - Date.now(), { kind: "past-deadline", limit: "deadlineMs" });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get cause(): StopCause | null {
    return this.#cause;
  }

  /** Starts the wall clock, or starts it again: `since` is when it began, in milliseconds since the epoch. */
  startWall(since: number, wallMs: number): void {
    if (this.#wall !== undefined) this.#forget(this.#wall);
    const now = performance.timeOrigin + performance.now();
    this.#wall = this.#after(wallMs - (now - since), { kind: "past-deadline", limit: "wallMs" });
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

  #after(ms: number, cause: StopCause): NodeJS.Timeout {
    const timer = setTimeout(() => this.#stop(cause), Math.min(Math.max(0, ms), LONGEST_TIMER_MS));
    this.#timers.add(timer);
    return timer;
  }

  #forget(timer: NodeJS.Timeout): void {
    clearTimeout(timer);
    this.#timers.delete(timer);
  }

  #stop(cause: StopCause): void {
    if (this.#cause !== null) return;
    this.#cause = cause;
    this.#abort.abort(cause);
  }
}
