import { resolve } from "node:path";
import { HostError, isHostError, nearest, quote } from "./errors/errors.ts";
import type { Host } from "./host.ts";
import { readPackage } from "./manifest/manifest.ts";
import type { InstallOptions } from "./options.ts";
import {
  type ListedProvider,
  listRefusal,
  type PoolCatalog,
  ProviderRegistry,
  parseProviderList,
} from "./providers/providers.ts";
import { readTextFile } from "./text-file.ts";

/** A provider as a file names it, with its id. */
export type FileProvider = ListedProvider & {
  /** `id@version`. */
  readonly id: string;
};

/** A file of providers that was read: nothing of it was started yet. */
export interface ProvidersFile {
  readonly path: string;
  /** Paths of packages are absolute. */
  readonly providers: readonly FileProvider[];
  /** By name. */
  readonly pools: Readonly<Record<string, PoolCatalog>>;
}

/** What a name of a file stands for. */
export interface NamedProviders {
  /** The name of the pool; null for a provider. */
  readonly pool: string | null;
  /** The one provider, or the candidates of the pool; at least one. */
  readonly providers: readonly FileProvider[];
}

/** What `addProviders` adds, and how. */
export interface AddProvidersOptions {
  /** Only what this name stands for: a provider's id, with or without its version, or the name of a pool. Default: all. */
  readonly only?: string;
  /** Where keys are looked up before each request. Default `process.env`. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Whether a key that is not set is refused at once, or fails the requests that want it. Default true. */
  readonly requireKeys?: boolean;
  /** For the packages among them. */
  readonly install?: InstallOptions;
  /** Hears of each before it is added. */
  readonly adding?: (provider: FileProvider) => void;
}

/**
 * Reads a file of providers and the manifests of its packages, and checks all that can be checked without asking anyone. Throws
 * AIRLOCK_PROVIDERS_FILE_UNREADABLE, AIRLOCK_PROVIDERS_FILE_INVALID, whose `details.problems` has every problem. The file's form:
 * `airlock/providers.schema.json`.
 */
export function readProvidersFile(path: string): ProvidersFile {
  const { text, directory } = readTextFile(path, "file of providers", "AIRLOCK_PROVIDERS_FILE_UNREADABLE");
  const { providers: entries, pools } = parseProviderList(text, path);
  const problems: string[] = [];
  const causes: unknown[] = [];
  const providers = entries.flatMap((entry, index): FileProvider[] => {
    if (entry.kind !== "component") return [entry];
    try {
      const { manifest } = readPackage(resolve(directory, entry.package));
      const id = `${manifest.id}@${manifest.version}`;
      return [{ kind: "component", package: resolve(directory, entry.package), id }];
    } catch (error) {
      if (!isHostError(error)) throw error;
      problems.push(`providers.${index}.package is ${quote(entry.package)}: ${error.message}`);
      causes.push(error);
      return [];
    }
  });
  // Who is missing from the list would only lead to problems that are none.
  if (problems.length === 0) problems.push(...nameProblems(providers), ...poolProblems(providers, pools));
  if (problems.length > 0) throw listRefusal(path, problems, causes[0]);
  return Object.freeze({ path, providers: Object.freeze(providers), pools: Object.freeze(pools) });
}

/** What a name of the file stands for. Throws AIRLOCK_PROVIDERS_MISSING. */
export function namedProviders({ path, providers, pools }: ProvidersFile, name: string): NamedProviders {
  if (Object.hasOwn(pools, name)) {
    const ids = new Set(pools[name]!.candidates.map(({ providerId }) => providerId));
    return { pool: name, providers: providers.filter(({ id }) => ids.has(id)) };
  }
  const registry = new ProviderRegistry<FileProvider>();
  for (const provider of providers) registry.add(provider);
  const found = registry.find(name);
  if (found !== undefined) return { pool: null, providers: [found] };
  const known = [...providers.map(({ id }) => id), ...Object.keys(pools)];
  const near = nearest(name, [...known, ...providers.map(bareId)]);
  const there = known.length === 0 ? "it has none" : `it has ${known.slice(0, 8).join(", ")}`;
  const hint = near === undefined ? `${there}${known.length > 8 ? ", …" : ""}` : `did you mean ${quote(near)}?`;
  throw new HostError(
    "AIRLOCK_PROVIDERS_MISSING",
    `The file of providers ${quote(path)} has no provider and no pool ${quote(name)}: ${hint}`,
  );
}

