import { quote } from "../errors/errors.ts";
import type { Connector, ConnectorRequest, ConnectorResponse } from "./connector.ts";
import { expectOptions, invalidOption } from "./connector-options.ts";
import { invalidRequest, payloadFields, unknownOperation } from "./connector-payload.ts";

/** The named values that guests may read: those of `values`, and those that `names` says of `from`. */
export interface EnvConnectorOptions {
  readonly values?: Readonly<Record<string, string>>;
  /** Names of variables that are taken out of `from`; one that is not set there is missing for guests too. */
  readonly names?: readonly string[];
  /** An environment, such as `process.env`. Of it only `names` are read, once. */
  readonly from?: Readonly<Record<string, string | undefined>>;
}

const KEYS = ["values", "names", "from"];
const NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/;

/**
 * The connector `env` 1.0.0. `get { name }` answers `{ body }`, the value's UTF-8 in base64: opaque, since values that are URLs or begin with
 * a slash could not come back as text. A name that is not there answers `missing` with `{}`. `list {}` answers `{ names }`, sorted. Names
 * count by case. Values are those of the moment in which the connector was made; nothing else of an environment can be reached.
 * Code: `invalid-request`. Throws AIRLOCK_GATEWAY_CONNECTOR_INVALID.
 */
export function envConnector(options: EnvConnectorOptions): Connector {
  const values = namedValues(options);
  return Object.freeze({
    id: "env",
    version: "1.0.0",
    description: "Named values",
    invoke: ({ operation, payload }: ConnectorRequest): ConnectorResponse => {
      if (operation === "list") {
        payloadFields(payload, []);
        return { resultClass: "success", payload: { names: [...values.keys()].sort() } };
      }
      if (operation !== "get") throw unknownOperation(operation, ["get", "list"]);
      const { name } = payloadFields(payload, ["name"]);
      if (typeof name !== "string") throw invalidRequest("name is no text: the name of a value is wanted");
      const value = values.get(name);
      if (value === undefined) return { resultClass: "missing", payload: {} };
      return { resultClass: "success", payload: { body: Buffer.from(value, "utf8").toString("base64") } };
    },
  });
}

function namedValues(options: EnvConnectorOptions): ReadonlyMap<string, string> {
  expectOptions(options, "options", KEYS);
  const { values = {}, names = [], from } = options;
  if (typeof values !== "object" || values === null || Array.isArray(values))
    throw invalidOption("values", typeof values, "an object with a text for each name");
  if (!Array.isArray(names)) throw invalidOption("names", typeof names, "a list of names");
  if ((from === undefined && names.length > 0) || (from !== undefined && (typeof from !== "object" || from === null)))
    throw invalidOption("from", typeof from, "the environment that names are taken from, such as process.env,");
  const environment = from as Readonly<Record<string, unknown>> | undefined;
  const taken = names.flatMap((name: unknown) => {
    checkName(name, "names");
    const value = environment !== undefined && Object.hasOwn(environment, name) ? environment[name] : undefined;
    return value === undefined ? [] : [[name, value] as const];
  });
  const all = [...taken, ...Object.entries(values)];
  const found = new Map<string, string>();
  for (const [name, value] of all) {
    checkName(name, "values");
    // The value is not shown: it may be a secret.
    if (typeof value !== "string" || /\p{Surrogate}/u.test(value))
      throw invalidOption(`values[${quote(name)}]`, typeof value, "a text without halves of surrogate pairs");
    if (found.has(name)) throw invalidOption("values", name, "a name that is not among names");
    found.set(name, value);
  }
  return found;
}

function checkName(name: unknown, field: string): asserts name is string {
  if (typeof name !== "string" || !NAME.test(name))
    throw invalidOption(
      field,
      name,
      'a name of at most 128 letters, digits, "_", "." and "-", which begins with a letter or "_",',
    );
}
