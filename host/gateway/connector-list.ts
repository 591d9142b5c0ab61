import { HostError, quote } from "../errors/errors.ts";
import { brief, createSchemaValidator, knownNames, parseJsonText } from "../manifest/manifest.ts";
import type { BindOptions } from "./connectors.ts";

/** A connector as a list names it, and how it is bound. */
export interface ListedConnector extends BindOptions {
  readonly kind: (typeof CONNECTOR_KINDS)[number];
  /** Those of the connector's maker. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Of the kind `module`: a file of JavaScript, as the list has it, and the name under which it exports the connector. */
  readonly module?: string;
  readonly export?: string;
}

/** Connectors, as a file names them. Fits `CONNECTOR_LIST_SCHEMA`. */
export interface ConnectorList {
  readonly connectors: readonly ListedConnector[];
  /** The directory of the durable state, as the list has it; null where it names none. */
  readonly store: string | null;
}

export const CONNECTOR_KINDS = ["http", "kv-store", "object-store", "env", "scheduler", "module"] as const;

/** Kinds whose state outlives the process. */
export const STORED_KINDS: readonly ListedConnector["kind"][] = ["kv-store", "scheduler"];

const MOST_ENTRIES = 256;

/** The schema of a file of connectors. `.ci/generate.ts` writes it as `connectors.schema.json`, which the package exports. */
export const CONNECTOR_LIST_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Airlock connectors",
  type: "object",
  additionalProperties: false,
  required: ["connectors"],
  properties: {
    $schema: { description: "Where an editor finds this schema.", type: "string" },
    store: {
      description:
        "Directory of what kv-store and scheduler keep, from the folder of this file. Made where it is missing.",
      type: "string",
      minLength: 1,
      maxLength: 1_024,
    },
    connectors: {
      description: "What capabilities that declare it can call.",
      type: "array",
      maxItems: MOST_ENTRIES,
      items: {
        type: "object",
        additionalProperties: false,
        required: ["kind"],
        properties: {
          kind: {
            description: "Which connector: one of the host's own, or one of a module of yours.",
            enum: CONNECTOR_KINDS,
          },
          options: {
            description:
              "What the function that makes it takes, such as { hosts } of http. A host of http may have headersEnv: names of headers, each with the environment variable of its value.",
            type: "object",
          },
          module: {
            description: "A file of JavaScript, from the folder of this file.",
            type: "string",
            minLength: 1,
            maxLength: 1_024,
          },
          export: {
            description:
              "The name under which the module exports the connector, or a function that takes the options and gives it.",
            type: "string",
            minLength: 1,
            maxLength: 128,
            default: "connector",
          },
          capabilities: {
            description: "Ids of the capabilities that get it. Left out: all that declare it.",
            type: "array",
            maxItems: 1_024,
            items: { type: "string", minLength: 1, maxLength: 128 },
          },
          requestBytes: { description: "Bytes of a request as JSON text. Default 65,536.", type: "integer" },
          responseBytes: { description: "Bytes of a response as JSON text. Default 65,536.", type: "integer" },
        },
      },
    },
  },
} as const;

/**
 * Reads the text of a list of connectors; makes none. `where` names the text in messages, which show nothing of options. Throws
 * AIRLOCK_GATEWAY_FILE_INVALID.
 */
export function parseConnectorList(text: string, where: string): ConnectorList {
  const json = parseJsonText(text.replace(/^\ufeff/, ""));
  if (json.kind !== "value")
    throw listRefusal(where, json.kind === "not-json" ? notJson(json.text) : `it ${json.text}`);
  const problem = wordProblem(json.value) ?? createSchemaValidator().compile(CONNECTOR_LIST_SCHEMA)(json.value);
  if (problem !== null) throw listRefusal(where, problem);
  const { connectors, store = null } = json.value as {
    connectors: readonly Partial<ListedConnector>[];
    store?: string;
  };
  const listed = connectors.map((each) => ({ options: {}, ...each }) as ListedConnector);
  for (const [index, { kind, module, export: name }] of listed.entries()) {
    const path = `connectors.${index}`;
    if (kind === "module" && module === undefined)
      throw listRefusal(where, `${path}.module is missing: a file of JavaScript is wanted`);
    if (kind !== "module" && (module ?? name) !== undefined)
      throw listRefusal(where, `${path} has module or export: its kind is ${quote(kind)}, which is the host's own`);
    if (STORED_KINDS.includes(kind) && store === null)
      throw listRefusal(where, `store is missing: a directory is wanted, since ${path} is of the kind ${quote(kind)}`);
  }
  return { connectors: listed, store };
}

/** Of the engine's words those that show no more than a character of the text, which may be a secret that has no place in it. */
function notJson(text: string): string {
  const said = /Unexpected end of JSON input|Unexpected token '.'|line \d+, column \d+/u.exec(text)?.[0];
  return said === undefined ? "it is not JSON" : `it is not JSON: ${said}`;
}

/** The first name or kind that is not known, with the nearest that is; the schema alone says only that it is wrong. */
function wordProblem(value: unknown): string | null {
  const { properties } = CONNECTOR_LIST_SCHEMA;
  const unknown = unknownField(value, "the file", properties);
  if (unknown !== null || !isRecord(value) || !Array.isArray(value["connectors"])) return unknown;
  for (const [index, each] of value["connectors"].slice(0, MOST_ENTRIES).entries()) {
    const path = `connectors.${index}`;
    const problem = unknownField(each, path, properties.connectors.items.properties) ?? kindProblem(each, path);
    if (problem !== null) return problem;
  }
  return null;
}

function unknownField(value: unknown, where: string, fields: Readonly<Record<string, unknown>>): string | null {
  const name = isRecord(value) ? Object.keys(value).find((each) => !Object.hasOwn(fields, each)) : undefined;
  if (name === undefined) return null;
  return `${where} has the unknown field ${quote(name, 60)}: ${knownNames(name, Object.keys(fields))}`;
}

function kindProblem(value: unknown, path: string): string | null {
  const kind = isRecord(value) ? value["kind"] : "";
  if (kind === undefined) return `${path}.kind is missing: one of ${CONNECTOR_KINDS.join(", ")} is wanted`;
  if (typeof kind !== "string" || !isRecord(value) || CONNECTOR_KINDS.some((each) => each === kind)) return null;
  return `${path}.kind is ${brief(kind, 60)}: ${knownNames(kind, CONNECTOR_KINDS)}`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The error for a list that has a problem. */
export function listRefusal(where: string, problem: string, cause?: unknown): HostError {
  const text = `The file of connectors ${quote(where)} is refused: ${problem}`;
  return new HostError("AIRLOCK_GATEWAY_FILE_INVALID", text, cause === undefined ? {} : { cause });
}
