import { HostError, quote } from "../errors/errors.ts";
import type { Clock } from "./clock.ts";
import { type PoolCatalog, resolveCatalog } from "./pool-catalog.ts";
import type { Provider } from "./provider.ts";
import { ProviderPool, type ProviderPoolStats, type Waiter } from "./provider-pool.ts";
import { ProviderRegistry } from "./registry.ts";
import { checkProviderId, isProviderId, type ProviderInfo, Seat, startProvider } from "./seat.ts";

const POOL_NAME = /^[\w.@+-]{1,128}$/;

/** Where the runs of a provider get their slots. */
export type Slots =
  /** Slots of its own, and how many runs may wait for one. */
  | { readonly capacity?: number; readonly queue?: number }
  /** The slots of a pool's candidate, which it shares with others, as components share threads. */
  | { readonly pool: ProviderPool; readonly candidate: string };

/** Who carries a run out: a certain provider, or with null any candidate of the pool. */
export interface Found {
  readonly seat: Seat | null;
  readonly pool: ProviderPool;
}

/** Who is there, and whose slots they use: providers, pools and the catalogs that put the ones into the others. */
export class Seating {
  readonly #clock: Clock;
  readonly #seats = new ProviderRegistry<Seat>();
  readonly #pools = new Map<string, ProviderPool>();
  /** The pool in whose catalog a provider stands. */
  readonly #catalogued = new Map<string, ProviderPool>();
  readonly #starting = new Set<string>();
  readonly #retiring = new Set<Promise<void>>();
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Throws AIRLOCK_PROVIDERS_CATALOG_INVALID, AIRLOCK_PROVIDERS_DUPLICATE. */
  addPool(name: string, catalog: PoolCatalog): ProviderPool {
    this.#checkOpen();
    checkPoolName(name);
    const resolved = resolveCatalog(catalog);
    const isStarting = [...this.#starting].some((id) => namesOf(id).includes(name));
    if (isStarting || this.#pools.has(name) || this.#seats.find(name) !== undefined) {
      throw taken(`a pool or provider ${quote(name)}`);
    }
    for (const [index, { providerId }] of resolved.candidates.entries()) {
      if (!isProviderId(providerId)) throw noId(`candidates.${index}.providerId`, providerId);
      if (this.#catalogued.has(providerId) || this.#starting.has(providerId) || this.#has(providerId)) {
        const shares = this.#seats.find(providerId)?.kind === "shared";
        throw hasSlots(providerId, `set up the pool before it${shares ? "" : " and add it without slots"}`);
      }
    }
    const pool = new ProviderPool(resolved);
    this.#pools.set(name, pool);
    for (const { providerId } of resolved.candidates) this.#catalogued.set(providerId, pool);
    return pool;
  }

  /** Rejects with what `ProviderRuns.add` does. */
  async add(provider: Provider, slots: Slots | undefined): Promise<void> {
    const { id } = provider;
    this.#checkOpen();
    checkProviderId(id);
    if (this.#starting.has(id) || this.#has(id)) throw taken(quote(id));
    if (namesOf(id).some((name) => this.#pools.has(name))) throw taken(`a pool of the name of ${quote(id)}`);
    const seat = this.#seat(provider, slots);
    if (provider.lifecycle?.start !== undefined) {
      this.#starting.add(id);
      try {
        await startProvider(provider);
      } finally {
        this.#starting.delete(id);
      }
      if (this.#closed) {
        await seat.retire();
        this.#checkOpen();
      }
    }
    this.#seats.add(seat);
    if (seat.kind === "own") this.#pools.set(id, seat.pool);
    if (seat.kind !== "shared") seat.pool.connect(seat.candidate, true);
  }

  /** Takes a provider out and waits until its runs have ended and it has stopped. `strand` gets who can be served by nobody any more. */
  async remove(id: string, strand: (waiters: readonly Waiter[], seat: Seat) => void): Promise<void> {
    const seat = this.#seats.remove(id);
    if (seat.kind === "own") this.#pools.delete(seat.id);
    // In a pool, another candidate can serve who waits. Alone, the provider finishes what it has taken.
    if (seat.kind === "catalogued") strand(seat.pool.connect(seat.candidate, false), seat);
    const retired = seat.retire();
    this.#retiring.add(retired);
    await retired;
    this.#retiring.delete(retired);
  }

  /** Sets whether a provider is connected. Answers who can be served by nobody any more, or null when nothing has changed. */
  connect(seat: Seat, connected: boolean): readonly Waiter[] | null {
    if (seat.connected === connected) return null;
    seat.connected = connected;
    seat.since = this.#clock.now();
    return seat.kind === "shared" ? [] : seat.pool.connect(seat.candidate, connected);
  }

  /** The provider, or the pool, of that name. Throws AIRLOCK_PROVIDERS_MISSING. */
  find(name: string): Found {
    const pool = this.#seats.find(name) === undefined ? this.#pools.get(name) : undefined;
    if (pool !== undefined) return { seat: null, pool };
    const seat = this.#seats.resolve(name);
    return { seat, pool: seat.pool };
  }

  /** Throws AIRLOCK_PROVIDERS_MISSING. */
  resolve(id: string): Seat {
    return this.#seats.resolve(id);
  }

  /** The newest version inside of the range; null when there is none. */
  newestWithin(id: string, range: string): Seat | null {
    return this.#seats.newestWithin(id, range) ?? null;
  }

  describe(): readonly ProviderInfo[] {
    return this.#seats.list().map((seat) => seat.describe());
  }

  list(): readonly Provider[] {
    return this.#seats.list().map(({ provider }) => provider);
  }

  stats(): Readonly<Record<string, ProviderPoolStats>> {
    return Object.fromEntries([...this.#pools].map(([name, pool]) => [name, pool.stats()]));
  }

  /** Takes nobody in any more. */
  close(): void {
    this.#closed = true;
  }

  /** Stops every provider once its runs have ended. Never rejects. */
  async retire(): Promise<void> {
    await Promise.all([...this.#retiring, ...this.#seats.list().map((seat) => seat.retire())]);
  }

  /** Whether a provider of that id gets its slots from the catalog of a pool. */
  isCatalogued(id: string): boolean {
    return this.#catalogued.has(id);
  }

  #has(id: string): boolean {
    return this.#seats.find(id)?.id === id;
  }

  #seat(provider: Provider, slots: Slots | undefined): Seat {
    const { id } = provider;
    const since = this.#clock.now();
    const catalogued = this.#catalogued.get(id);
    if (catalogued !== undefined) {
      if (slots !== undefined) throw hasSlots(id, "it stands in the catalog of a pool, add it without slots");
      return new Seat({ provider, pool: catalogued, candidate: id, kind: "catalogued", since });
    }
    if (slots !== undefined && "pool" in slots) {
      return new Seat({ provider, pool: slots.pool, candidate: slots.candidate, kind: "shared", since });
    }
    const { capacity = 1, queue } = slots ?? {};
    const candidates = [{ providerId: id, capacity }];
    const pool = new ProviderPool(resolveCatalog({ candidates, ...(queue === undefined ? {} : { queue }) }));
    return new Seat({ provider, pool, candidate: id, kind: "own", since });
  }

  #checkOpen(): void {
    if (this.#closed) throw new HostError("AIRLOCK_HOST_CLOSED", "Cannot register a provider: the host is closed");
  }
}

/** What a run may call the provider. */
function namesOf(id: string): readonly string[] {
  return [id, id.slice(0, id.lastIndexOf("@"))];
}

function taken(what: string): HostError {
  return new HostError("AIRLOCK_PROVIDERS_DUPLICATE", `Cannot register: there is ${what} already; take another name`);
}

function checkPoolName(name: unknown): void {
  if (typeof name === "string" && POOL_NAME.test(name)) return;
  const shown = typeof name === "string" ? quote(name) : `of type ${typeof name}`;
  throw new HostError(
    "AIRLOCK_PROVIDERS_CATALOG_INVALID",
    `Cannot set up the pool: its name is ${shown}; 1 to 128 letters, digits and . _ - + @ are wanted`,
  );
}

/** A candidate that nobody can ever be, because of how it is called. */
function noId(path: string, id: string): HostError {
  return new HostError(
    "AIRLOCK_PROVIDERS_CATALOG_INVALID",
    `Cannot set up the pool: ${path} is ${quote(id)}: id@version with a semantic version is wanted`,
  );
}

function hasSlots(id: string, advice: string): HostError {
  return new HostError(
    "AIRLOCK_PROVIDERS_DUPLICATE",
    `Cannot register: ${quote(id)} would have slots twice; ${advice}`,
  );
}
