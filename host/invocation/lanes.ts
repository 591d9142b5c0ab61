import type { Deployable, Pool, PoolStats } from "../pool/pool.ts";
import type { ProviderPool, ProviderPoolStats } from "../providers/providers.ts";

/** How deep calls of capabilities by capabilities may nest. Each level has threads of its own once it is used. */
export const DEEPEST = 4;

/** The threads of the runs of one depth, and the slots in front of them. */
export interface Lane {
  readonly pool: Pool;
  readonly slots: ProviderPool;
}

/** Numbers of a lane. */
export interface LaneStats {
  readonly pool: PoolStats;
  readonly slots: ProviderPoolStats;
}

/**
 * A lane for each depth of nesting, made when the first run of that depth comes. A run that waits for a nested one holds a thread and a slot
 * of its own lane, and needs one of the next: what waits, waits for a deeper lane, and the deepest waits for none. So no cycle of
 * waiting can come about, however many call.
 */
export class Lanes {
  readonly #open: () => Lane;
  readonly #lanes: Lane[] = [];
  readonly #deployments = new Map<string, Deployable>();

  /** The lane of depth 0 is opened at once. */
  constructor(open: () => Lane) {
    this.#open = open;
    this.at(0);
  }

  /** The lane of a depth, 0 for the runs that the application asks for. */
  at(depth: number): Lane {
    while (this.#lanes.length <= depth) {
      const lane = this.#open();
      for (const deployment of this.#deployments.values()) lane.pool.deploy(deployment);
      this.#lanes.push(lane);
    }
    return this.#lanes[depth]!;
  }

  deploy(deployment: Deployable): void {
    this.#deployments.set(deployment.key, deployment);
    for (const { pool } of this.#lanes) pool.deploy(deployment);
  }

  undeploy(key: string): void {
    this.#deployments.delete(key);
    for (const { pool } of this.#lanes) pool.undeploy(key);
  }

  /** Of the lanes that there are, by depth. */
  stats(): readonly LaneStats[] {
    return this.#lanes.map(({ pool, slots }) => ({ pool: pool.stats(), slots: slots.stats() }));
  }

  /** Ends all threads. No run may be left. */
  async close(): Promise<void> {
    await Promise.all(this.#lanes.map(({ pool }) => pool.close()));
  }
}
