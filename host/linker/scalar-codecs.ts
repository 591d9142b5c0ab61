import type { WitKind } from "../component/component.ts";
import { type Codec, type CoreType, unfit } from "./codec.ts";
import type { CoreValue, Guest } from "./guest.ts";

/** The codecs of types that are one number. Bits beyond a type's width are cut off, both ways. */
export const SCALAR_CODECS: ReadonlyMap<WitKind, Codec> = new Map<WitKind, Codec>([
  [
    "bool",
    scalar(1, "i32", {
      load: ({ view }, at) => view.getUint8(at) !== 0,
      store: ({ view }, value, at) => view.setUint8(at, value ? 1 : 0),
      lift: (_, value) => value !== 0,
      lower: (_, value) => (value ? 1 : 0),
    }),
  ],
  [
    "u8",
    integer(
      1,
      (view, at) => view.getUint8(at),
      (view, at, value) => view.setUint8(at, value),
      (value) => value & 0xff,
    ),
  ],
  [
    "s8",
    integer(
      1,
      (view, at) => view.getInt8(at),
      (view, at, value) => view.setInt8(at, value),
      (value) => (value << 24) >> 24,
    ),
  ],
  [
    "u16",
    integer(
      2,
      (view, at) => view.getUint16(at, true),
      (view, at, value) => view.setUint16(at, value, true),
      (value) => value & 0xffff,
    ),
  ],
  [
    "s16",
    integer(
      2,
      (view, at) => view.getInt16(at, true),
      (view, at, value) => view.setInt16(at, value, true),
      (value) => (value << 16) >> 16,
    ),
  ],
  [
    "u32",
    integer(
      4,
      (view, at) => view.getUint32(at, true),
      (view, at, value) => view.setUint32(at, value, true),
      (value) => value >>> 0,
    ),
  ],
  [
    "s32",
    integer(
      4,
      (view, at) => view.getInt32(at, true),
      (view, at, value) => view.setInt32(at, value, true),
      (value) => value | 0,
    ),
  ],
  [
    "u64",
    scalar(8, "i64", {
      load: ({ view }, at) => view.getBigUint64(at, true),
      store: (guest, value, at) => guest.view.setBigUint64(at, bigintOf(guest, value), true),
      lift: (_, value) => BigInt.asUintN(64, value as bigint),
      lower: bigintOf,
    }),
  ],
  [
    "s64",
    scalar(8, "i64", {
      load: ({ view }, at) => view.getBigInt64(at, true),
      store: (guest, value, at) => guest.view.setBigInt64(at, bigintOf(guest, value), true),
      lift: (_, value) => BigInt.asIntN(64, value as bigint),
      lower: bigintOf,
    }),
  ],
  [
    "f32",
    scalar(4, "f32", {
      load: ({ view }, at) => view.getFloat32(at, true),
      store: (guest, value, at) => guest.view.setFloat32(at, floatOf(guest, value), true),
      lift: (_, value) => Math.fround(value as number),
      lower: floatOf,
    }),
  ],
  [
    "f64",
    scalar(8, "f64", {
      load: ({ view }, at) => view.getFloat64(at, true),
      store: (guest, value, at) => guest.view.setFloat64(at, floatOf(guest, value), true),
      lift: (_, value) => value,
      lower: floatOf,
    }),
  ],
  [
    "char",
    scalar(4, "i32", {
      load: (guest, at) => charOf(guest, guest.view.getUint32(at, true)),
      store: (guest, value, at) => guest.view.setUint32(at, codePointOf(guest, value), true),
      lift: (guest, value) => charOf(guest, (value as number) >>> 0),
      lower: codePointOf,
    }),
  ],
]);

interface Crossing {
  load(guest: Guest, at: number): unknown;
  store(guest: Guest, value: unknown, at: number): void;
  lift(guest: Guest, value: CoreValue): unknown;
  lower(guest: Guest, value: unknown): CoreValue;
}

function scalar(size: number, core: CoreType, { load, store, lift, lower }: Crossing): Codec {
  return {
    size,
    align: size,
    flat: [core],
    load,
    store,
    lift: (guest, values, at) => lift(guest, values[at]!),
    lower: (guest, value, into, at) => {
      into[at] = lower(guest, value);
    },
  };
}

function integer(
  size: number,
  get: (view: DataView, at: number) => number,
  set: (view: DataView, at: number, value: number) => void,
  wrap: (value: number) => number,
): Codec {
  return scalar(size, "i32", {
    load: ({ view }, at) => get(view, at),
    store: (guest, value, at) => set(guest.view, at, numberOf(guest, value)),
    lift: (_, value) => wrap(value as number),
    lower: numberOf,
  });
}

function numberOf(guest: Guest, value: unknown): number {
  return typeof value === "number" ? value : unfit(guest, "number");
}

/** One NaN for all, as the specification allows: the bits of others differ between V8's compilers. */
function floatOf(guest: Guest, value: unknown): number {
  const number = numberOf(guest, value);
  return Number.isNaN(number) ? Number.NaN : number;
}

function bigintOf(guest: Guest, value: unknown): bigint {
  return typeof value === "bigint" ? value : unfit(guest, "64-bit integer");
}

function charOf(guest: Guest, codePoint: number): string {
  if (codePoint > 0x10ffff || (codePoint >= 0xd800 && codePoint <= 0xdfff))
    guest.hooks.trap(`a char of the guest is no Unicode scalar value: ${codePoint}`);
  return String.fromCodePoint(codePoint);
}

function codePointOf(guest: Guest, value: unknown): number {
  const codePoint = typeof value === "string" ? value.codePointAt(0) : undefined;
  return codePoint ?? unfit(guest, "char");
}
