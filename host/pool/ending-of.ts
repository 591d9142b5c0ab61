import { type Counters, REFUSED } from "../meter/meter.ts";
import { textOfThrown } from "./guest-stop.ts";
import type { Phase, WorkerEnding } from "./protocol.ts";

/** How a call came back. */
export type GuestReturn = { readonly returned: unknown } | { readonly thrown: unknown };

/** What the end of a call means where no ending was recorded before: empty fuel first, then what was thrown, where. */
export function endingOf(outcome: GuestReturn, phase: Phase, meter: Counters): WorkerEnding {
  if (meter.fuel.value < 0n) return { kind: "out-of-fuel", phase };
  if ("returned" in outcome) return { kind: "succeeded", output: outcome.returned };
  const { thrown } = outcome;
  if (meter.depth.value < 0n) return { kind: "out-of-stack", phase, limit: "callDepth" };
  const refused = meter.refused.value;
  if (refused === REFUSED.engine)
    return { kind: "lost", what: "the engine had no memory for a growth within the limits" };
  if (refused === REFUSED.own) return { kind: "trapped", phase, what: "a growth past the module's own maximum" };
  if (refused !== REFUSED.none) {
    return { kind: "out-of-memory", phase, limit: refused === REFUSED.memory ? "memoryBytes" : "tableElements" };
  }
  // The glue throws the value of an `err` after the result was lifted: as it is, or in an error of its own.
  if (phase === "lift" || phase === "post") {
    if (!(thrown instanceof Error)) return { kind: "failed", failure: thrown };
    if (Object.hasOwn(thrown, "payload")) return { kind: "failed", failure: (thrown as { payload?: unknown }).payload };
  }
  if (thrown instanceof RangeError && phase === "guest") return { kind: "out-of-stack", phase, limit: "engine" };
  return { kind: "trapped", phase, what: textOfThrown(thrown) };
}
