import type { Codec } from "./codec.ts";
import type { Guest } from "./guest.ts";

/** The codec of what is a pointer and a length: a string or a list. */
export function spanCodec(
  read: (guest: Guest, at: number, length: number) => unknown,
  /** Copies a value into the guest and hands `place` where it lies. */
  write: (guest: Guest, value: unknown, place: (at: number, length: number) => void) => void,
): Codec {
  return {
    size: 8,
    align: 4,
    flat: ["i32", "i32"],
    load: (guest, at) => read(guest, guest.view.getUint32(at, true), guest.view.getUint32(at + 4, true)),
    store: (guest, value, at) =>
      write(guest, value, (pointer, length) => {
        guest.view.setUint32(at, pointer, true);
        guest.view.setUint32(at + 4, length, true);
      }),
    lift: (guest, values, at) => read(guest, (values[at] as number) >>> 0, (values[at + 1] as number) >>> 0),
    lower: (guest, value, into, at) =>
      write(guest, value, (pointer, length) => {
        into[at] = pointer;
        into[at + 1] = length;
      }),
  };
}