/**
 * Installs and registers what a file names, pools first, one after the other: what came before a refusal stays. A provider that stands in
 * the catalog of a pool brings that pool along. Rejects with AIRLOCK_PROVIDERS_MISSING, AIRLOCK_PROVIDERS_KEY_MISSING, and what
 * `install`, `providers.add` and `providers.addPool` throw.
 */
export async function addProviders(host: Host, file: ProvidersFile, options: AddProvidersOptions = {}): Promise<void> {
  const { only, environment = process.env, requireKeys = true, install = {}, adding } = options;
  const { providers, pool } = only === undefined ? { ...file, pool: null } : namedProviders(file, only);
  if (requireKeys) for (const each of providers) checkKey(each, file, environment);
  for (const [name, catalog] of Object.entries(file.pools)) {
    const wanted = only === undefined || name === pool || providers.some(({ id }) => holds(catalog, id));
    if (wanted) host.providers.addPool(name, catalog);
  }
  for (const provider of providers) {
    adding?.(provider);
    await addOne(host, provider, environment, install);
  }
}

async function addOne(
  host: Host,
  provider: FileProvider,
  environment: NonNullable<AddProvidersOptions["environment"]>,
  install: InstallOptions,
): Promise<void> {
  if (provider.kind === "component") {
    await host.install(provider.package, install);
    return;
  }
  const { slots, apiKeyEnv } = provider;
  // Before each request, so that a key that is exchanged is taken up; nothing else of the environment is read.
  const key = apiKeyEnv === null ? {} : { apiKey: () => environment[apiKeyEnv] ?? "" };
  const definition = { ...provider.definition, ...key };
  if (provider.kind === "ollama") await host.providers.addOllama(definition, slots ?? undefined);
  else await host.providers.addOpenAiCompatible({ ...provider.definition, ...key }, slots ?? undefined);
}

function checkKey(
  provider: FileProvider,
  { path, providers }: ProvidersFile,
  environment: NonNullable<AddProvidersOptions["environment"]>,
): void {
  if (provider.kind === "component" || provider.apiKeyEnv === null) return;
  if ((environment[provider.apiKeyEnv] ?? "") !== "") return;
  const field = `providers.${providers.indexOf(provider)}.apiKeyEnv`;
  throw new HostError(
    "AIRLOCK_PROVIDERS_KEY_MISSING",
    `Cannot add the provider ${quote(provider.id)}: the environment variable ${provider.apiKeyEnv} is not set, which ${field} of ${quote(path)} names`,
  );
}

function nameProblems(providers: readonly FileProvider[]): readonly string[] {
  const seen = new Map<string, number>();
  return providers.flatMap(({ id }, index) => {
    const first = seen.get(id);
    if (first === undefined) seen.set(id, index);
    return first === undefined ? [] : [`providers.${index} is ${quote(id)} again: providers.${first} has it already`];
  });
}

function poolProblems(providers: readonly FileProvider[], pools: ProvidersFile["pools"]): readonly string[] {
  const servers = providers.filter(({ kind }) => kind !== "component").map(({ id }) => id);
  return Object.entries(pools).flatMap(([name, { candidates }]) => {
    const taken = providers.find((each) => bareId(each) === name);
    const clash =
      taken === undefined
        ? []
        : [`pools.${name} has the name of the provider ${quote(taken.id)}: another one is wanted`];
    const strangers = candidates.flatMap(({ providerId }, index) => {
      if (servers.includes(providerId)) return [];
      const path = `pools.${name}.candidates.${index}.providerId is ${quote(providerId)}`;
      if (providers.some(({ id }) => id === providerId)) {
        return [`${path}: that is a component, whose slots are the threads; a server is wanted`];
      }
      const near = nearest(providerId, servers);
      return [
        `${path}, which is none of providers: ${near === undefined ? "add it there" : `did you mean ${quote(near)}?`}`,
      ];
    });
    return [...clash, ...strangers];
  });
}

function holds({ candidates }: PoolCatalog, id: string): boolean {
  return candidates.some(({ providerId }) => providerId === id);
}

function bareId({ id }: { readonly id: string }): string {
  return id.slice(0, id.lastIndexOf("@"));
}
