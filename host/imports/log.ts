import type * as Log from "../generated/airlock-capability-log.ts";
import { BYTES_PER_LINE } from "./budget.ts";
import { guardAll } from "./guard.ts";
import { PRICES } from "./prices.ts";
import type { ImportedInterface, ImportScope } from "./scope.ts";

/** `airlock:capability/log@1.0.0`: lines for the operator, dropped and counted past `logBytes`. */
export function logInterface(scope: ImportScope): ImportedInterface {
  const functions = {
    write(level: Log.Level, message: string): void {
      const bytes = Buffer.byteLength(message) + BYTES_PER_LINE;
      if (scope.counters.logBytes + bytes > scope.limits.logBytes) {
        scope.counters.logDropped += bytes;
        return;
      }
      scope.counters.logBytes += bytes;
      scope.log(level, message);
    },
  } satisfies typeof Log;
  return guardAll(scope, "airlock:capability/log", PRICES.local, functions);
}
