import type { ImportScope } from "./scope.ts";

/** 2025-01-01T00:00:00Z: what the wall clock says when a run begins, in seconds of Unix time. */
export const EPOCH_SECONDS = 1_735_689_600n;

const LATEST = 2n ** 64n - 1n;

/**
 * The clock of one run, in nanoseconds since it began. One unit of fuel is one nanosecond, and waiting jumps, so the same
 * component with the same input reads the same times on every machine. It never goes back, and it stops at 2^64 - 1.
 */
export class VirtualClock {
  readonly #scope: ImportScope;
  #waited = 0n;
  #latest = 0n;

  constructor(scope: ImportScope) {
    this.#scope = scope;
  }

  now(): bigint {
    // The call begins with its own fuel, so what is burned falls back to zero when instantiation is over.
    const burned = this.#scope.fuelAtStart() - this.#scope.fuelLeft();
    const now = soonest(burned + this.#waited, LATEST);
    if (now > this.#latest) this.#latest = now;
    return this.#latest;
  }

  /** When `duration` from now is over. */
  after(duration: bigint): bigint {
    return soonest(this.now() + duration, LATEST);
  }

  /** Waits, which takes no time. */
  jumpTo(instant: bigint): void {
    const ahead = instant - this.now();
    if (ahead <= 0n) return;
    this.#waited += ahead;
    this.#latest = instant;
  }
}

/** The earlier of two instants. */
export function soonest(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
