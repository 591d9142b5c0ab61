import { camelCase } from "./camel-case.ts";
import { type Place, ROOT, refuse } from "./conversion-error.ts";
import {
  type GivenArray,
  givenArray,
  isBytes,
  isNullable,
  isNumberKind,
  isWrappedInJson,
  type NumberKind,
  typedArray,
} from "./js-forms.ts";
import { Labels } from "./labels.ts";
import { checkBigint, checkChar, checkFloat, checkInteger, checkString, parseBigint } from "./scalars.ts";
import type { FuncType, WitList, WitRecord, WitType, WitVariant } from "./wit-type.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * The value that jco's glue takes, out of a JSON value: 64-bit integers from decimal strings or safe integers,
 * `list<u8>` from base64, an option from null, a flags from an array of names, records and variants by own properties.
 * A list of numbers may also be a typed array, whose numbers are copied: what happens to it later does not matter. Throws ConversionError. Work and depth are bounded by the value and by MAX_TYPE_DEPTH.
 */
export function jsonToWit(value: unknown, type: WitType): unknown {
  return convert(value, type, ROOT, new Labels());
}

/** The arguments of a function, in order, out of a JSON object with the WIT names of the parameters. */
export function jsonToArgs(value: unknown, type: FuncType): unknown[] {
  const params: WitRecord = { kind: "record", name: null, fields: type.params };
  return convertFields(value, params, ROOT, new Labels()).map(([, argument]) => argument);
}

function convert(value: unknown, type: WitType, place: Place, labels: Labels): unknown {
  switch (type.kind) {
    case "bool":
      return typeof value === "boolean" ? value : refuse(place, "is not a boolean");
    case "u8":
    case "s8":
    case "u16":
    case "s16":
    case "u32":
    case "s32":
      return checkInteger(value, type.kind, place);
    case "u64":
    case "s64":
      return parseBigint(value, type.kind, place);
    case "f32":
    case "f64":
      return checkFloat(value, type.kind, place);
    case "char":
      return checkChar(value, place);
    case "string":
      return checkString(value, place);
    case "list":
      return convertList(value, type, place, labels);
    case "record":
      // Each field becomes an own property, absent options too: the glue would read `constructor` off the prototype.
      return Object.fromEntries(
        convertFields(value, type, place, labels).map(([name, field]) => [camelCase(name), field]),
      );
    case "tuple": {
      const items = expectArray(value, place, type.elements.length);
      return type.elements.map((element, index) =>
        convert(items[index], element, { parent: place, step: index }, labels),
      );
    }
    case "variant":
      return convertCase(value, type, place, labels);
    case "enum":
      if (typeof value !== "string" || labels.find(type, value) === undefined)
        refuse(place, "is not a case of the enum");
      return value;
    case "flags": {
      const set = new Set(expectArray(value, place, null));
      for (const name of set) {
        if (typeof name !== "string" || labels.find(type, name) === undefined) refuse(place, "holds an unknown flag");
      }
      return Object.fromEntries(type.names.map((name) => [camelCase(name), set.has(name)]));
    }
    case "option":
      return convertOption(value, type, place, labels);
    case "result":
      return convertCase(value, resultCases(type), place, labels);
    default:
      return refuse(place, `has a type that JSON cannot carry (${type.kind})`);
  }
}

function convertList(value: unknown, type: WitList, place: Place, labels: Labels): unknown {
  const { element, length } = type;
  const given = isNumberKind(element.kind) ? givenArray(value) : null;
  if (given !== null) return convertGivenArray(given, element.kind as NumberKind, length, place);
  if (isBytes(type)) return decodeBase64(value, length, place);
  const items = expectArray(value, place, length).map((item, index) =>
    convert(item, element, { parent: place, step: index }, labels),
  );
  return isNumberKind(element.kind) ? typedArray(element.kind, items) : items;
}

function convertGivenArray(given: GivenArray, kind: NumberKind, length: number | null, place: Place): unknown {
  const items = given.copy();
  if (length !== null && items.length !== length) refuse(place, `has ${items.length} items instead of ${length}`);
  // Every integer of the same kind is in its bounds; a float may be NaN.
  if (given.kind === kind && !kind.startsWith("f")) return items;
  return typedArray(
    kind,
    Array.from(items, (item, index) => convertNumber(item, kind, { parent: place, step: index })),
  );
}

