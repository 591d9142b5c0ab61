import { Ajv2020 } from "ajv/dist/2020.js";
import { messageOf, quote } from "../errors/errors.ts";
import { jsonDepth } from "./json-text.ts";
import { brief, fieldPath, wanted } from "./schema-text.ts";
import { bounded, isObject, SchemaWalk } from "./schema-walk.ts";
import type { Manifest } from "./shape.ts";

const MAX_SCHEMA_BYTES = 64 * 1024;
const MAX_SCHEMA_DEPTH = 32;

/**
 * What makes `schema` unacceptable as a package's schema, one line each; `where` names it. Static: no part of the
 * schema is compiled or run, so this is safe in the main thread. Refused: more than 64 KiB or 32 levels, another
 * dialect than draft 2020-12, remote or dynamic references, `$data`, `$id` below the root, references that never
 * descend, patterns with backreferences or lookaround, unknown keywords (`x-` ones pass) and unknown formats.
 */
export function checkPackageSchema(schema: unknown, where: string): readonly string[] {
  let text: string | undefined;
  try {
    text = JSON.stringify(schema);
  } catch (error) {
    return [`${where} is not JSON: ${messageOf(error)}`];
  }
  if (text === undefined || (typeof schema !== "boolean" && !isObject(schema))) {
    return [`${where} is ${brief(schema)}: a JSON Schema, so an object or a boolean, is wanted`];
  }
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_SCHEMA_BYTES) return [`${where} is ${bytes} bytes long: at most ${MAX_SCHEMA_BYTES} are wanted`];
  if (jsonDepth(text, MAX_SCHEMA_DEPTH) > MAX_SCHEMA_DEPTH) {
    return [`${where} nests deeper than ${MAX_SCHEMA_DEPTH} levels`];
  }
  const walk = new SchemaWalk(where);
  walk.visit(schema, "");
  walk.resolveReferences();
  if (walk.problems.length > 0) return walk.problems;
  return metaProblems(schema, where);
}

/** What makes any schema of a manifest unacceptable, in order of the manifest; ids that clash included. */
export function checkPackageSchemas(manifest: Pick<Manifest, "operations" | "emits">): readonly string[] {
  const named: { readonly where: string; readonly schema: unknown }[] = [];
  for (const [index, { input, output }] of manifest.operations.entries()) {
    named.push({ where: `operations.${index}.input`, schema: input });
    named.push({ where: `operations.${index}.output`, schema: output });
  }
  for (const [index, { schema }] of manifest.emits.entries()) {
    if (schema !== undefined) named.push({ where: `emits.${index}.schema`, schema });
  }
  const problems: string[] = [];
  const ids = new Map<string, string>();
  for (const { where, schema } of named) {
    problems.push(...checkPackageSchema(schema, where));
    const id = isObject(schema) && Object.hasOwn(schema, "$id") ? schema["$id"] : undefined;
    if (typeof id !== "string") continue;
    const first = ids.get(id);
    if (first === undefined) ids.set(id, where);
    else problems.push(`${where}.$id is ${quote(id)}: ${first} has it already`);
  }
  return problems;
}

// Compiled on first use, once: it takes some 20 ms and holds nothing of a package.
let metaSchema: Ajv2020 | undefined;

/** Whether each keyword has a value of its form, by the dialect's own meta-schema, which is fixed and runs no pattern of the package. */
function metaProblems(schema: unknown, where: string): readonly string[] {
  metaSchema ??= new Ajv2020({ strict: false, validateFormats: false, logger: false });
  const ajv = metaSchema;
  if (ajv.validateSchema(schema as object | boolean) === true) return [];
  const errors = ajv.errors ?? [];
  const error = errors.find(({ keyword }) => keyword !== "anyOf") ?? errors[0];
  if (error === undefined) return [`${where} is not a JSON Schema`];
  const path = fieldPath(error.instancePath);
  return [`${bounded(path === "" ? where : `${where}.${path}`)} is not right: ${wanted(error)}`];
}
