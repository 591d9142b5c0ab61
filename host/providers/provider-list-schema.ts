import { LONGEST_QUEUE, MOST_CAPACITY, MOST_PRIORITY } from "./pool-catalog.ts";

/** A JSON Schema, as an object. */
type Schema = { readonly [keyword: string]: unknown };

/** A field of a list of providers: its schema, and the same in words. */
export interface ListField {
  readonly schema: Schema;
  /** The end of a sentence: what is wanted in its place. */
  readonly wanted: string;
  readonly required?: true;
  /** Its value is shown in no message: it may hold a credential. */
  readonly hidden?: true;
}

export type ListFields = Readonly<Record<string, ListField>>;

/** Providers of a list, its pools, the candidates of a pool. */
export const MOST_ENTRIES = 256;

const VERSION = "(?:0|[1-9]\\d*)\\.(?:0|[1-9]\\d*)\\.(?:0|[1-9]\\d*)";
const PRERELEASE_PART = "(?:0|[1-9]\\d*|\\d*[A-Za-z-][0-9A-Za-z-]*)";
const ID = `^[A-Za-z0-9][A-Za-z0-9._-]{0,127}@${VERSION}(?:-${PRERELEASE_PART}(?:\\.${PRERELEASE_PART})*)?$`;
/** The name of a pool, which no provider's id can be. */
export const POOL_NAME = "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$";
export const POOL_NAME_WANTED = "a letter or digit and then letters, digits, or - . _ are wanted";

const MODEL = { type: "string", minLength: 1, maxLength: 256 };

const ID_FIELD: ListField = {
  schema: { description: "What it is run by.", type: "string", maxLength: 256, pattern: ID },
  wanted: "an id with an exact version is wanted, such as local@1.0.0",
};

const CAPACITY: ListField = {
  schema: {
    description: "Runs that it carries out at once.",
    type: "integer",
    minimum: 1,
    maximum: MOST_CAPACITY,
  },
  wanted: `a whole number from 1 to ${MOST_CAPACITY} is wanted`,
};

const QUEUE: ListField = {
  schema: { description: "Runs that may wait for a slot.", type: "integer", minimum: 0, maximum: LONGEST_QUEUE },
  wanted: `a whole number from 0 to ${LONGEST_QUEUE} is wanted`,
};

const BASE_URL: ListField = {
  schema: {
    description: "What stands before the paths of the API. Credentials do not belong into it.",
    type: "string",
    maxLength: 2_048,
    pattern: "^https?://[^\\s/?#@\\\\]+(?:/[^\\s?#]*)?$",
  },
  wanted: "a URL like http://127.0.0.1:11434 is wanted, without a password, a query or a fragment",
  hidden: true,
};

const SERVER: ListFields = {
  model: {
    schema: { ...MODEL, description: "The model of a request that names none." },
    wanted: "the name of a model is wanted",
  },
  models: {
    schema: {
      description: "The only models that a request may name. Left out: any.",
      type: "array",
      minItems: 1,
      maxItems: 1_024,
      items: MODEL,
    },
    wanted: "a list of names of models is wanted",
  },
  apiKeyEnv: {
    schema: {
      description: "The name of the environment variable that holds the key; never the key itself.",
      type: "string",
      pattern: "^[A-Z_][A-Z0-9_]{0,127}$",
    },
    wanted: "the name of an environment variable is wanted, in capitals such as OPENAI_API_KEY; never a key itself",
    hidden: true,
  },
  capacity: { ...CAPACITY, schema: { ...CAPACITY.schema, default: 1 } },
  queue: { ...QUEUE, schema: { ...QUEUE.schema, default: 1_024 } },
};

/** The fields of a provider by its kind, `kind` left out. */
export const PROVIDER_FIELDS = {
  component: {
    package: {
      schema: {
        description: "A package's folder, or its capability.json; from the folder of this file.",
        type: "string",
        minLength: 1,
        maxLength: 4_096,
      },
      wanted: "the path of a package is wanted, such as ./dist",
      required: true,
    },
  },
  ollama: {
    id: { ...ID_FIELD, required: true },
    baseUrl: { ...BASE_URL, schema: { ...BASE_URL.schema, default: "http://127.0.0.1:11434" } },
    ...SERVER,
  },
  "openai-compatible": {
    id: { ...ID_FIELD, required: true },
    baseUrl: { ...BASE_URL, required: true },
    ...SERVER,
    includeUsage: {
      schema: { description: "Whether to ask for the count of tokens.", type: "boolean", default: true },
      wanted: "true or false is wanted",
    },
  },
} as const satisfies Readonly<Record<string, ListFields>>;

/** What a provider of a list can be. */
export type ListedKind = keyof typeof PROVIDER_FIELDS;

export const CANDIDATE_FIELDS: ListFields = {
  providerId: { ...ID_FIELD, required: true },
  capacity: { ...CAPACITY, required: true },
  priority: {
    schema: {
      description: "Of the candidates with free capacity the one with the highest is chosen.",
      type: "integer",
      minimum: -MOST_PRIORITY,
      maximum: MOST_PRIORITY,
      default: 0,
    },
    wanted: `a whole number from ${-MOST_PRIORITY} to ${MOST_PRIORITY} is wanted`,
  },
};

export const POOL_FIELDS: ListFields = {
  candidates: {
    schema: {
      description: "Providers of this file that may serve the pool's runs. Their slots are the pool's.",
      type: "array",
      minItems: 1,
      maxItems: MOST_ENTRIES,
      items: record(CANDIDATE_FIELDS),
    },
    wanted: `a list of 1 to ${MOST_ENTRIES} candidates is wanted`,
    required: true,
  },
  queue: { ...QUEUE, schema: { ...QUEUE.schema, default: 1_024 } },
};

export const LIST_FIELDS: ListFields = {
  $schema: {
    schema: { description: "Where an editor finds this schema.", type: "string" },
    wanted: "the path or URL of a JSON Schema is wanted",
  },
  providers: {
    schema: {
      description: "What can be run.",
      type: "array",
      maxItems: MOST_ENTRIES,
      items: {
        type: "object",
        required: ["kind"],
        oneOf: Object.entries(PROVIDER_FIELDS).map(([kind, fields]) => record(fields, { kind: { const: kind } })),
      },
    },
    wanted: `a list of at most ${MOST_ENTRIES} providers is wanted`,
    required: true,
  },
  pools: {
    schema: {
      description: "Several providers under one name, by that name.",
      type: "object",
      maxProperties: MOST_ENTRIES,
      propertyNames: { pattern: POOL_NAME },
      additionalProperties: record(POOL_FIELDS),
    },
    wanted: `an object of at most ${MOST_ENTRIES} pools by their names is wanted`,
  },
};

/** The schema of a file of providers. `.ci/generate.ts` writes it as `providers.schema.json`, which the package exports. */
export const PROVIDER_LIST_SCHEMA: Schema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Airlock providers",
  ...record(LIST_FIELDS),
};

/** An object with these fields and no others. */
function record(fields: ListFields, more: Readonly<Record<string, Schema>> = {}): Schema {
  const own = Object.entries(fields).map(([name, { schema }]) => [name, schema] as const);
  const needed = Object.entries(fields).filter(([, field]) => field.required === true);
  return {
    type: "object",
    properties: { ...more, ...Object.fromEntries(own) },
    required: [...Object.keys(more), ...needed.map(([name]) => name)],
    additionalProperties: false,
  };
}
