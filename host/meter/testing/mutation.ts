import fc from "fast-check";

/** A change of some bytes; `at` is taken modulo what there is to change. */
export interface Mutation {
  readonly kind: "set" | "insert" | "remove" | "repeat" | "cut" | "stretch";
  readonly at: number;
  readonly byte: number;
}

const at = fc.noBias(fc.nat(2 ** 30));
const byte = fc.noBias(fc.nat(255));
const kinds = fc.oneof(
  { weight: 12, arbitrary: fc.constant("set" as const) },
  { weight: 1, arbitrary: fc.constantFrom("insert" as const, "remove" as const, "repeat" as const, "cut" as const) },
  { weight: 1, arbitrary: fc.constant("stretch" as const) },
);

/** One to three bytes set to others: lengths stay right, so that about a tenth of the modules stays valid. */
export const byteChanges: fc.Arbitrary<readonly Mutation[]> = fc.array(
  fc.record({ kind: fc.constant("set" as const), at, byte }),
  { minLength: 1, maxLength: 3, size: "max" },
);

/** Those, and sometimes bytes that come or go as well. */
export const mutations: fc.Arbitrary<readonly Mutation[]> = fc.array(fc.record({ kind: kinds, at, byte }), {
  minLength: 1,
  maxLength: 4,
  size: "max",
});

/** A copy of `bytes` with the changes made one after another. */
export function mutate(bytes: Uint8Array, changes: readonly Mutation[]): Uint8Array {
  const changed = Array.from(bytes);
  for (const { kind, at, byte } of changes) {
    const place = at % Math.max(1, changed.length);
    switch (kind) {
      case "set":
        changed[place] = byte;
        break;
      case "insert":
        changed.splice(place, 0, byte);
        break;
      case "remove":
        changed.splice(place, 1);
        break;
      case "repeat":
        changed.splice(place, 0, ...changed.slice(place, place + byte));
        break;
      case "stretch":
        // Were it the last byte of a number, that is the same number in one byte more.
        changed.splice(place, 1, changed[place]! | 0x80, 0);
        break;
      case "cut":
        changed.splice(changed.length - (byte % 32));
        break;
    }
  }
  return Uint8Array.from(changed);
}
