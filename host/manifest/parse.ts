import type { ErrorObject, ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import semver from "semver";
import { HostError, quote } from "../errors/errors.ts";
import { deepFreeze } from "./freeze.ts";
import { MAX_JSON_DEPTH, parseJsonText } from "./json-text.ts";
import { checkLimits, type Limits } from "./limits.ts";
import { BUILT_FIELDS, MANIFEST_SCHEMA, WASM_FIELDS } from "./manifest-schema.ts";
import { grantPathProblem, packagePathProblem } from "./package-path.ts";
import { brief, fieldPath, knownNames, wanted } from "./schema-text.ts";
import type { Manifest, NativeManifest, SourceManifest } from "./shape.ts";

/** A manifest's text may be this long; a longer one is no manifest. */
export const MAX_MANIFEST_BYTES = 1024 * 1024;

// A hostile manifest can have a problem in each of its bytes; nobody reads more than these.
const MAX_PROBLEMS = 50;

/** Of a semver range, which takes seconds to read when it is a megabyte; the schema says the same. */
const MAX_RANGE_LENGTH = 256;

type Form = "built" | "source" | "native";

/**
 * The manifest of a built package. `where` names the text in messages, usually its path. Throws
 * AIRLOCK_MANIFEST_INVALID: the message is the first problem, `details.problems` is all of them, one line each; and
 * AIRLOCK_MANIFEST_ARTIFACT_TYPE for that of a native capability.
 */
export function parseManifest(text: string, where: string): Manifest {
  return parse(text, where, "built") as Manifest;
}

/** The manifest that an author writes, without what the build fills in. Throws as `parseManifest` does. */
export function parseSourceManifest(text: string, where: string): SourceManifest {
  return parse(text, where, "source") as SourceManifest;
}

/** The manifest of a capability that is a function. Throws as `parseManifest` does, here for that of a Wasm capability. */
export function parseNativeManifest(text: string, where: string): NativeManifest {
  return parse(text, where, "native") as NativeManifest;
}

function parse(text: string, where: string, form: Form): SourceManifest | NativeManifest {
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_MANIFEST_BYTES) {
    throw refusal(where, [`it is ${bytes} bytes long: at most ${MAX_MANIFEST_BYTES} are wanted`]);
  }
  const json = parseJsonText(text, { maxDepth: MAX_JSON_DEPTH });
  if (json.kind !== "value") throw refusal(where, [`it ${json.text}`]);
  checkArtifactType(json.value, where, form);
  const problems = problemsOf(json.value, form);
  if (problems.length > 0) throw refusal(where, problems);
  return resolved(json.value as Record<string, unknown>, form);
}

/** First of all: what else is wrong depends on what it is. */
function checkArtifactType(value: unknown, where: string, form: Form): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return;
  const { artifactType = "wasm" } = value as { readonly artifactType?: unknown };
  const wanted = form === "native" ? "native" : "wasm";
  if (artifactType === wanted || (artifactType !== "wasm" && artifactType !== "native")) return;
  throw new HostError(
    "AIRLOCK_MANIFEST_ARTIFACT_TYPE",
    `Manifest ${quote(where)} is refused: artifactType is "${artifactType}", "${wanted}" is wanted here; ${ELSEWHERE[artifactType]}`,
    { details: { where, artifactType, wanted } },
  );
}

const ELSEWHERE = {
  native:
    "a native capability is a function of an application, which installs it: host.providers.nativeExecutor({ capacity }).install(manifest, call)",
  wasm: "a Wasm capability is installed with host.install(package), and none of its requests reaches a function",
};

function refusal(where: string, problems: readonly string[]): HostError {
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  return new HostError("AIRLOCK_MANIFEST_INVALID", `Manifest ${quote(where)} is refused: ${problems[0]}${more}`, {
    details: { where, problems: problems.slice(0, MAX_PROBLEMS) },
  });
}

