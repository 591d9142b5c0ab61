import { TextDecoder } from "node:util";
import type { StringEncoding } from "../component/component.ts";
import { type Codec, unfit } from "./codec.ts";
import type { Guest } from "./guest.ts";
import { spanCodec } from "./span-codec.ts";

/** Set in the length of a latin1+utf16 string that is UTF-16. */
const UTF16_TAG = 2 ** 31;

/** The codec of strings in one encoding. */
export function stringCodec(encoding: StringEncoding): Codec {
  switch (encoding) {
    case "utf8":
      return spanCodec(loadUtf8, storeUtf8);
    case "utf16":
      return spanCodec(loadUtf16, storeUtf16);
    case "latin1+utf16":
      return spanCodec(loadEither, storeEither);
  }
}

function loadUtf8(guest: Guest, at: number, length: number): string {
  guest.checkSpan(at, length, 1, length);
  return shortAscii(guest.bytes, at, length) ?? decode(guest, UTF8, "UTF-8", at, length);
}

function loadUtf16(guest: Guest, at: number, units: number): string {
  guest.checkSpan(at, units * 2, 2, units * 2);
  return decode(guest, UTF16, "UTF-16", at, units * 2);
}

function loadEither(guest: Guest, at: number, tagged: number): string {
  if (tagged >= UTF16_TAG) return loadUtf16(guest, at, tagged - UTF16_TAG);
  guest.checkSpan(at, tagged, 2, tagged);
  return guest.bytes.toString("latin1", at, at + tagged);
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const UTF16 = new TextDecoder("utf-16le", { fatal: true, ignoreBOM: true });

/** To ask a decoder, or a buffer, takes longer than to read as many characters as this. */
const LONGEST_ASCII = 64;
const LONGEST_CODES = 16;

/** A short string that is the same in ASCII; null for any other. */
function shortAscii(bytes: Buffer, at: number, size: number): string | null {
  if (size > LONGEST_ASCII) return null;
  if (size > LONGEST_CODES) {
    let seen = 0;
    for (let index = at; index < at + size; index++) seen |= bytes[index]!;
    return seen < 0x80 ? bytes.toString("latin1", at, at + size) : null;
  }
  const codes = new Array<number>(size);
  for (let index = 0; index < size; index++) {
    const code = bytes[at + index]!;
    if (code >= 0x80) return null;
    codes[index] = code;
  }
  return String.fromCharCode.apply(null, codes);
}

function decode(guest: Guest, decoder: TextDecoder, name: string, at: number, size: number): string {
  if (size === 0) return "";
  try {
    return decoder.decode(guest.bytes.subarray(at, at + size));
  } catch {
    return guest.hooks.trap(`a string of the guest is not valid ${name}`);
  }
}

function storeUtf8(guest: Guest, value: unknown, place: (at: number, length: number) => void): void {
  const text = textOf(guest, value);
  const size = Buffer.byteLength(text);
  // As wasmtime and jco do it: nothing is allocated for nothing, and the pointer is not null.
  const at = size === 0 ? 1 : guest.allocate(1, size);
  if (size > 0) guest.bytes.write(text, at, size, "utf8");
  place(at, size);
}

function storeUtf16(guest: Guest, value: unknown, place: (at: number, length: number) => void): void {
  const text = textOf(guest, value);
  const at = guest.allocate(2, text.length * 2);
  guest.bytes.write(text, at, text.length * 2, "utf16le");
  place(at, text.length);
}

function storeEither(guest: Guest, value: unknown, place: (at: number, length: number) => void): void {
  const text = textOf(guest, value);
  if (BEYOND_LATIN1.test(text)) {
    storeUtf16(guest, text, (at, units) => place(at, units + UTF16_TAG));
  } else {
    const at = guest.allocate(2, text.length);
    guest.bytes.write(text, at, text.length, "latin1");
    place(at, text.length);
  }
}

const BEYOND_LATIN1 = /[\u0100-\uffff]/;

function textOf(guest: Guest, value: unknown): string {
  return typeof value === "string" ? value : unfit(guest, "string");
}
