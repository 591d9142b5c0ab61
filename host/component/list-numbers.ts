import { ROOT, refuse } from "./conversion-error.ts";

/**
 * Numbers that the lists of one output may hold together, bytes not counted, which become one base64 text. In JSON each is a
 * value of its own, made on the host's main thread, while the guest fills megabytes of them with one instruction.
 */
export const MOST_LIST_NUMBERS = 1_000_000;

/** Throws a ConversionError for a value of the glue that holds more than MOST_LIST_NUMBERS. Reads no list, only its length. */
export function checkListNumbers(value: unknown): void {
  if (listNumbers(value) > MOST_LIST_NUMBERS) refuse(ROOT, `holds more than ${MOST_LIST_NUMBERS} numbers in lists`);
}

function listNumbers(value: unknown): number {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return 0;
  if (ArrayBuffer.isView(value)) return (value as unknown as ArrayLike<unknown>).length;
  let sum = 0;
  for (const part of Object.values(value)) sum += listNumbers(part);
  return sum;
}