function convertNumber(item: number | bigint, kind: NumberKind, place: Place): number | bigint {
  if (kind === "f32" || kind === "f64") return checkFloat(item, kind, place);
  if (kind !== "u64" && kind !== "s64") return checkInteger(item, kind, place);
  return typeof item === "bigint" ? checkBigint(item, kind, place) : parseBigint(item, kind, place);
}

function decodeBase64(value: unknown, length: number | null, place: Place): Uint8Array {
  if (typeof value !== "string") refuse(place, "is neither a base64 string nor a typed array");
  const decoded = Buffer.from(value, "base64");
  // Buffer skips what is not base64; only the one way to write these bytes is accepted.
  if (decoded.toString("base64") !== value) refuse(place, "is not base64 with its padding");
  if (length !== null && decoded.length !== length) refuse(place, `has ${decoded.length} bytes instead of ${length}`);
  // A copy: small Buffers share one pool, which must not reach the glue or another thread.
  return new Uint8Array(decoded);
}

function convertFields(value: unknown, type: WitRecord, place: Place, labels: Labels): [string, unknown][] {
  const object = expectObject(value, place);
  for (const key of Object.keys(object)) {
    if (labels.find(type, key) === undefined) refuse({ parent: place, step: key }, "is not a field of the record");
  }
  return type.fields.map((field) => {
    const at = { parent: place, step: field.name };
    if (Object.hasOwn(object, field.name)) return [field.name, convert(object[field.name], field.type, at, labels)];
    if (field.type.kind !== "option") refuse(at, "is missing");
    return [field.name, convertOption(null, field.type, at, labels)];
  });
}

function convertCase(value: unknown, type: WitVariant, place: Place, labels: Labels): unknown {
  const object = expectObject(value, place);
  const tag = Object.hasOwn(object, "tag") ? object["tag"] : undefined;
  const payload = typeof tag === "string" ? labels.find(type, tag) : undefined;
  if (payload === undefined) refuse({ parent: place, step: "tag" }, "is not a case of the variant");
  expectKeys(object, payload === null ? ["tag"] : ["tag", "value"], place);
  // Own even when absent, so that nothing reads it off the prototype.
  if (payload === null) return { tag, val: undefined };
  const at = { parent: place, step: "value" };
  if (Object.hasOwn(object, "value")) return { tag, val: convert(object["value"], payload, at, labels) };
  if (payload.kind !== "option") refuse(at, "is missing");
  return { tag, val: convertOption(null, payload, at, labels) };
}

function convertOption(
  value: unknown,
  type: Extract<WitType, { kind: "option" }>,
  place: Place,
  labels: Labels,
): unknown {
  const nullable = isNullable(type);
  if (value === null) return nullable ? undefined : { tag: "none" };
  const some = isWrappedInJson(type)
    ? convert(unwrap(value, place), type.some, { parent: place, step: "some" }, labels)
    : convert(value, type.some, place, labels);
  return nullable ? some : { tag: "some", val: some };
}

function unwrap(value: unknown, place: Place): unknown {
  const object = expectObject(value, place);
  expectKeys(object, ["some"], place);
  if (!Object.hasOwn(object, "some")) refuse(place, "is neither null nor an object with `some`");
  return object["some"];
}

function resultCases(type: Extract<WitType, { kind: "result" }>): WitVariant {
  return {
    kind: "variant",
    name: null,
    cases: [
      { name: "ok", type: type.ok },
      { name: "err", type: type.err },
    ],
  };
}

function expectArray(value: unknown, place: Place, length: number | null): readonly unknown[] {
  if (!Array.isArray(value)) refuse(place, "is not an array");
  if (length !== null && value.length !== length) refuse(place, `has ${value.length} items instead of ${length}`);
  return value;
}

function expectObject(value: unknown, place: Place): JsonObject {
  if (typeof value !== "object" || value === null || Array.isArray(value)) refuse(place, "is not an object");
  return value as JsonObject;
}

function expectKeys(object: JsonObject, known: readonly string[], place: Place): void {
  for (const key of Object.keys(object)) {
    if (!known.includes(key)) refuse({ parent: place, step: key }, "is not a known property");
  }
}
