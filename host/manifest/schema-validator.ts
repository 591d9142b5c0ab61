import type { ErrorObject } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { HostError, messageOf, quote } from "../errors/errors.ts";
import { fieldPath, wanted } from "./schema-text.ts";
import type { JsonSchema } from "./shape.ts";

/** Null when the value fits, otherwise one line of at most 200 characters: the path in the value and what is wanted. */
export type ValueCheck = (value: unknown) => string | null;

/** The schemas of one package, compiled. */
export interface SchemaValidator {
  /** Throws AIRLOCK_ADMISSION_INVALID_SCHEMA when the schema does not compile. */
  compile(schema: JsonSchema): ValueCheck;
}

const MAX_TEXT = 200;

/**
 * One Ajv for the schemas of one package, which must have passed `checkPackageSchema`. Compiling makes code from hostile
 * input and checking a value can take exponential time (a pattern, nested `anyOf`): call both only where they can be
 * ended, in a worker thread under the run's deadline or in a throw-away process. Formats are not asserted.
 */
export function createSchemaValidator(): SchemaValidator {
  const ajv = new Ajv2020({
    strict: false,
    logger: false,
    validateFormats: false,
    validateSchema: false,
    // Without it `required` would be met by what a value inherits, such as "constructor".
    ownProperties: true,
    // Inlining lets a chain of references that double each other grow the code exponentially.
    inlineRefs: false,
    allErrors: false,
  });
  let compiled = 0;
  return {
    compile(schema) {
      try {
        const validate = ajv.compile(withOwnId(schema, compiled++));
        return (value) => check(validate, value);
      } catch (error) {
        throw new HostError(
          "AIRLOCK_ADMISSION_INVALID_SCHEMA",
          `A schema does not compile: ${quote(messageOf(error), MAX_TEXT).slice(1, -1)}`,
          { cause: error },
        );
      }
    },
  };
}

/**
 * An id of the package could take the place of another schema, the meta-schema included, so it is replaced by one that no
 * other has. Only `#…` references exist, and those do not care.
 */
function withOwnId(schema: JsonSchema, number: number): object | boolean {
  return typeof schema === "boolean" ? schema : { ...schema, $id: `https://schema.invalid/${number}` };
}

function check(
  validate: ((value: unknown) => unknown) & { errors?: null | ErrorObject[] },
  value: unknown,
): string | null {
  try {
    if (validate(value) === true) return null;
  } catch (error) {
    return clipped(`the value cannot be checked: ${quote(messageOf(error)).slice(1, -1)}`);
  }
  const error = mostTelling(validate.errors ?? []);
  if (error === undefined) return "the value does not fit its schema";
  const path = fieldPath(error.instancePath);
  return clipped(`${path === "" ? "the value" : tail(path)}: ${wanted(error)}`);
}

/** The error deepest in the value when alternatives were tried, for it says why the likeliest of them did not fit. */
function mostTelling(errors: readonly ErrorObject[]): ErrorObject | undefined {
  let best = errors.at(-1);
  for (const error of errors) {
    if (best !== undefined && error.instancePath.split("/").length > best.instancePath.split("/").length) best = error;
  }
  return best;
}

function tail(path: string): string {
  return path.length > 80 ? `…${path.slice(-80)}` : path;
}

function clipped(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT - 1)}…` : text;
}
