import fc from "fast-check";
import type { Json, PrimitiveKind, WitType } from "./component.ts";

/** Random plain WIT types and the JSON values that are written the one canonical way. For tests only. */

const SCALARS: readonly PrimitiveKind[] = [
  "bool",
  "u8",
  "s8",
  "u16",
  "s16",
  "u32",
  "s32",
  "u64",
  "s64",
  "f32",
  "f64",
  "char",
  "string",
];

const label = fc.constantFrom(
  "a",
  "x-pos",
  "parse-URL",
  "to-string",
  "constructor",
  "then",
  "b2-c3",
  "value-of",
  "class",
);
const labels = fc.uniqueArray(label, { minLength: 1, maxLength: 5 });
const scalar: fc.Arbitrary<WitType> = fc.constantFrom(...SCALARS).map((kind) => ({ kind }));

/** A plain type, at most four deep. */
export const anyType: fc.Arbitrary<WitType> = fc.letrec<{ type: WitType }>((tie) => ({
  type: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    scalar,
    fc
      .tuple(tie("type"), fc.option(fc.integer({ min: 1, max: 3 })))
      .map(([element, length]): WitType => ({ kind: "list", element, length })),
    fc.tuple(labels, fc.array(tie("type"), { minLength: 5, maxLength: 5 })).map(
      ([names, types]): WitType => ({
        kind: "record",
        name: null,
        fields: names.map((name, index) => ({ name, type: types[index]! })),
      }),
    ),
    fc.tuple(labels, fc.array(fc.option(tie("type")), { minLength: 5, maxLength: 5 })).map(
      ([names, types]): WitType => ({
        kind: "variant",
        name: null,
        cases: names.map((name, index) => ({ name, type: types[index]! })),
      }),
    ),
    fc.tuple(fc.constantFrom("enum", "flags"), labels).map(([kind, names]): WitType => ({ kind, name: null, names })),
    fc.array(tie("type"), { minLength: 1, maxLength: 4 }).map((elements): WitType => ({ kind: "tuple", elements })),
    tie("type").map((some): WitType => ({ kind: "option", some })),
    fc.tuple(fc.option(tie("type")), fc.option(tie("type"))).map(([ok, err]): WitType => ({ kind: "result", ok, err })),
  ),
})).type;

/** A JSON value of a type. No string begins with a byte order mark: the glue's own decoder drops it. */
export function anyJsonOf(type: WitType): fc.Arbitrary<Json> {
  switch (type.kind) {
    case "bool":
      return fc.boolean();
    case "u8":
      return fc.nat(0xff);
    case "s8":
      return fc.integer({ min: -0x80, max: 0x7f });
    case "u16":
      return fc.nat(0xffff);
    case "s16":
      return fc.integer({ min: -0x8000, max: 0x7fff });
    case "u32":
      return fc.nat(0xffff_ffff);
    case "s32":
      return fc.integer();
    case "u64":
      return fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String);
    case "s64":
      return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
    case "f32":
      return fc.float({ noNaN: true, noDefaultInfinity: true });
    case "f64":
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case "char":
      return fc.string({ unit: "binary", minLength: 1, maxLength: 1 }).filter((char) => char !== "\ufeff");
    case "string":
      return fc.string({ unit: "binary" }).filter((text) => !text.startsWith("\ufeff"));
    case "list": {
      const bounds = type.length === null ? { maxLength: 4 } : { minLength: type.length, maxLength: type.length };
      if (type.element.kind !== "u8") return fc.array(anyJsonOf(type.element), bounds);
      return fc.uint8Array(bounds).map((bytes) => Buffer.from(bytes).toString("base64"));
    }
    case "record":
      return fc
        .tuple(...type.fields.map((field) => anyJsonOf(field.type)))
        .map((values) => Object.fromEntries(type.fields.map((field, index) => [field.name, values[index]!])));
    case "variant":
      return fc.oneof(...type.cases.map((each) => anyCase(each.name, each.type)));
    case "enum":
      return fc.constantFrom(...type.names);
    case "flags":
      return fc.subarray([...type.names]);
    case "tuple":
      return fc.tuple(...type.elements.map(anyJsonOf));
    case "option": {
      const some = anyJsonOf(type.some);
      return fc.option(type.some.kind === "option" ? some.map((value): Json => ({ some: value })) : some);
    }
    case "result":
      return fc.oneof(anyCase("ok", type.ok), anyCase("err", type.err));
    default:
      throw new Error(`Unreachable: ${type.kind} is not plain`);
  }
}

function anyCase(tag: string, type: WitType | null): fc.Arbitrary<Json> {
  return type === null ? fc.constant({ tag }) : anyJsonOf(type).map((value) => ({ tag, value }));
}
