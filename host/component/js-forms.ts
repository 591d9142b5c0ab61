import type { WitType } from "./wit-type.ts";

/**
 * True when jco writes `type` as `undefined | value`. It does so for an option whose content is not written that way
 * itself, and else as `{ tag: "none" } | { tag: "some", val }`: of three nested options the outer one is bare again.
 */
export function isNullable(type: WitType): boolean {
  let options = 0;
  for (let at = type; at.kind === "option"; at = at.some) options += 1;
  return options % 2 === 1;
}

/** In JSON an option of an option is always wrapped: null is its outer none. */
export function isWrappedInJson(type: WitType): boolean {
  return type.kind === "option" && type.some.kind === "option";
}

/** The typed array of each kind of number. */
const TYPED_ARRAYS = {
  u8: Uint8Array,
  s8: Int8Array,
  u16: Uint16Array,
  s16: Int16Array,
  u32: Uint32Array,
  s32: Int32Array,
  u64: BigUint64Array,
  s64: BigInt64Array,
  f32: Float32Array,
  f64: Float64Array,
} as const;

export type NumberKind = keyof typeof TYPED_ARRAYS;

export function isNumberKind(kind: string): kind is NumberKind {
  return Object.hasOwn(TYPED_ARRAYS, kind);
}

/** The typed array that jco takes for a list of numbers. The items are checked already. */
export function typedArray(kind: NumberKind, items: readonly unknown[]): unknown {
  const type: { from(items: Iterable<never>): unknown } = TYPED_ARRAYS[kind];
  return type.from(items as never[]);
}

/** True for bytes that JSON carries as base64. */
export function isBytes(type: WitType): boolean {
  return type.kind === "list" && type.element.kind === "u8";
}
