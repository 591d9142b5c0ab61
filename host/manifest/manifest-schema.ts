import { LIMIT_KEYS, LIMITS } from "./limits.ts";

/** Where the schema lives once the package is published; editors may also point `$schema` at the file itself. */
const SCHEMA_ID = "https://airlock.dev/schemas/capability/1.0.0.json";

const ID = "^[a-z][a-z0-9]*(-[a-z0-9]+)*(\\.[a-z0-9]+(-[a-z0-9]+)*)*$";
const VERSION = "^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(-[0-9A-Za-z.-]+)?$";
const INTERFACE = "^[a-z][a-z0-9-]*:[a-z][a-z0-9-]*/[a-z][a-z0-9-]*@\\d[0-9A-Za-z.-]*$";
/** What a manifest may list as imported: an interface, or for profile core a function as `module/name`. */
const IMPORT = `${INTERFACE}|^(wasi_snapshot_preview1|traverse_host)/[a-z][a-z0-9_]*$`;
const EVENT_TYPE = "^[a-z][a-z0-9]*([._-][a-z0-9]+)*$";
const OPERATION = "^[A-Za-z][A-Za-z0-9._:/@#-]*$";

const NAMES = (description: string) => ({
  description,
  type: "array",
  maxItems: 256,
  items: { type: "string", minLength: 1, maxLength: 256 },
});

const SCHEMA_OF_PACKAGE = (description: string) => ({ description, type: ["object", "boolean"] });

/**
 * The JSON Schema of `capability.json`, draft 2020-12: what the parser checks with and, written out by
 * `.ci/generate.ts` as `capability.schema.json` (which also takes source manifests), what editors complete from. The formats `semver`, `semver-range`
 * and `package-path` are ours; an editor ignores them.
 */
