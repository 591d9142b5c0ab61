import { guardAll } from "./guard.ts";
import { PRICES } from "./prices.ts";
import type { ImportedInterface, ImportScope } from "./scope.ts";

const BYTES_PER_LINE = 16;

/** `airlock:capability/log@1.0.0`: lines for the operator, dropped and counted past `logBytes`. */
export function logInterface(scope: ImportScope): ImportedInterface {
  return guardAll(scope, "airlock:capability/log", PRICES.local, {
    write(level: string, message: string): void {
      // An empty line is a message to the main thread all the same.
      const bytes = Buffer.byteLength(message) + BYTES_PER_LINE;
      if (scope.counters.logBytes + bytes > scope.limits.logBytes) {
        scope.counters.logDropped += bytes;
        return;
      }
      scope.counters.logBytes += bytes;
      scope.log(level, message);
    },
  });
}
