import { guardAll } from "./guard.ts";
import { PRICES } from "./prices.ts";
import type { ImportedInterface, ImportScope } from "./scope.ts";
import { EPOCH_SECONDS, type VirtualClock } from "./virtual-clock.ts";
import type { WasiPoll } from "./wasi-poll.ts";

const NANOSECONDS = 1_000_000_000n;

/** `wasi:clocks` by interface. Both clocks are the run's virtual one. */
export function clockInterfaces(
  scope: ImportScope,
  clock: VirtualClock,
  poll: WasiPoll,
): Record<string, ImportedInterface> {
  return {
    "wasi:clocks/monotonic-clock": guardAll(scope, "wasi:clocks/monotonic-clock", PRICES.local, {
      now: () => clock.now(),
      resolution: () => 1n,
      subscribeInstant: (when: bigint) => poll.pollable(when),
      subscribeDuration: (duration: bigint) => poll.pollable(clock.after(duration)),
    }),
    "wasi:clocks/wall-clock": guardAll(scope, "wasi:clocks/wall-clock", PRICES.local, {
      now(): { seconds: bigint; nanoseconds: number } {
        const now = clock.now();
        return { seconds: EPOCH_SECONDS + now / NANOSECONDS, nanoseconds: Number(now % NANOSECONDS) };
      },
      resolution: () => ({ seconds: 0n, nanoseconds: 1 }),
    }),
  };
}
