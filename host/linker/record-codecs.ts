import { camelCase, type WitField } from "../component/component.ts";
import { alignTo, type Codec, flatConcat, unfit } from "./codec.ts";
import type { Guest } from "./guest.ts";

/** What an element of a list costs covers the fields of a narrower value. A type may have ten thousand. */
const FEWEST_COUNTED = 8;
const BYTES_PER_FIELD = 8;

interface Part {
  readonly codec: Codec;
  /** Where it lies: in bytes, and in flat values. */
  readonly offset: number;
  readonly flatOffset: number;
}

interface Parts {
  readonly parts: readonly Part[];
  readonly size: number;
  readonly align: number;
  readonly flat: Codec["flat"];
}

/** A record: an object with the fields as own properties. */
export function recordCodec(fields: readonly WitField[], codecs: readonly Codec[]): Codec {
  const { parts, ...shape } = layOut(codecs);
  const keys = fields.map(({ name }) => camelCase(name));
  const count = keys.length;
  return {
    ...shape,
    load(guest, at) {
      holdFields(guest, count);
      const value: Record<string, unknown> = {};
      for (let index = 0; index < count; index++) {
        const { codec, offset } = parts[index]!;
        value[keys[index]!] = codec.load(guest, at + offset);
      }
      return value;
    },
    store(guest, value, at) {
      const record = objectOf(guest, value);
      for (let index = 0; index < count; index++) {
        const { codec, offset } = parts[index]!;
        codec.store(guest, record[keys[index]!], at + offset);
      }
    },
    lift(guest, values, at) {
      const value: Record<string, unknown> = {};
      for (let index = 0; index < count; index++) {
        const { codec, flatOffset } = parts[index]!;
        value[keys[index]!] = codec.lift(guest, values, at + flatOffset);
      }
      return value;
    },
    lower(guest, value, into, at) {
      const record = objectOf(guest, value);
      for (let index = 0; index < count; index++) {
        const { codec, flatOffset } = parts[index]!;
        codec.lower(guest, record[keys[index]!], into, at + flatOffset);
      }
    },
  };
}

/** A tuple, or the parameters of a function: an array. */
export function tupleCodec(codecs: readonly Codec[]): Codec {
  const { parts, ...shape } = layOut(codecs);
  return {
    ...shape,
    load(guest, at) {
      holdFields(guest, parts.length);
      return parts.map(({ codec, offset }) => codec.load(guest, at + offset));
    },
    store(guest, value, at) {
      const items = arrayOf(guest, value, parts.length);
      for (let index = 0; index < parts.length; index++) {
        const { codec, offset } = parts[index]!;
        codec.store(guest, items[index], at + offset);
      }
    },
    lift(guest, values, at) {
      const items: unknown[] = [];
      for (let index = 0; index < parts.length; index++) {
        const { codec, flatOffset } = parts[index]!;
        items.push(codec.lift(guest, values, at + flatOffset));
      }
      return items;
    },
    lower(guest, value, into, at) {
      const items = arrayOf(guest, value, parts.length);
      for (let index = 0; index < parts.length; index++) {
        const { codec, flatOffset } = parts[index]!;
        codec.lower(guest, items[index], into, at + flatOffset);
      }
    },
  };
}

/** Flags: an object with a boolean for each. Bits that stand for none are ignored. */
export function flagsCodec(names: readonly string[]): Codec {
  const keys = names.map(camelCase);
  const size = names.length <= 8 ? 1 : names.length <= 16 ? 2 : 4;
  const toObject = (bits: number): Record<string, boolean> => {
    const flags: Record<string, boolean> = {};
    for (let index = 0; index < keys.length; index++) flags[keys[index]!] = ((bits >>> index) & 1) === 1;
    return flags;
  };
  const toBits = (guest: Guest, value: unknown): number => {
    const flags = objectOf(guest, value);
    let bits = 0;
    for (let index = 0; index < keys.length; index++) if (flags[keys[index]!]) bits |= 1 << index;
    return bits;
  };
  return {
    size,
    align: size,
    flat: ["i32"],
    load(guest, at) {
      holdFields(guest, keys.length);
      const { view } = guest;
      return toObject(size === 1 ? view.getUint8(at) : size === 2 ? view.getUint16(at, true) : view.getInt32(at, true));
    },
    store(guest, value, at) {
      const bits = toBits(guest, value);
      if (size === 1) guest.view.setUint8(at, bits);
      else if (size === 2) guest.view.setUint16(at, bits, true);
      else guest.view.setInt32(at, bits, true);
    },
    lift: (_, values, at) => toObject(values[at] as number),
    lower: (guest, value, into, at) => {
      into[at] = toBits(guest, value);
    },
  };
}

/** In memory a field may be a byte, and many elements of a list the same bytes; in the host each has its place. Not fuel: glue would not charge it. */
function holdFields({ hooks }: Guest, count: number): void {
  if (count >= FEWEST_COUNTED) hooks.payLift(0, count * BYTES_PER_FIELD);
}

function layOut(codecs: readonly Codec[]): Parts {
  let offset = 0;
  let flatOffset = 0;
  let align = 1;
  const parts = codecs.map((codec): Part => {
    offset = alignTo(offset, codec.align);
    const part = { codec, offset, flatOffset };
    offset += codec.size;
    flatOffset += codec.flat?.length ?? 0;
    align = Math.max(align, codec.align);
    return part;
  });
  return { parts, size: alignTo(offset, align), align, flat: flatConcat(codecs.map(({ flat }) => flat)) };
}

function objectOf(guest: Guest, value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : unfit(guest, "object");
}

function arrayOf(guest: Guest, value: unknown, length: number): readonly unknown[] {
  return Array.isArray(value) && value.length === length ? value : unfit(guest, `tuple of ${length}`);
}