export const MANIFEST_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: SCHEMA_ID,
  title: "Airlock capability manifest",
  description:
    "Says what a capability is, what it may use and how far it may go. Lies as capability.json in a package.",
  type: "object",
  additionalProperties: false,
  required: ["id", "version", "component", "sha256"],
  properties: {
    $schema: { description: "Where an editor finds this schema; the host does not read it.", type: "string" },
    id: {
      description: "Names the capability: lower case, dotted, such as acme.csv-profile.",
      type: "string",
      maxLength: 128,
      pattern: ID,
    },
    version: {
      description: "Semantic version, exact, without build metadata, such as 1.2.0.",
      type: "string",
      maxLength: 128,
      pattern: VERSION,
      format: "semver",
    },
    title: { description: "One short line for people.", type: "string", maxLength: 256 },
    description: { description: "What the capability does, for people.", type: "string", maxLength: 8_192 },
    artifactType: {
      description:
        "What answers. wasm: the component of the package. native: a function of the application, which it hands over at install.",
      enum: ["wasm", "native"],
      default: "wasm",
    },
    profile: {
      description: "component: a WASI 0.2 component. core: a core module on the Traverse Host ABI 1.0.0.",
      enum: ["component", "core"],
      default: "component",
    },
    component: {
      description: "Path of the Wasm file, relative to this file and inside the package. Filled in by the build.",
      type: "string",
      minLength: 1,
      maxLength: 1_024,
      format: "package-path",
    },
    sha256: {
      description: "SHA-256 of the Wasm file, 64 lower-case hex digits. Filled in by the build.",
      type: "string",
      pattern: "^[0-9a-f]{64}$",
    },
    hostAbi: {
      description: "Version of the host ABI that the component was made for, exact.",
      type: "string",
      maxLength: 128,
      format: "semver",
      default: "1.0.0",
    },
    serviceType: {
      description:
        "stateless: answers only. subscribable: emits events too. stateful: keeps state, in a connector, never here.",
      enum: ["stateless", "subscribable", "stateful"],
      default: "stateless",
    },
    emits: {
      description: "The events that the capability may emit. What is not listed is refused.",
      type: "array",
      maxItems: 256,
      default: [],
      items: {
        type: "object",
        additionalProperties: false,
        required: ["type", "version"],
        properties: {
          type: {
            description: "Type of the event, lower case, such as ragged-row.",
            type: "string",
            maxLength: 128,
            pattern: EVENT_TYPE,
          },
          version: {
            description: "Semantic version of the event's shape, exact.",
            type: "string",
            maxLength: 128,
            format: "semver",
          },
          schema: SCHEMA_OF_PACKAGE("JSON Schema of the payload. Without it any JSON value is accepted."),
        },
      },
    },
    imports: {
      description:
        "Exactly the interfaces that the component imports, or for profile core its functions, such as traverse_host/emit_event. Filled in by the build.",
      type: "array",
      maxItems: 256,
      uniqueItems: true,
      default: [],
      items: { type: "string", maxLength: 256, pattern: IMPORT },
    },
    operations: {
      description: "What can be asked of the capability; the first one is meant when nobody names one.",
      type: "array",
      maxItems: 256,
      default: [],
      items: {
        type: "object",
        additionalProperties: false,
        required: ["name", "input", "output"],
        properties: {
          name: { description: "Name of the operation.", type: "string", maxLength: 256, pattern: OPERATION },
          title: { description: "One short line for people.", type: "string", maxLength: 256 },
          description: { description: "What it does, for people and models.", type: "string", maxLength: 8_192 },
          input: SCHEMA_OF_PACKAGE("JSON Schema of the input."),
          output: SCHEMA_OF_PACKAGE("JSON Schema of the output."),
          examples: {
            description: "Requests that work, with the answer where it is known.",
            type: "array",
            maxItems: 64,
            items: {
              type: "object",
              additionalProperties: false,
              required: ["input"],
              properties: {
                title: { description: "One short line for people.", type: "string", maxLength: 256 },
                input: { description: "An input." },
                output: { description: "Its output." },
              },
            },
          },
        },
      },
    },
    grants: {
      description: "What the capability asks for beyond computing. A grant that the host cannot honour is refused.",
      type: "object",
      additionalProperties: false,
      default: {},
      properties: {
        env: NAMES("Names of environment variables."),
        fs: {
          description: "Files.",
          type: "object",
          additionalProperties: false,
          properties: {
            read: {
              description: "A folder that the capability may read, absolute or relative to the package.",
              type: "string",
              minLength: 1,
              maxLength: 1_024,
              format: "grant-path",
            },
            write: {
              description: "A folder that the capability may write, absolute or relative to the package.",
              type: "string",
              minLength: 1,
              maxLength: 1_024,
              format: "grant-path",
            },
          },
        },
        http: NAMES("Origins that the capability may call."),
        imports: {
          description: "Interfaces of the embedder that the capability may call, by name.",
          type: "array",
          maxItems: 256,
          uniqueItems: true,
          items: { type: "string", maxLength: 256, pattern: INTERFACE },
        },
        invoke: {
          description: "Other capabilities of the host that the capability may call, each id once.",
          type: "array",
          maxItems: 256,
          items: {
            type: "object",
            additionalProperties: false,
            required: ["id", "versions"],
            properties: {
              id: { description: "The other capability.", type: "string", maxLength: 128, pattern: ID },
              versions: {
                description:
                  "Versions that will do, as a semver range, such as ^1.0.0: the newest installed one answers.",
                type: "string",
                maxLength: 256,
                format: "semver-range",
              },
            },
          },
        },
        tools: NAMES("Tools that the capability may call."),
        connectors: {
          description: "Connectors of the application that the capability may call, each id once.",
          type: "array",
          maxItems: 256,
          items: {
            type: "object",
            additionalProperties: false,
            required: ["id", "range"],
            properties: {
              id: { description: "The connector.", type: "string", maxLength: 128, pattern: ID },
              range: {
                description: "Versions that will do, as a semver range, such as ^1.0.0: the newest bound one answers.",
                type: "string",
                maxLength: 256,
                format: "semver-range",
              },
            },
          },
        },
        models: NAMES("Models that the capability may call."),
      },
    },
    limits: {
      description: "How far a run may go. The host's policy may lower each.",
      type: "object",
      additionalProperties: false,
      default: {},
      properties: Object.fromEntries(LIMIT_KEYS.map((key) => [key, schemaOfLimit(key)])),
    },
  },
};

/** What only Wasm has, so that a native capability has none of it. */
export const WASM_FIELDS = ["component", "sha256", "imports", "profile", "hostAbi", "grants"] as const;

/** For editors: how a native capability differs. The parser says the same in words. */
export const NATIVE_CONDITION = {
  if: { required: ["artifactType"], properties: { artifactType: { const: "native" } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ["operations"], properties: Object.fromEntries(WASM_FIELDS.map((field) => [field, false])) },
};

/** The fields that the build fills in, so that a source manifest has none of them. */
export const BUILT_FIELDS = ["component", "sha256", "imports"] as const;

function schemaOfLimit(key: (typeof LIMIT_KEYS)[number]) {
  const { description, unit, minimum, maximum, default: fallback, cap } = LIMITS[key];
  const bounds = cap === null ? "" : ` At most ${cap} unless the host's policy says otherwise.`;
  return {
    description: `${description} In ${unit === "count" ? "whole numbers" : unit}.${bounds}`,
    type: fallback === null ? ["integer", "null"] : "integer",
    minimum,
    maximum,
    default: fallback,
  };
}
