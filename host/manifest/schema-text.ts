import type { ErrorObject } from "ajv";
import { nearest, quote } from "../errors/errors.ts";

/** What an Ajv error asks for, as the end of the sentence "... is wanted" or a whole clause. Values are not shown. */
export function wanted(error: ErrorObject): string {
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case "type":
      return `${alternatives(params["type"])} is wanted`;
    case "enum":
      return `one of ${list(params["allowedValues"])} is wanted`;
    case "const":
      return `${brief(params["allowedValue"])} is wanted`;
    case "required":
      return `the field ${quote(String(params["missingProperty"]), 60)} is missing`;
    case "additionalProperties":
    case "unevaluatedProperties": {
      const name = params["additionalProperty"] ?? params["unevaluatedProperty"];
      return `the field ${quote(String(name), 60)} is not known here`;
    }
    case "minLength":
      return `a string of at least ${params["limit"]} characters is wanted`;
    case "maxLength":
      return `a string of at most ${params["limit"]} characters is wanted`;
    case "minItems":
      return `at least ${params["limit"]} items are wanted`;
    case "maxItems":
      return `at most ${params["limit"]} items are wanted`;
    case "minProperties":
      return `at least ${params["limit"]} fields are wanted`;
    case "maxProperties":
      return `at most ${params["limit"]} fields are wanted`;
    case "uniqueItems":
      return `items ${params["j"]} and ${params["i"]} are equal, different ones are wanted`;
    case "minimum":
    case "maximum":
    case "exclusiveMinimum":
    case "exclusiveMaximum":
      return `a number ${params["comparison"]} ${params["limit"]} is wanted`;
    case "multipleOf":
      return `a multiple of ${params["multipleOf"]} is wanted`;
    case "pattern":
      return `a string that matches ${quote(String(params["pattern"]), 80)} is wanted`;
    case "anyOf":
      return "none of the allowed forms fits";
    case "oneOf":
      return "exactly one of the allowed forms is wanted";
    case "not":
      return "a value of the excluded form is not allowed";
    case "false schema":
      return "no value is allowed here";
    default:
      return quote(error.message ?? `it breaks ${error.keyword}`, 100).slice(1, -1);
  }
}

/** `/operations/0/name` as `operations.0.name`; a part with other characters is quoted. */
export function fieldPath(pointer: string): string {
  const parts = pointer.split("/").slice(1);
  return parts
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((part) => (/^[A-Za-z0-9_$-]+$/.test(part) ? part : quote(part, 60)))
    .join(".");
}

/** The hint that follows an unknown name: the nearest known one, or all of them. */
export function knownNames(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  return near === undefined ? `known are ${known.join(", ")}` : `did you mean ${quote(near)}?`;
}

/** A JSON value short enough for one line. */
export function brief(value: unknown, maxLength = 80): string {
  if (typeof value === "string") return quote(value, maxLength);
  if (typeof value === "object" && value !== null) {
    if (Array.isArray(value)) return value.length === 0 ? "an empty array" : `an array of ${value.length}`;
    return "an object";
  }
  return String(value);
}

const ARTICLES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  object: "an object",
  array: "an array",
  null: "null",
};

function alternatives(type: unknown): string {
  const names = Array.isArray(type) ? type.map(String) : String(type).split(",");
  return names.map((name) => ARTICLES[name] ?? name).join(" or ");
}

function list(values: unknown): string {
  if (!Array.isArray(values)) return "the allowed values";
  const shown = values.slice(0, 8).map((value) => brief(value, 30));
  return values.length > 8 ? `${shown.join(", ")}, …` : shown.join(", ");
}
