import type { InvokeError } from "../generated/airlock-capability-invoke.ts";
import { count } from "./budget.ts";
import { guardAll } from "./guard.ts";
import { PRICES } from "./prices.ts";
import type { ImportedInterface, ImportScope } from "./scope.ts";

/** The name under which the main thread is asked. */
export const INVOKE = "airlock:capability/invoke@1.0.0";

/** What the main thread is asked: the guest's words, and what it has left. */
export type InvokeQuestion = readonly [
  capability: string,
  operation: string,
  input: string,
  fuelLeft: number,
  memoryLeft: number,
  eventsLeft: number,
  eventBytesLeft: number,
];

/** What it answers: the guest's result, and what the guest pays for it. */
export interface InvokeAnswer {
  readonly result: { readonly tag: "ok"; readonly val: string } | { readonly tag: "err"; readonly val: InvokeError };
  readonly fuel: number;
  readonly isExact: boolean;
  readonly events: number;
  readonly eventBytes: number;
}

/** `airlock:capability/invoke@1.0.0`: another capability, called as a part of this run. The main thread starts it and waits for it. */
export function invokeInterface(scope: ImportScope): ImportedInterface {
  return guardAll(scope, "airlock:capability/invoke", PRICES.main, {
    invoke(capability: string, operation: string, input: string): InvokeAnswer["result"] {
      const words = [capability, operation, input];
      // The types that the guest declares are its own.
      if (words.some((word) => typeof word !== "string")) scope.stop({ kind: "trapped", what: "invoke takes strings" });
      count(scope, "hostCalls", 1);
      count(scope, "hostBytesOut", bytesOf(...words));
      const left = scope.events.left;
      const question: InvokeQuestion = [
        capability,
        operation,
        input,
        Number(scope.fuelLeft()),
        scope.memoryLeft(),
        left.count,
        left.bytes,
      ];
      const answer = scope.askHost(INVOKE, "invoke", question);
      if (answer.kind !== "value") return scope.stop({ kind: "trapped", what: brokenText(answer) });
      const { result, fuel, isExact, events, eventBytes } = answer.value as InvokeAnswer;
      // First of all: what was used is paid for, whatever becomes of the answer.
      scope.chargeNested(fuel, isExact);
      scope.events.takeNested(events, eventBytes);
      const bytes = bytesOf(...textsOf(result));
      count(scope, "hostBytesIn", bytes);
      scope.charge(bytes * PRICES.byte);
      return result;
    },
  });
}

function brokenText(answer: { readonly kind: "error" | "broken"; readonly message?: string }): string {
  return answer.message ?? "the call of another capability failed";
}

/** The texts that a result brings into the guest. */
function textsOf({ tag, val }: InvokeAnswer["result"]): readonly string[] {
  if (tag === "ok") return [val];
  if (!("val" in val)) return [];
  if (typeof val.val === "string") return [val.val];
  return Object.values(val.val).filter((each) => typeof each === "string");
}

function bytesOf(...texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}
