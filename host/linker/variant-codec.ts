import { alignTo, type Codec, type CoreType, MOST_FLAT } from "./codec.ts";
import { fromJoined, join, toJoined } from "./flat-join.ts";
import type { CoreValue, Guest } from "./guest.ts";

/** The cases of a variant, an option, a result or an enum, and how JavaScript writes them. */
export interface Cases {
  readonly payloads: readonly (Codec | null)[];
  indexOf(guest: Guest, value: unknown): number;
  /** What a value of a case that has a payload carries. */
  payloadOf(value: unknown): unknown;
  toJs(index: number, payload: unknown): unknown;
}

/** The codec of a type that is one of several cases. */
export function variantCodec({ payloads, indexOf, payloadOf, toJs }: Cases): Codec {
  const tagSize = payloads.length <= 2 ** 8 ? 1 : payloads.length <= 2 ** 16 ? 2 : 4;
  const payloadAlign = payloads.reduce((most, payload) => Math.max(most, payload?.align ?? 1), 1);
  const payloadSize = payloads.reduce((most, payload) => Math.max(most, payload?.size ?? 0), 0);
  const align = Math.max(tagSize, payloadAlign);
  const offset = alignTo(tagSize, payloadAlign);
  const flat = flatOf(payloads);
  const payloadAt = (guest: Guest, index: number): Codec | null => {
    const payload = payloads[index];
    return payload === undefined ? guest.hooks.trap(`a discriminant of the guest is none: ${index}`) : payload;
  };
  return {
    size: alignTo(offset + payloadSize, align),
    align,
    flat,
    load(guest, at) {
      const { view } = guest;
      const index =
        tagSize === 1 ? view.getUint8(at) : tagSize === 2 ? view.getUint16(at, true) : view.getUint32(at, true);
      const payload = payloadAt(guest, index);
      return toJs(index, payload === null ? undefined : payload.load(guest, at + offset));
    },
    store(guest, value, at) {
      const index = indexOf(guest, value);
      if (tagSize === 1) guest.view.setUint8(at, index);
      else if (tagSize === 2) guest.view.setUint16(at, index, true);
      else guest.view.setUint32(at, index, true);
      payloads[index]?.store(guest, payloadOf(value), at + offset);
    },
    lift(guest, values, at) {
      const index = (values[at] as number) >>> 0;
      const payload = payloadAt(guest, index);
      if (payload === null) return toJs(index, undefined);
      const own = payload.flat!.map((type, place) => fromJoined(values[at + 1 + place]!, flat![1 + place]!, type));
      return toJs(index, payload.lift(guest, own, 0));
    },
    lower(guest, value, into, at) {
      const index = indexOf(guest, value);
      const payload = payloads[index] ?? null;
      const own: CoreValue[] = [];
      if (payload !== null) payload.lower(guest, payloadOf(value), own, 0);
      into[at] = index;
      for (let place = 1; place < flat!.length; place++) {
        const type = payload?.flat?.[place - 1];
        into[at + place] =
          type === undefined ? (flat![place] === "i64" ? 0n : 0) : toJoined(own[place - 1]!, type, flat![place]!);
      }
    },
  };
}

/** The discriminant, then what holds any of the payloads. */
function flatOf(payloads: readonly (Codec | null)[]): readonly CoreType[] | null {
  const joined: CoreType[] = ["i32"];
  for (const payload of payloads) {
    if (payload === null) continue;
    if (payload.flat === null || payload.flat.length >= MOST_FLAT) return null;
    payload.flat.forEach((type, place) => {
      const known = joined[1 + place];
      joined[1 + place] = known === undefined ? type : join(known, type);
    });
  }
  return joined;
}
