import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { HostError, isHostError, messageOf, quote } from "./errors/errors.ts";
import {
  type Connector,
  envConnector,
  httpConnector,
  kvStoreConnector,
  type ListedConnector,
  listRefusal,
  objectStoreConnector,
  parseConnectorList,
  schedulerConnector,
} from "./gateway/gateway.ts";
import type { ConnectorBinding } from "./options.ts";
import { openStore, type Store } from "./store/store.ts";
import { readTextFile } from "./text-file.ts";

/** A file of connectors that was read: none was made yet. */
export interface ConnectorsFile {
  readonly path: string;
  /** Paths of modules, and of directories in options, are from here. */
  readonly directory: string;
  readonly connectors: readonly ListedConnector[];
  /** Absolute; null where the file names none. */
  readonly store: string | null;
}

/** Connectors that were made, for `HostOptions.connectors`. */
export interface OpenConnectors {
  readonly bindings: readonly ConnectorBinding[];
  /** Closes what they hold, after the host. Idempotent. Rejects with what one of them throws, once all are closed. */
  close(): Promise<void>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads a file of connectors. Throws AIRLOCK_GATEWAY_FILE_UNREADABLE, AIRLOCK_GATEWAY_FILE_INVALID. The file's form: `airlock/connectors.schema.json`. */
export function readConnectorsFile(path: string): ConnectorsFile {
  const { text, directory } = readTextFile(path, "file of connectors", "AIRLOCK_GATEWAY_FILE_UNREADABLE");
  const { connectors, store } = parseConnectorList(text, path);
  return Object.freeze({ path, directory, connectors, store: store === null ? null : resolve(directory, store) });
}

/**
 * Makes the connectors of a file, and the directories that they want; modules among them are loaded and so run. `environment` (default
 * `process.env`) has the values that the file names. Rejects with AIRLOCK_GATEWAY_FILE_INVALID, AIRLOCK_GATEWAY_VALUE_MISSING, AIRLOCK_STORE_*.
 */
export async function openConnectors(
  file: ConnectorsFile,
  environment: Environment = process.env,
): Promise<OpenConnectors> {
  const store = file.store === null ? null : await openStore({ directory: file.store });
  const bindings: ConnectorBinding[] = [];
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= closeAll(bindings, store);
    return closed;
  };
  try {
    for (const [index, listed] of file.connectors.entries()) {
      const { kind: _, options: __, module: ___, export: ____, ...how } = listed;
      bindings.push({ connector: await made(listed, index, file, store, environment), ...how });
    }
    return { bindings, close };
  } catch (error) {
    // Why it was opened in vain is what is told, also where closing fails.
    await close().catch(() => {});
    throw error;
  }
}

/** Closes every connector and then the store, whatever one of them throws; rejects with the first of that. */
async function closeAll(bindings: readonly ConnectorBinding[], store: Store | null): Promise<void> {
  const ends = await Promise.allSettled(bindings.map(async ({ connector }) => connector.close?.()));
  await store?.close();
  const failed = ends.find((end) => end.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

async function made(
  listed: ListedConnector,
  index: number,
  file: ConnectorsFile,
  store: Store | null,
  environment: Environment,
): Promise<Connector> {
  const path = `connectors.${index}`;
  try {
    // Each maker looks at its options itself.
    return await make(listed, file, store, withHeaders(listed, path, file, environment), environment);
  } catch (error) {
    if (!isHostError(error))
      throw listRefusal(file.path, `${path}.module cannot be loaded: ${messageOf(error)}`, error);
    if (error.code !== "AIRLOCK_GATEWAY_CONNECTOR_INVALID") throw error;
    throw listRefusal(file.path, `${path}: ${error.message}`, error);
  }
}

async function make(
  { kind, module, export: name = "connector" }: ListedConnector,
  { directory, path }: ConnectorsFile,
  store: Store | null,
  options: Readonly<Record<string, unknown>>,
  environment: Environment,
): Promise<Connector> {
  switch (kind) {
    case "http":
      return httpConnector(options as never);
    case "env":
      return envConnector({ ...options, from: environment } as never);
    case "object-store":
      return objectStoreConnector({ ...options, ...absolute(options, directory) } as never);
    case "kv-store":
      return kvStoreConnector({ ...options, store: store! } as never);
    case "scheduler":
      return schedulerConnector({ ...options, store: store! } as never);
    case "module": {
      const exported = (await import(pathToFileURL(resolve(directory, module!)).href)) as Record<string, unknown>;
      if (!Object.hasOwn(exported, name))
        throw listRefusal(path, `the module ${quote(module!)} has no export ${quote(name)}`);
      const value = exported[name];
      const connector: unknown = typeof value === "function" ? await value(options) : value;
      if (typeof connector !== "object" || connector === null)
        throw listRefusal(path, `the export ${quote(name)} of the module ${quote(module!)} gives no connector`);
      return connector as Connector;
    }
  }
}

function absolute(options: Readonly<Record<string, unknown>>, directory: string): { readonly directory?: string } {
  return typeof options["directory"] === "string" ? { directory: resolve(directory, options["directory"]) } : {};
}

/** Options of `http` in which each `headersEnv` of a host became `headers`: secrets have no place in a file. */
function withHeaders(
  { kind, options }: ListedConnector,
  path: string,
  file: ConnectorsFile,
  environment: Environment,
): Readonly<Record<string, unknown>> {
  const { hosts } = options;
  if (kind !== "http" || !Array.isArray(hosts)) return options;
  const filled = hosts.map((host: unknown, index) => {
    if (typeof host !== "object" || host === null || !("headersEnv" in host)) return host;
    const { headersEnv, headers, ...rest } = host as {
      headersEnv: unknown;
      headers?: unknown;
    };
    const where = `${path}.options.hosts.${index}.headersEnv`;
    if (typeof headersEnv !== "object" || headersEnv === null || Array.isArray(headersEnv))
      throw listRefusal(file.path, `${where} is no object: names of headers, each with a variable's name, are wanted`);
    // Not spread: what is no object is for the maker to refuse.
    if (headers !== undefined && (typeof headers !== "object" || headers === null)) return { ...rest, headers };
    const values = Object.entries(headersEnv).map(([header, name]) => [header, variable(name, `${where}.${header}`)]);
    return { ...rest, headers: { ...headers, ...Object.fromEntries(values) } };
  });
  return { ...options, hosts: filled };

  function variable(name: unknown, where: string): string {
    if (typeof name !== "string") throw listRefusal(file.path, `${where} is no text: a variable's name is wanted`);
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (value !== undefined && value !== "") return value;
    throw new HostError(
      "AIRLOCK_GATEWAY_VALUE_MISSING",
      `Cannot make the connectors of ${quote(file.path)}: the environment variable ${quote(name, 128)} is not set, which ${where} names`,
    );
  }
}
