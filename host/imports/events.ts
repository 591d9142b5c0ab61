import type { EventError } from "../generated/airlock-capability-events.ts";
import { guardAll } from "./guard.ts";
import { PRICES } from "./prices.ts";
import type { ImportedInterface, ImportScope } from "./scope.ts";

/** `airlock:capability/events@1.0.0`: an event is checked at the call; a refusal goes back to the guest, which goes on. */
export function eventsInterface(scope: ImportScope): ImportedInterface {
  return guardAll(scope, "airlock:capability/events", PRICES.event, {
    emitEvent(type: string, version: string, payload: string): { tag: "ok" } | { tag: "err"; val: EventError } {
      const verdict = scope.events.check(type, version, payload);
      if (verdict.kind === "refused") return { tag: "err", val: verdict.refusal };
      scope.publish(verdict.json);
      return { tag: "ok" };
    },
  });
}
