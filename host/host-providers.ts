import { HostError, quote } from "./errors/errors.ts";
import type { LimitPolicy } from "./manifest/manifest.ts";
import {
  type CommandAnswers,
  type CommandName,
  type FunctionDefinition,
  functionProvider,
  NativeExecutor,
  type NativeExecutorOptions,
  type OllamaDefinition,
  type OpenAiCompatibleDefinition,
  ollamaProvider,
  openAiCompatibleProvider,
  type PoolCatalog,
  type Provider,
  type ProviderInfo,
  type ProviderRuns,
} from "./providers/providers.ts";
import { THREADS } from "./thread-slots.ts";

/** How many runs a provider carries out at once, and how many may wait for that. */
export interface ProviderSlots {
  /** A whole number from 1 to 65,536. Default 1. */
  readonly capacity?: number;
  /** A whole number from 0 to 1,000,000. Default 1,024. */
  readonly queue?: number;
}

/** The providers of a host: installed capabilities, and those that the application adds. */
export class HostProviders {
  readonly #runs: ProviderRuns;
  readonly #policy: LimitPolicy;
  readonly #executors: NativeExecutor[] = [];

  /** Use `host.providers`. `policy` holds for functions and servers of models. */
  constructor(runs: ProviderRuns, policy: LimitPolicy) {
    this.#runs = runs;
    this.#policy = policy;
  }

  /** All providers, in the order in which they came. */
  list(): readonly ProviderInfo[] {
    return this.#runs.describe();
  }

  /**
   * Starts and registers a provider: from then on `host.run` takes its id. One that stands in the catalog of a pool has the slots of that and no others.
   * Rejects with AIRLOCK_PROVIDERS_DEFINITION_INVALID, AIRLOCK_PROVIDERS_DUPLICATE, AIRLOCK_PROVIDERS_CATALOG_INVALID, AIRLOCK_PROVIDERS_START_FAILED.
   */
  add(provider: Provider, slots?: ProviderSlots): Promise<void> {
    return this.#runs.add(provider, slots);
  }

  /** The same for a function of the application, under the host's limits. */
  addFunction(definition: FunctionDefinition, slots?: ProviderSlots): Promise<void> {
    return this.add(functionProvider(definition, { policy: this.#policy }), slots);
  }

  /**
   * An executor of native capabilities, which all share its capacity: functions of the application that have a manifest. Throws
   * AIRLOCK_PROVIDERS_CAPACITY_INVALID (`invalid_capacity`), AIRLOCK_PROVIDERS_CATALOG_INVALID for its queue.
   */
  nativeExecutor(options: NativeExecutorOptions): NativeExecutor {
    const executor = new NativeExecutor(this.#runs, options, { policy: this.#policy });
    this.#executors.push(executor);
    return executor;
  }

  /** Those that were made, in their order. */
  get executors(): readonly NativeExecutor[] {
    return this.#executors;
  }

  /** The same for an Ollama server. */
  addOllama(definition: OllamaDefinition, slots?: ProviderSlots): Promise<void> {
    return this.add(ollamaProvider(definition, { policy: this.#policy }), slots);
  }

  /** The same for a server with OpenAI's API. */
  addOpenAiCompatible(definition: OpenAiCompatibleDefinition, slots?: ProviderSlots): Promise<void> {
    return this.add(openAiCompatibleProvider(definition, { policy: this.#policy }), slots);
  }

  /** Takes a provider out once its runs have ended, and stops it. Rejects with AIRLOCK_PROVIDERS_MISSING. */
  remove(id: string): Promise<void> {
    return this.#runs.remove(id);
  }

  /**
   * Sets up a pool: from then on `host.run` takes its name, and one of its candidates answers. Throws AIRLOCK_PROVIDERS_CATALOG_INVALID,
   * AIRLOCK_PROVIDERS_DUPLICATE.
   */
  addPool(name: string, catalog: PoolCatalog): void {
    if (name === THREADS) {
      const text = `Cannot set up the pool: ${quote(name)} are the slots of components; take another name`;
      throw new HostError("AIRLOCK_PROVIDERS_DUPLICATE", text);
    }
    this.#runs.addPool(name, catalog);
  }

  /** Says that the connection to a provider is gone, which ends its runs, or is back. Throws AIRLOCK_PROVIDERS_MISSING. */
  setConnected(id: string, connected: boolean, message?: string): void {
    this.#runs.setConnected(id, connected, message);
  }

  /**
   * Asks a provider one of the commands `capabilities`, `transport_status` and `ollama_api`; anything else is refused before the provider is
   * looked up. Rejects with AIRLOCK_PROVIDERS_COMMAND_NOT_ALLOWED, AIRLOCK_PROVIDERS_COMMAND_INVALID, AIRLOCK_PROVIDERS_MISSING,
   * AIRLOCK_PROVIDERS_COMMAND_UNSUPPORTED, AIRLOCK_PROVIDERS_COMMAND_FAILED.
   */
  command<Name extends CommandName>(
    id: string,
    command: Name,
    args?: unknown,
    signal?: AbortSignal,
  ): Promise<CommandAnswers[Name]> {
    return this.#runs.command(id, command, args, signal);
  }
}
