import type { Artifact } from "./artifact.ts";

/** Counters of the artifact cache since the host started. */
export interface CacheStats {
  readonly entries: number;
  readonly hits: number;
  readonly misses: number;
  readonly evictions: number;
}

/** The artifacts used last, by key; the one unused longest goes first. */
export class ArtifactCache {
  readonly #bound: number;
  readonly #entries = new Map<string, Artifact>();
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
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#bound) return;
      this.#entries.delete(oldest);
      this.#evictions++;
    }
  }

  stats(): CacheStats {
    return { entries: this.#entries.size, hits: this.#hits, misses: this.#misses, evictions: this.#evictions };
  }
}
