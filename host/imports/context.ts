import type * as Context from "../generated/airlock-capability-context.ts";
import { guardAll } from "./guard.ts";
import { PRICES } from "./prices.ts";
import type { ImportedInterface, ImportScope } from "./scope.ts";

/** `airlock:capability/context@1.0.0`: what a capability may know about its own run. */
export function contextInterface(scope: ImportScope): ImportedInterface {
  const functions = {
    current: () => scope.invocation,
    fuelLeft: () => scope.fuelLeft(),
    limits: () => JSON.stringify(scope.limits),
  } satisfies typeof Context;
  return guardAll(scope, "airlock:capability/context", PRICES.local, functions);
}