function problemsOf(value: unknown, form: Form): readonly string[] {
  const validate = validatorOf(form);
  const problems: string[] = [];
  if (!validate(value)) {
    for (const error of (validate.errors ?? []).slice(0, MAX_PROBLEMS)) {
      const line = problemOf(error, form);
      if (line !== null) problems.push(line);
    }
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return problems;
  const fields = value as Record<string, unknown>;
  if (form === "source" && fields["profile"] === "core" && Object.hasOwn(fields, "component")) {
    problems.unshift(
      'profile is "core" and component is named: a core module is not built, its folder is a package already',
    );
  }
  if (Object.hasOwn(fields, "limits")) problems.push(...checkLimits(fields["limits"], "limits").problems);
  if (form === "native" && Array.isArray(fields["operations"]) && fields["operations"].length === 0) {
    problems.push("operations is empty: at least one is wanted, nothing else says what the function takes and gives");
  }
  problems.push(...eventProblems(fields), ...duplicates(fields["operations"], "operations", ["name"]));
  const { invoke, connectors } = (fields["grants"] ?? {}) as {
    readonly invoke?: unknown;
    readonly connectors?: unknown;
  };
  problems.push(...duplicates(invoke, "grants.invoke", ["id"]));
  problems.push(...duplicates(connectors, "grants.connectors", ["id"]));
  return [...new Set(problems)];
}

function problemOf(error: ErrorObject, form: Form): string | null {
  const field = fieldPath(error.instancePath);
  // Limits have their own words, which the host's options and requests use too.
  if (field === "limits" || field.startsWith("limits.")) return null;
  const prefix = field === "" ? "" : `${field} `;
  switch (error.keyword) {
    case "additionalProperties": {
      const name = String(error.params["additionalProperty"]);
      const known = Object.keys((error.parentSchema?.["properties"] as object | undefined) ?? {});
      if (form === "source" && field === "" && (BUILT_FIELDS as readonly string[]).includes(name)) {
        return `${name} is in a source manifest: the build fills it in, remove it`;
      }
      if (form === "native" && field === "" && (WASM_FIELDS as readonly string[]).includes(name)) {
        return `${name} is in the manifest of a native capability: only Wasm has it, remove it`;
      }
      return `${field === "" ? "it" : field} has the unknown field ${quote(name, 60)}: ${knownNames(name, known)}`;
    }
    case "required": {
      const name = String(error.params["missingProperty"]);
      const path = field === "" ? name : `${field}.${name}`;
      const built = field === "" && (BUILT_FIELDS as readonly string[]).includes(name);
      return `${path} is missing: ${built ? BUILD_HINT : wantedField(error, name)}`;
    }
    case "format":
      return `${prefix}is ${brief(error.data)}: ${wantedFormat(String(error.params["format"]), error.data)}`;
    case "pattern":
      return `${prefix}is ${brief(error.data)}: ${PATTERNS[lastName(field)] ?? wanted(error)}`;
    default:
      return `${prefix === "" ? "it " : prefix}is ${brief(error.data)}: ${wanted(error)}`;
  }
}

const BUILD_HINT = "the build fills it in, install the folder that `airlock build` wrote";

const PATTERNS: Readonly<Record<string, string>> = {
  id: "lower-case words with dots between them are wanted, such as acme.csv-profile",
  version: "an exact semantic version is wanted, such as 1.2.0",
  sha256: "64 lower-case hex digits are wanted",
  imports:
    "an interface with its version is wanted, such as acme:crm/lookup@1.0.0, or for profile core a function, such as traverse_host/emit_event",
  type: "lower-case words with - . or _ between them are wanted, such as ragged-row",
  name: "a letter and then letters, digits, or - . _ : / @ # are wanted",
};

/** The name that a field goes by: `imports.3` is one of `imports`. */
function lastName(field: string): string {
  return (
    field
      .split(".")
      .filter((part) => !/^\d+$/.test(part))
      .at(-1) ?? ""
  );
}

function wantedField(error: ErrorObject, name: string): string {
  const properties = error.parentSchema?.["properties"] as Record<string, { description?: string }> | undefined;
  const description = properties?.[name]?.description;
  return description === undefined ? "it is wanted" : description.replace(/\.$/, "");
}

function wantedFormat(format: string, data: unknown): string {
  switch (format) {
    case "package-path":
      return packagePathProblem(String(data)) ?? "a path inside the package is wanted";
    case "grant-path":
      return grantPathProblem(String(data)) ?? "a path is wanted";
    case "semver-range":
      return "a semver range is wanted, such as ^1.0.0";
    default:
      return "an exact semantic version is wanted, such as 1.2.0";
  }
}

function eventProblems(fields: Record<string, unknown>): readonly string[] {
  const emits = fields["emits"];
  const problems = duplicates(emits, "emits", ["type", "version"]);
  if (!Array.isArray(emits) || emits.length === 0) return problems;
  const serviceType = fields["serviceType"] ?? "stateless";
  if (serviceType !== "stateless" && serviceType !== "stateful") return problems;
  return [
    ...problems,
    `emits lists ${emits.length} ${emits.length === 1 ? "event" : "events"} but serviceType is ${quote(serviceType)}: ` +
      '"subscribable" is wanted, or no emits',
  ];
}

/** Entries of a list that agree in all `keys`, which together are what the entry is known by. */
function duplicates(entries: unknown, field: string, keys: readonly string[]): readonly string[] {
  if (!Array.isArray(entries)) return [];
  const seen = new Map<string, number>();
  const problems: string[] = [];
  for (const [index, entry] of entries.entries()) {
    if (typeof entry !== "object" || entry === null) continue;
    const values = keys.map((key) => (entry as Record<string, unknown>)[key]);
    if (!values.every((value) => typeof value === "string")) continue;
    const identity = values.join("@");
    const first = seen.get(identity);
    if (first === undefined) seen.set(identity, index);
    else problems.push(`${field}.${index} is ${quote(identity)} again: ${field}.${first} has it already`);
    if (problems.length >= MAX_PROBLEMS) break;
  }
  return problems;
}

function resolved(fields: Record<string, unknown>, form: Form): SourceManifest | NativeManifest {
  const { $schema: _, ...rest } = fields;
  const limits = checkLimits(rest["limits"] ?? {}, "limits").limits as Partial<Limits>;
  const common = { serviceType: "stateless", emits: [], operations: [] };
  const ofWasm = { artifactType: "wasm", profile: "component", hostAbi: "1.0.0", grants: {} };
  const manifest = {
    ...common,
    ...(form === "native" ? {} : ofWasm),
    ...(form === "built" ? { imports: [] } : {}),
    ...rest,
    limits,
  };
  return deepFreeze(manifest) as unknown as SourceManifest | NativeManifest;
}

// Compiled on first use: a worker thread loads this room for its limits and schemas and parses no manifest.
const validators = new Map<Form, ValidateFunction>();

function validatorOf(form: Form): ValidateFunction {
  const known = validators.get(form);
  if (known !== undefined) return known;
  const ajv = new Ajv2020({ allErrors: true, verbose: true, strict: true, allowUnionTypes: true, ownProperties: true });
  ajv.addFormat("semver", (text) => semver.valid(text) === text);
  // All errors are looked for, so a format is asked even about a text whose length was refused.
  ajv.addFormat("semver-range", (text) => text.length > MAX_RANGE_LENGTH || semver.validRange(text) !== null);
  ajv.addFormat("package-path", (text) => packagePathProblem(text) === null);
  ajv.addFormat("grant-path", (text) => grantPathProblem(text) === null);
  const validate = ajv.compile(SCHEMAS[form]());
  validators.set(form, validate);
  return validate;
}

const SCHEMAS: Readonly<Record<Form, () => object>> = {
  built: () => MANIFEST_SCHEMA,
  source: () => schemaWithout(BUILT_FIELDS, []),
  native: () => schemaWithout(WASM_FIELDS, ["operations"]),
};

function schemaWithout(fields: readonly string[], alsoRequired: readonly string[]): object {
  const properties = Object.entries(MANIFEST_SCHEMA.properties).filter(([name]) => !fields.includes(name));
  return {
    ...MANIFEST_SCHEMA,
    required: [...MANIFEST_SCHEMA.required.filter((name) => !fields.includes(name)), ...alsoRequired],
    properties: Object.fromEntries(properties),
  };
}
