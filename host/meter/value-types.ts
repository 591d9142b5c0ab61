import type { Reader } from "../binary/binary.ts";
import type { CoreModule } from "./module.ts";
import { checkHeapType, checkValueType, FUNCTION_REFERENCES } from "./refusal.ts";
import { FLOAT } from "./stack-effects.ts";

const FUNCREF = 0x70;
const EXNREF = 0x69;
/** `(ref null heap)` and `(ref heap)`; a heap type follows. */
const REF_NULL = 0x63;
const REF = 0x64;

/** Whether a heap type follows this first byte of a value type. */
export function isTypedReference(first: number): boolean {
  return first === REF_NULL || first === REF;
}

/** Reads a value type, or throws for one that is not metered. Answers whether it can hold a function. */
export function readValueType(module: CoreModule, reader: Reader): boolean {
  const at = reader.position;
  const first = reader.byte();
  if (isTypedReference(first)) {
    noteFeature(module, FUNCTION_REFERENCES, at);
    return readHeapType(module, reader);
  }
  checkValueType(first, at);
  if (first === EXNREF) noteFeature(module, "exception references", at);
  return first === FUNCREF;
}

/** The same for a heap type. */
export function readHeapType(module: CoreModule, reader: Reader): boolean {
  const at = reader.position;
  const type = reader.s33();
  if (type >= 0) {
    // All types are function types: others have been refused.
    noteFeature(module, FUNCTION_REFERENCES, at);
    return true;
  }
  const code = type & 0x7f;
  checkHeapType(code, at);
  if (code === EXNREF) noteFeature(module, "exception references", at);
  return code === FUNCREF;
}

/** Notes where a feature that some engines lack is used first. */
export function noteFeature(module: CoreModule, feature: string, at: number): void {
  if (!module.features.has(feature)) module.features.set(feature, at);
}

const F32 = 0x7d;
const F64 = 0x7c;
export const V128 = 0x7b;

/** The first byte of each of `count` value types, which have been checked. */
export function firstBytes(bytes: Uint8Array, start: number, count: number): number[] {
  const firsts: number[] = [];
  let position = start;
  for (let left = count; left > 0; left--) {
    const first = bytes[position++]!;
    firsts.push(first);
    if (isTypedReference(first)) while (bytes[position++]! >= 0x80);
  }
  return firsts;
}

/** The shape of a value type that the host hands over as a number. */
export function floatOf(first: number): number {
  return first === F32 ? FLOAT.f32 : first === F64 ? FLOAT.f64 : FLOAT.none;
}
