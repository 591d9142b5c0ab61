import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BUCKET_GROWTH, bucketOf, FIRST_BUCKET_MS, Histogram } from "./histogram.ts";

describe("Histogram", () => {
  it("counts every latency once, in the bucket that holds it, in ascending order", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 600_000, noNaN: true })), (latencies) => {
        const histogram = new Histogram();
        for (const ms of latencies) histogram.add(ms);
        const buckets = histogram.buckets();
        expect(buckets.reduce((sum, [, calls]) => sum + calls, 0)).toBe(latencies.length);
        expect(buckets.map(([bucket]) => bucket)).toEqual([...new Set(latencies.map(bucketOf))].sort((a, b) => a - b));
      }),
    );
  });

  it("has buckets that a latency lies in, up to what a rounding makes of the edge", () => {
    fc.assert(
      fc.property(fc.double({ min: FIRST_BUCKET_MS, max: 600_000, noNaN: true }), (ms) => {
        const start = FIRST_BUCKET_MS * BUCKET_GROWTH ** bucketOf(ms);
        expect(ms).toBeGreaterThanOrEqual(start * (1 - 1e-9));
        expect(ms).toBeLessThan(start * BUCKET_GROWTH * (1 + 1e-9));
      }),
    );
  });

  it("stays small: ten minutes are bucket 212", () => {
    expect(bucketOf(600_000)).toBe(212);
    expect(bucketOf(0)).toBe(0);
  });
});
