import { type NumberKind, TYPED_ARRAYS } from "../component/component.ts";
import { type Codec, flatConcat, MOST_FLAT, unfit } from "./codec.ts";
import type { Guest } from "./guest.ts";
import { spanCodec } from "./span-codec.ts";

/** What one element costs the host, whatever its size in the guest; bytes and strings in it are paid for on top. */
const PRICE_OF_ELEMENT = 16;

/** A list of anything but numbers: an array. */
export function listCodec(element: Codec): Codec {
  const { size, align } = element;
  return spanCodec(
    (guest, at, length) => {
      guest.checkSpan(at, length * size, align, length * PRICE_OF_ELEMENT);
      return loadElements(guest, element, at, length);
    },
    (guest, value, place) => {
      const items = itemsOf(guest, value);
      const at = guest.allocate(align, items.length * size);
      storeElements(guest, element, items, at);
      place(at, items.length);
    },
  );
}

/** A list of numbers: a typed array, copied at once. */
export function numbersCodec(kind: NumberKind): Codec {
  const { BYTES_PER_ELEMENT: size } = TYPED_ARRAYS[kind];
  return spanCodec(
    (guest, at, length) => {
      guest.checkSpan(at, length * size, size, length * size);
      return loadNumbers(guest, kind, at, length);
    },
    (guest, value, place) => {
      const bytes = bytesOf(guest, kind, value);
      const at = guest.allocate(size, bytes.length);
      guest.bytes.set(bytes, at);
      place(at, bytes.length / size);
    },
  );
}

/** A list whose length is part of its type: it lies in place, and is a typed array or an array like any other list. */
export function fixedListCodec(element: Codec, length: number, kind: NumberKind | null): Codec {
  const flat = length > MOST_FLAT ? null : flatConcat(new Array(length).fill(element.flat));
  const step = element.flat?.length ?? 0;
  const price = kind === null ? length * PRICE_OF_ELEMENT : length * element.size;
  return {
    size: element.size * length,
    align: element.align,
    flat,
    load(guest, at) {
      if (price > 0) guest.hooks.payLift(price);
      return kind === null ? loadElements(guest, element, at, length) : loadNumbers(guest, kind, at, length);
    },
    store(guest, value, at) {
      storeElements(guest, element, itemsOf(guest, value, length), at);
    },
    lift(guest, values, at) {
      if (price > 0) guest.hooks.payLift(price);
      const items = Array.from({ length }, (_, index) => element.lift(guest, values, at + index * step));
      return kind === null ? items : typedArray(kind, items);
    },
    lower(guest, value, into, at) {
      const items = itemsOf(guest, value, length);
      for (let index = 0; index < length; index++) element.lower(guest, items[index], into, at + index * step);
    },
  };
}

function loadElements(guest: Guest, element: Codec, from: number, length: number): unknown[] {
  const items: unknown[] = [];
  for (let index = 0, at = from; index < length; index++, at += element.size) items.push(element.load(guest, at));
  return items;
}

function storeElements(guest: Guest, element: Codec, items: ArrayLike<unknown>, from: number): void {
  for (let index = 0, at = from; index < items.length; index++, at += element.size) {
    element.store(guest, items[index], at);
  }
}

function loadNumbers(guest: Guest, kind: NumberKind, at: number, length: number): unknown {
  const type = TYPED_ARRAYS[kind];
  return new type(guest.bytes.buffer.slice(at, at + length * type.BYTES_PER_ELEMENT));
}

function bytesOf(guest: Guest, kind: NumberKind, value: unknown): Uint8Array {
  const array = (value instanceof TYPED_ARRAYS[kind] ? value : typedArray(kind, itemsOf(guest, value))) as Uint8Array;
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

function typedArray(kind: NumberKind, items: ArrayLike<unknown>): unknown {
  return (TYPED_ARRAYS[kind] as { from(items: ArrayLike<unknown>): unknown }).from(items);
}

function itemsOf(guest: Guest, value: unknown, length?: number): ArrayLike<unknown> {
  if (!Array.isArray(value) && (!ArrayBuffer.isView(value) || value instanceof DataView)) unfit(guest, "list");
  const items = value as ArrayLike<unknown>;
  return length === undefined || items.length === length ? items : unfit(guest, `list of ${length} elements`);
}
