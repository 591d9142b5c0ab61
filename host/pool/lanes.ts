import { HostError } from "../errors/errors.ts";
import type { StopSignal } from "./stop-signal.ts";

/** A place on a thread, held by one run. */
export interface Slot {
  /** Gives the place back; a second call does nothing. */
  release(): void;
}

interface Waiting {
  readonly grant: () => void;
}

/**
 * Hands out as many slots as there are threads, first come first served, so that Piscina itself never queues and whoever
 * waits can still be cancelled.
 */
export class Lanes {
  readonly #queueBound: number;
  readonly #waiting = new Set<Waiting>();
  #free: number;

  constructor(slots: number, queueBound: number) {
    this.#free = slots;
    this.#queueBound = queueBound;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  get free(): number {
    return this.#free;
  }

  /** Throws AIRLOCK_POOL_QUEUE_FULL at once when a run would have to wait and as many wait already as may. */
  checkRoom(): void {
    if (this.#free > 0 || this.#waiting.size < this.#queueBound) return;
    throw new HostError(
      "AIRLOCK_POOL_QUEUE_FULL",
      `Cannot start the run: ${this.#waiting.size} runs wait and the queue holds ${this.#queueBound}; try again later or raise the option queue`,
    );
  }

  /** Resolves to a slot, or to null when `signal` aborts first. */
  async take(signal: StopSignal): Promise<Slot | null> {
    if (signal.aborted) return null;
    if (this.#free > 0) {
      this.#free--;
      return this.#slot();
    }
    return new Promise((resolve) => {
      const waiting: Waiting = {
        grant: () => {
          signal.removeListener("abort", leave);
          resolve(this.#slot());
        },
      };
      const leave = (): void => {
        this.#waiting.delete(waiting);
        resolve(null);
      };
      this.#waiting.add(waiting);
      signal.once("abort", leave);
    });
  }

  #slot(): Slot {
    let held = true;
    return {
      release: () => {
        if (!held) return;
        held = false;
        const [next] = this.#waiting;
        if (next === undefined) {
          this.#free++;
          return;
        }
        this.#waiting.delete(next);
        next.grant();
      },
    };
  }
}
