import { channel } from "node:diagnostics_channel";
import semver from "semver";
import { HostError, messageOf, quote } from "../errors/errors.ts";
import type { Provider } from "./provider.ts";
import type { ProviderPool } from "./provider-pool.ts";

const failures = channel("airlock:providers:stop-failed");

/** A provider as it is now. */
export interface ProviderInfo {
  /** `id@version`. */
  readonly id: string;
  /** What can be asked of it, where it says so. */
  readonly operations: readonly string[];
  readonly connected: boolean;
  /** Since when it is so, in milliseconds since the epoch. */
  readonly since: number;
  /** Its runs that hold a slot now. */
  readonly inFlight: number;
  /** Slots, which it may share with others. */
  readonly capacity: number;
}

/** What a seat is made of. */
export interface SeatInit {
  readonly provider: Provider;
  readonly pool: ProviderPool;
  readonly candidate: string;
  readonly kind: Seat["kind"];
  readonly since: number;
}

/** A registered provider: its slots, its connection, its life. */
export class Seat {
  /** Of the provider. */
  readonly id: string;
  readonly provider: Provider;
  readonly pool: ProviderPool;
  /** The candidate of the pool whose slots the runs take. */
  readonly candidate: string;
  /** Whose the slots are: the provider's own, those that a catalog gives it, or those of somebody else which it shares. */
  readonly kind: "own" | "catalogued" | "shared";
  connected = true;
  /** Since when it is connected, or is not, in milliseconds since the epoch. */
  since: number;
  /** Runs of the provider that hold a slot. */
  inFlight = 0;
  #runs = 0;
  #idle: (() => void) | null = null;

  constructor({ provider, pool, candidate, kind, since }: SeatInit) {
    this.id = provider.id;
    this.provider = provider;
    this.pool = pool;
    this.candidate = candidate;
    this.kind = kind;
    this.since = since;
  }

  describe(): ProviderInfo {
    const { id, provider, connected, since, inFlight, pool, candidate } = this;
    const { capacity } = pool.slotsOf(candidate);
    return { id, operations: provider.operations ?? [], connected, since, inFlight, capacity };
  }

  /** A run is the provider's, until `left`. */
  took(): void {
    this.#runs++;
  }

  left(): void {
    this.#runs--;
    if (this.#runs === 0) this.#idle?.();
  }

  /** Waits for the provider's runs and stops it. Never rejects: what `stop` throws goes to the diagnostics channel. */
  async retire(): Promise<void> {
    if (this.#runs > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
    }
    try {
      await this.provider.lifecycle?.stop?.();
    } catch (error) {
      failures.publish({ error, providerId: this.id });
    }
  }
}

/** Whether a provider can have this id: `id@version`. */
export function isProviderId(id: unknown): id is string {
  const at = typeof id === "string" ? id.lastIndexOf("@") : -1;
  return typeof id === "string" && at > 0 && semver.valid(id.slice(at + 1)) === id.slice(at + 1);
}

/** Throws AIRLOCK_PROVIDERS_DEFINITION_INVALID for an id that is not `id@version`. */
export function checkProviderId(id: unknown): void {
  if (isProviderId(id)) return;
  const shown = typeof id === "string" ? quote(id) : `of type ${typeof id}`;
  throw new HostError(
    "AIRLOCK_PROVIDERS_DEFINITION_INVALID",
    `Cannot register the provider: its id is ${shown}, id@version with a semantic version is wanted`,
  );
}

/** Starts a provider that wants to be. Throws AIRLOCK_PROVIDERS_START_FAILED. */
export async function startProvider({ id, lifecycle }: Provider): Promise<void> {
  try {
    await lifecycle?.start?.();
  } catch (error) {
    throw new HostError(
      "AIRLOCK_PROVIDERS_START_FAILED",
      `Cannot start the provider ${quote(id)}: ${messageOf(error)}`,
      {
        cause: error,
      },
    );
  }
}
