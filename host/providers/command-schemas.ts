import type { CommandName } from "./commands.ts";

/** A JSON Schema, as an object. */
type Schema = { readonly [keyword: string]: unknown };

const DIALECT = "https://json-schema.org/draft/2020-12/schema";
const SCHEMA = { type: ["object", "boolean"], description: "A JSON Schema." };

/**
 * What each command answers, as JSON Schemas. `.ci/generate.ts` writes them as `command-<name>.schema.json`, which the package exports.
 */
export const COMMAND_SCHEMAS: Readonly<Record<CommandName, Schema>> = {
  capabilities: {
    $schema: DIALECT,
    title: "Answer to the provider command capabilities",
    ...record({
      operations: {
        description: "What can be asked of the provider.",
        type: "array",
        items: record({ name: { type: "string" }, input: SCHEMA, output: SCHEMA }),
      },
      events: {
        description: "Events that it may emit.",
        type: "array",
        items: record({ type: { type: "string" }, version: { type: "string" }, schema: SCHEMA }, ["schema"]),
      },
      limits: {
        description: "Upper bounds of a run, by the names of the limits. Null is no bound.",
        type: "object",
        additionalProperties: { type: ["integer", "null"] },
      },
      models: {
        description: "Names of the language models that it serves.",
        type: "array",
        items: { type: "string" },
      },
    }),
  },
  transport_status: {
    $schema: DIALECT,
    title: "Answer to the provider command transport_status",
    ...record({
      kind: { description: "How the provider is reached.", enum: ["thread", "process", "http", "function"] },
      connected: { type: "boolean" },
      since: {
        description: "Since when it is connected, or is not: milliseconds since the epoch.",
        type: "number",
        minimum: 0,
      },
      inFlight: { description: "Its runs that hold a slot now.", type: "integer", minimum: 0 },
      capacity: {
        description: "Slots, of which others may hold some where they are shared.",
        type: "integer",
        minimum: 1,
      },
    }),
  },
  ollama_api: {
    $schema: DIALECT,
    title: "Answer to the provider command ollama_api",
    ...record({
      status: { description: "The HTTP status of Ollama's answer.", type: "integer", minimum: 100, maximum: 599 },
      body: { description: "The JSON of its body, unchanged." },
    }),
  },
};

/** An object with exactly these fields, all of them required but the optional ones. */
function record(properties: Readonly<Record<string, unknown>>, optional: readonly string[] = []): Schema {
  return {
    type: "object",
    properties,
    required: Object.keys(properties).filter((name) => !optional.includes(name)),
    additionalProperties: false,
  };
}
