/** How wide a bucket is: its end by its start. */
export const BUCKET_GROWTH = 1.1;
/** Where bucket 0 starts; what is shorter counts there. */
export const FIRST_BUCKET_MS = 0.001;

/** Latencies in buckets that grow by a tenth: at most some 300 of them, however many calls there were. */
export class Histogram {
  readonly #counts = new Map<number, number>();

  add(ms: number): void {
    const bucket = bucketOf(ms);
    this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + 1);
  }

  /** Buckets that hold something, ascending: number of the bucket, calls. */
  buckets(): readonly (readonly [number, number])[] {
    return [...this.#counts].sort(([a], [b]) => a - b);
  }
}

/** The bucket of a latency: bucket `n` begins at `FIRST_BUCKET_MS * BUCKET_GROWTH ** n`. */
export function bucketOf(ms: number): number {
  return Math.max(0, Math.floor(Math.log(ms / FIRST_BUCKET_MS) / Math.log(BUCKET_GROWTH)));
}
