import { type Place, refuse } from "./conversion-error.ts";

/** Bounds of the integer kinds that are JavaScript numbers. */
export const INTEGER_BOUNDS = {
  u8: [0, 0xff],
  s8: [-0x80, 0x7f],
  u16: [0, 0xffff],
  s16: [-0x8000, 0x7fff],
  u32: [0, 0xffff_ffff],
  s32: [-0x8000_0000, 0x7fff_ffff],
} as const;

/** Bounds of those that are bigints. */
export const BIGINT_BOUNDS = {
  u64: [0n, 2n ** 64n - 1n],
  s64: [-(2n ** 63n), 2n ** 63n - 1n],
} as const;

export type IntegerKind = keyof typeof INTEGER_BOUNDS;
export type BigintKind = keyof typeof BIGINT_BOUNDS;

const DECIMAL = /^(?:0|-?[1-9][0-9]{0,19})$/;

export function checkInteger(value: unknown, kind: IntegerKind, place: Place): number {
  const [min, max] = INTEGER_BOUNDS[kind];
  if (typeof value !== "number" || !Number.isInteger(value)) refuse(place, `is not an integer (${kind})`);
  if (value < min || value > max) refuse(place, `is outside ${kind}: ${min} to ${max}`);
  return value;
}

/** A 64-bit integer out of a decimal string or a safe integer. */
export function parseBigint(value: unknown, kind: BigintKind, place: Place): bigint {
  if (typeof value === "string" && DECIMAL.test(value)) return checkBigint(BigInt(value), kind, place);
  if (Number.isSafeInteger(value)) return checkBigint(BigInt(value as number), kind, place);
  return refuse(place, `is neither a decimal string nor a safe integer (${kind})`);
}

export function checkBigint(value: unknown, kind: BigintKind, place: Place): bigint {
  const [min, max] = BIGINT_BOUNDS[kind];
  if (typeof value !== "bigint") refuse(place, `is not a bigint (${kind})`);
  if (value < min || value > max) refuse(place, `is outside ${kind}: ${min} to ${max}`);
  return value;
}

/** A finite number; one that is too large for an f32 would become an infinity there. */
export function checkFloat(value: unknown, kind: "f32" | "f64", place: Place): number {
  if (typeof value !== "number") refuse(place, `is not a number (${kind})`);
  const stored = kind === "f32" ? Math.fround(value) : value;
  if (!Number.isFinite(stored)) refuse(place, `is not a finite ${kind}`);
  return stored;
}

export function checkString(value: unknown, place: Place): string {
  if (typeof value !== "string") refuse(place, "is not a string");
  if (hasLoneSurrogate(value)) refuse(place, "holds a lone surrogate");
  return value;
}

export function checkChar(value: unknown, place: Place): string {
  const text = checkString(value, place);
  const codePoint = text.codePointAt(0);
  if (codePoint === undefined || text.length !== (codePoint > 0xffff ? 2 : 1)) refuse(place, "is not one character");
  return text;
}

/** With the `u` flag a surrogate matches only when it has no partner. */
function hasLoneSurrogate(text: string): boolean {
  return /\p{Surrogate}/u.test(text);
}
