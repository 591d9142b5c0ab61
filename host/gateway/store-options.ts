import { HostError, nearest, quote } from "../errors/errors.ts";

/**
 * The options of a connector over a store, of which each is known. Throws AIRLOCK_GATEWAY_CONNECTOR_INVALID, as all functions
 * here.
 */
export function storeConnectorOptions<Options extends object>(
  connector: string,
  options: Options,
  known: readonly string[],
): Options {
  if (typeof options !== "object" || options === null)
    throw invalidOption(connector, "it has no options: { store } is wanted");
  const surplus = Object.keys(options).find((name) => !known.includes(name));
  if (surplus !== undefined) {
    const near = nearest(surplus, known);
    const hint = near === undefined ? `${known.join(", ")} are known` : `did you mean ${quote(near)}?`;
    throw invalidOption(connector, `unknown option ${quote(surplus, 60)}: ${hint}`);
  }
  const { store } = options as { readonly store?: unknown };
  if (typeof store !== "object" || store === null)
    throw invalidOption(connector, "store is no store: what openStore answers is wanted");
  return options;
}

export function wholeOption(
  connector: string,
  name: string,
  value: unknown,
  least: number,
  most: number = Number.MAX_SAFE_INTEGER,
): number {
  if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most) return value as number;
  throw invalidOption(connector, `${name} is ${String(value)}: a whole number from ${least} to ${most} is wanted`);
}

export function invalidOption(connector: string, what: string): HostError {
  return new HostError("AIRLOCK_GATEWAY_CONNECTOR_INVALID", `Cannot make the connector ${quote(connector)}: ${what}`);
}
