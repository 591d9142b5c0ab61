import { guardAll } from "./guard.ts";
import { PRICES } from "./prices.ts";
import { randomStream } from "./random-stream.ts";
import type { ImportedInterface, ImportScope } from "./scope.ts";

/** `wasi:random` by interface: what looks random is decided by the run's seed, and `randomBytes` bounds all of it together. */
export function randomInterfaces(scope: ImportScope): Record<string, ImportedInterface> {
  const draw = (label: string, length: bigint): Uint8Array => {
    const drawn = scope.counters.randomBytes;
    // A guest may ask for 2^64 - 1 bytes: nothing is made before the budget has said yes.
    if (length > BigInt(scope.limits.randomBytes - drawn)) scope.stop({ kind: "over-budget", limit: "randomBytes" });
    scope.counters.randomBytes += Number(length);
    scope.charge(Number(length) * PRICES.byte);
    return randomStream(scope.seed, label, drawn, Number(length));
  };
  const drawU64 = (label: string): bigint => firstU64(draw(label, 8n));
  return {
    "wasi:random/random": guardAll(scope, "wasi:random/random", PRICES.local, {
      getRandomBytes: (length: bigint) => draw("random", length),
      getRandomU64: () => drawU64("random"),
    }),
    "wasi:random/insecure": guardAll(scope, "wasi:random/insecure", PRICES.local, {
      getInsecureRandomBytes: (length: bigint) => draw("insecure", length),
      getInsecureRandomU64: () => drawU64("insecure"),
    }),
    "wasi:random/insecure-seed": guardAll(scope, "wasi:random/insecure-seed", PRICES.local, {
      // One value a run, however often it is asked for, so it is no draw.
      insecureSeed(): [bigint, bigint] {
        const bytes = randomStream(scope.seed, "insecure-seed", 0, 16);
        return [firstU64(bytes), firstU64(bytes.subarray(8))];
      },
    }),
  };
}

function firstU64(bytes: Uint8Array): bigint {
  return new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true);
}
