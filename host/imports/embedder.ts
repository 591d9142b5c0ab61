import { count } from "./budget.ts";
import { guard } from "./guard.ts";
import { PRICES } from "./prices.ts";
import type { ImportedInterface, ImportScope } from "./scope.ts";

/** One function of an interface that the embedding application offers. */
export interface EmbedderFunction {
  /** Its name in WIT, and in JavaScript. */
  readonly name: string;
  readonly key: string;
  /** Whether its WIT result is a `result`, so that the host's error can be handed to the guest. */
  readonly fallible: boolean;
}

/** An interface of the embedding application: each call is counted, bounded, timed, and answered by the main thread. */
export function embedderInterface(
  scope: ImportScope,
  interfaceName: string,
  functions: readonly EmbedderFunction[],
): ImportedInterface {
  return Object.fromEntries(
    functions.map(({ name, key, fallible }) => [
      key,
      guard(scope, `${interfaceName}#${name}`, PRICES.main, (...args: unknown[]): unknown => {
        count(scope, "hostCalls", 1);
        count(scope, "hostBytesOut", sizeOf(args));
        const answer = scope.askHost(interfaceName, name, args);
        if (answer.kind === "broken") return scope.stop({ kind: "trapped", what: answer.message });
        const bytes = sizeOf(answer.value);
        count(scope, "hostBytesIn", bytes);
        scope.charge(bytes * PRICES.byte);
        if (answer.kind === "error") return { tag: "err", val: answer.value };
        return fallible ? { tag: "ok", val: answer.value } : answer.value;
      }),
    ]),
  );
}

const BYTES_PER_ELEMENT = 16;

/** Bytes that a value stands for: contents of strings and byte arrays, and a flat price for each element and field. */
function sizeOf(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (typeof value !== "object" || value === null) return 8;
  let sum = 0;
  for (const child of Array.isArray(value) ? value : Object.values(value)) sum += BYTES_PER_ELEMENT + sizeOf(child);
  return sum;
}
