import type { Artifact } from "./artifact.ts";

/** Counters of the artifact cache since the host started. */
export interface CacheStats {
  readonly entries: number;
  readonly hits: number;
  readonly misses: number;
  readonly evictions: number;
  /** Artifacts that exist in this thread: those kept, and those that were given up but not collected yet. */
  readonly artifactsInMemory: number;
}

/** The artifacts used last, by key; the one unused longest goes first. */
export class ArtifactCache {
  readonly #bound: number;
  readonly #entries = new Map<string, Artifact>();
  /** All that were ever kept, as long as anybody holds them. */
  readonly #alive = new Set<WeakRef<Artifact>>();
  #hits = 0;
  #misses = 0;
  #evictions = 0;

  constructor(bound: number) {
    this.#bound = bound;
  }

  get(key: string): Artifact | undefined {
    const found = this.#entries.get(key);
    if (found === undefined) {
      this.#misses++;
      return undefined;
    }
    this.#hits++;
    this.#entries.delete(key);
    this.#entries.set(key, found);
    return found;
  }

  set(artifact: Artifact): void {
    this.#entries.set(artifact.key, artifact);
    this.#forgetCollected();
    this.#alive.add(new WeakRef(artifact));
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#bound) return;
      this.#entries.delete(oldest);
      this.#evictions++;
    }
  }

  stats(): CacheStats {
    this.#forgetCollected();
    return {
      entries: this.#entries.size,
      hits: this.#hits,
      misses: this.#misses,
      evictions: this.#evictions,
      artifactsInMemory: this.#alive.size,
    };
  }

  #forgetCollected(): void {
    for (const each of this.#alive) if (each.deref() === undefined) this.#alive.delete(each);
  }
}
