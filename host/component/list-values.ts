import { ROOT, refuse } from "./conversion-error.ts";

/**
 * Values that the lists of one output may hold together, bytes not counted, which become one base64 text. In JSON each is a
 * value of its own, made on the host's main thread, while the guest fills megabytes of them with one instruction.
 */
export const MOST_LIST_VALUES = 1_000_000;

/** Throws a ConversionError for a value of the glue that holds more than MOST_LIST_VALUES. Of a typed array it reads only the length. */
export function checkListValues(value: unknown): void {
  if (listValues(value) > MOST_LIST_VALUES) refuse(ROOT, `holds more than ${MOST_LIST_VALUES} values in lists`);
}

function listValues(value: unknown): number {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return 0;
  if (ArrayBuffer.isView(value)) return (value as unknown as ArrayLike<unknown>).length;
  let sum = 0;
  if (Array.isArray(value)) {
    // A tuple counts like a list: its few values make no difference.
    for (const item of value) sum += Math.max(1, listValues(item));
  } else {
    for (const part of Object.values(value)) sum += listValues(part);
  }
  return sum;
}
