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
export const TYPED_ARRAYS = {
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

/** A typed array that a caller hands over instead of JSON. */
export interface GivenArray {
  readonly kind: NumberKind;
  /** What it held at this moment: its buffer may be shared, or change afterwards. */
  copy(): ArrayLike<number | bigint>;
}

/** What kind of number a value is a typed array of, or null. `instanceof` would miss those of another realm. */
export function givenArray(value: unknown): GivenArray | null {
  if (!ArrayBuffer.isView(value) || value instanceof DataView) return null;
  const name = TAG_OF_TYPED_ARRAY.call(value) as string | undefined;
  for (const [kind, type] of Object.entries(TYPED_ARRAYS)) {
    // The constructor, not `slice`: a Buffer's gives the same memory again.
    if (type.name === name) return { kind: kind as NumberKind, copy: () => new type(value as never) };
  }
  return null;
}

/** Reads the name out of the object itself, and gives undefined for what is no typed array. */
const TAG_OF_TYPED_ARRAY = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype),
  Symbol.toStringTag,
)!.get!;

/** True for bytes that JSON carries as base64. */
export function isBytes(type: WitType): boolean {
  return type.kind === "list" && type.element.kind === "u8";
}
