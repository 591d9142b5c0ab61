import { guardAll, guardClass } from "./guard.ts";
import { handleClass } from "./handle.ts";
import { PRICES } from "./prices.ts";
import type { ImportedInterface, ImportScope } from "./scope.ts";
import { soonest, type VirtualClock } from "./virtual-clock.ts";

/** `wasi:io/poll`, and the one way to make a pollable. */
export interface WasiPoll {
  readonly interfaces: Record<string, ImportedInterface>;
  /** A handle that becomes ready at an instant of the run's clock; 0 is ready at once. */
  pollable(readyAt: bigint): object;
}

const UNITS_PER_ELEMENT = 16;

/** Nothing ever waits: what is not ready is a timer, and waiting for a timer jumps the clock. */
export function wasiPoll(scope: ImportScope, clock: VirtualClock): WasiPoll {
  const Handle = handleClass(scope);
  class Pollable extends Handle {
    readonly #readyAt: bigint;

    constructor(readyAt: bigint) {
      super();
      this.#readyAt = readyAt;
    }

    static readyAt(pollable: Pollable): bigint {
      return pollable.#readyAt;
    }

    ready(): boolean {
      return clock.now() >= this.#readyAt;
    }

    block(): void {
      clock.jumpTo(this.#readyAt);
    }
  }
  guardClass(scope, "wasi:io/poll", PRICES.local, Pollable);

  const poll = (pollables: readonly Pollable[]): Uint32Array => {
    if (pollables.length === 0) scope.stop({ kind: "trapped", what: "poll was called with nothing to wait for" });
    scope.charge(pollables.length * UNITS_PER_ELEMENT);
    const instants = pollables.map(Pollable.readyAt);
    clock.jumpTo(instants.reduce((a, b) => soonest(a, b)));
    const now = clock.now();
    return Uint32Array.from(instants.flatMap((instant, index) => (instant <= now ? [index] : [])));
  };
  return {
    interfaces: { "wasi:io/poll": { Pollable, ...guardAll(scope, "wasi:io/poll", PRICES.local, { poll }) } },
    pollable: (readyAt) => new Pollable(readyAt),
  };
}
