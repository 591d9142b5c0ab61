import { camelCase } from "./camel-case.ts";
import { type Place, ROOT, refuse } from "./conversion-error.ts";
import { givenArray, isBytes, isNullable, isWrappedInJson } from "./js-forms.ts";
import { Labels } from "./labels.ts";
import { checkListValues } from "./list-values.ts";
import { checkBigint, checkChar, checkFloat, checkInteger, checkString } from "./scalars.ts";
import type { WitList, WitRecord, WitType } from "./wit-type.ts";

/** A value that JSON.stringify writes as it is. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * The JSON value of what jco's glue gave, the reverse of jsonToWit: 64-bit integers as decimal strings, `list<u8>` as
 * base64, record keys, flags and cases by their WIT names. Throws ConversionError for what JSON cannot carry (NaN,
 * infinities, lone surrogates) and for what is not of the type.
 */
export function witToJson(value: unknown, type: WitType): Json {
  return convert(value, type, ROOT, new Labels());
}

/**
 * The JSON value of what a function gave: `result<T, E>` as a whole result counts as T. Throws a ConversionError for more than
 * MOST_LIST_VALUES in lists too.
 */
export function resultToJson(value: unknown, result: WitType | null): Json {
  checkListValues(value);
  const type = result?.kind === "result" ? result.ok : result;
  return type === null ? null : witToJson(value, type);
}

/** The JSON value of the payload that the glue throws for the error of a `result<T, E>`, bounded as a result is. */
export function failureToJson(payload: unknown, result: WitType | null): Json {
  checkListValues(payload);
  const type = result?.kind === "result" ? result.err : null;
  return type === null ? null : witToJson(payload, type);
}

function convert(value: unknown, type: WitType, place: Place, labels: Labels): Json {
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
      return String(checkBigint(value, type.kind, place));
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
      return convertRecord(value, type, place, labels);
    case "tuple": {
      const items = expectArray(value, place, type.elements.length);
      return type.elements.map((element, index) =>
        convert(items[index], element, { parent: place, step: index }, labels),
      );
    }
    case "variant": {
      const tag = tagOf(value, place);
      const payload = labels.find(type, tag);
      if (payload === undefined) refuse(place, "is not a case of the variant");
      return convertCase(value, tag, payload, place, labels);
    }
    case "enum":
      if (typeof value !== "string" || labels.find(type, value) === undefined)
        refuse(place, "is not a case of the enum");
      return value;
    case "flags": {
      const object = expectObject(value, place);
      return type.names.filter((name) => own(object, camelCase(name)) === true);
    }
    case "option":
      return convertOption(value, type, place, labels);
    case "result": {
      const tag = tagOf(value, place);
      if (tag !== "ok" && tag !== "err") refuse(place, "is neither ok nor err");
      return convertCase(value, tag, type[tag], place, labels);
    }
    default:
      return refuse(place, `has a type that JSON cannot carry (${type.kind})`);
  }
}

function convertList(value: unknown, type: WitList, place: Place, labels: Labels): Json {
  const { element, length } = type;
  const items = expectArray(value, place, length);
  if (isBytes(type)) {
    // Plain arrays are checked item by item; the array that jco lifts holds bytes already.
    if (!(items instanceof Uint8Array)) {
      items.forEach((item, index) => {
        checkInteger(item, "u8", { parent: place, step: index });
      });
    }
    return Buffer.from(items as ArrayLike<number>).toString("base64");
  }
  // Every integer of a typed array of the same kind is in its bounds.
  if (givenArray(items)?.kind === element.kind && element.kind !== "f32" && element.kind !== "f64") {
    const integers = Array.from(items as ArrayLike<number | bigint>);
    return element.kind === "u64" || element.kind === "s64" ? integers.map(String) : (integers as number[]);
  }
  return Array.from(items as ArrayLike<unknown>, (item, index) =>
    convert(item, element, { parent: place, step: index }, labels),
  );
}

function convertRecord(value: unknown, type: WitRecord, place: Place, labels: Labels): Json {
  const object = expectObject(value, place);
  return Object.fromEntries(
    type.fields.map((field) => {
      const at = { parent: place, step: field.name };
      return [field.name, convert(own(object, camelCase(field.name)), field.type, at, labels)];
    }),
  );
}

function convertCase(value: unknown, tag: string, payload: WitType | null, place: Place, labels: Labels): Json {
  if (payload === null) return { tag };
  const content = own(expectObject(value, place), "val");
  return { tag, value: convert(content, payload, { parent: place, step: "value" }, labels) };
}

function convertOption(value: unknown, type: Extract<WitType, { kind: "option" }>, place: Place, labels: Labels): Json {
  const some = isNullable(type) ? bareSome(value) : taggedSome(value, place);
  if (some === undefined) return null;
  if (!isWrappedInJson(type)) return convert(some.value, type.some, place, labels);
  return { some: convert(some.value, type.some, { parent: place, step: "some" }, labels) };
}

interface Some {
  readonly value: unknown;
}

function bareSome(value: unknown): Some | undefined {
  return value === undefined || value === null ? undefined : { value };
}

function taggedSome(value: unknown, place: Place): Some | undefined {
  const tag = tagOf(value, place);
  if (tag === "none") return undefined;
  if (tag !== "some") refuse(place, "is neither some nor none");
  return { value: own(expectObject(value, place), "val") };
}

function tagOf(value: unknown, place: Place): string {
  const tag = own(expectObject(value, place), "tag");
  return typeof tag === "string" ? tag : refuse(place, "has no tag");
}

function own(object: object, key: string): unknown {
  return Object.hasOwn(object, key) ? (object as Record<string, unknown>)[key] : undefined;
}

function expectArray(value: unknown, place: Place, length: number | null): readonly unknown[] {
  const isList = Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
  if (!isList) refuse(place, "is not a list");
  const items = value as readonly unknown[];
  if (length !== null && items.length !== length) refuse(place, `has ${items.length} items instead of ${length}`);
  return items;
}

function expectObject(value: unknown, place: Place): object {
  return typeof value === "object" && value !== null ? value : refuse(place, "is not an object");
}
