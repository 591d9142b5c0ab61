import { type JsonText, parseJsonText } from "../manifest/manifest.ts";
import { PRICES } from "./prices.ts";
import type { ImportScope } from "./scope.ts";

/** The memory that a core module exports as `memory`, as it is now; null where it exports none. */
export type CoreMemory = () => Uint8Array | null;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Whether `length` bytes at `at` lie in the memory. Neither may be negative; both are at most 2^32, so that their sum is exact. */
export function isInside(memory: Uint8Array, at: number, length: number): boolean {
  return at + length <= memory.length;
}

/** An object of JSON in the memory, paid for before it is read; null for bytes that are none. They must lie inside. */
export function readJsonObject(
  scope: ImportScope,
  memory: Uint8Array,
  at: number,
  length: number,
): Readonly<Record<string, unknown>> | null {
  scope.charge(length * PRICES.byte);
  let json: JsonText;
  try {
    json = parseJsonText(utf8.decode(memory.subarray(at, at + length)));
  } catch {
    return null;
  }
  if (json.kind !== "value" || typeof json.value !== "object" || json.value === null || Array.isArray(json.value))
    return null;
  return json.value as Record<string, unknown>;
}

/** A member of an object of JSON that is text, or null. */
export function textOf(object: Readonly<Record<string, unknown>>, member: string): string | null {
  const value = Object.hasOwn(object, member) ? object[member] : null;
  return typeof value === "string" ? value : null;
}
