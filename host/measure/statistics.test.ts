import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ascending,
  certainOnes,
  differenceOf,
  median,
  percentile,
  rankSumProbability,
  summarize,
} from "./statistics.ts";

const times = fc.array(fc.double({ min: 0.001, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 60 });
const few = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 5 });

describe("percentile()", () => {
  it("is a value of the list, with at least that share at or below it and no smaller one with as much", () => {
    fc.assert(
      fc.property(times, fc.double({ min: 0, max: 1, noNaN: true }), (values, p) => {
        const sorted = ascending(values);
        const found = percentile(sorted, p);
        const share = (bound: (value: number) => boolean): number => sorted.filter(bound).length / sorted.length;
        expect(sorted).toContain(found);
        expect(share((value) => value <= found)).toBeGreaterThanOrEqual(p - 1e-12);
        if (found !== sorted[0]) expect(share((value) => value < found)).toBeLessThan(p + 1e-12);
      }),
    );
  });

  it("never falls when the share grows, and ends at the largest", () => {
    fc.assert(
      fc.property(times, (values) => {
        const sorted = ascending(values);
        const found = [0, 0.5, 0.9, 0.99, 1].map((p) => percentile(sorted, p));
        expect(found).toEqual(ascending(found));
        expect(found.at(-1)).toBe(Math.max(...values));
      }),
    );
  });
});

describe("median() and summarize()", () => {
  it("lie between the lowest and the highest round, whatever the order", () => {
    fc.assert(
      fc.property(times, (values) => {
        const { median: middle, min, max, rounds } = summarize(values);
        expect(min <= middle && middle <= max).toBe(true);
        expect(rounds).toEqual(values);
        expect(median(values.toReversed())).toBe(middle);
      }),
    );
  });

  it("takes the mean of the two middle values of an even number", () => {
    expect(median([4, 1, 3, 2])).toBe(2.5);
  });
});

describe("rankSumProbability()", () => {
  it("is what counting all ways to deal out the values gives", () => {
    fc.assert(
      fc.property(few, few, (first, second) => {
        expect(rankSumProbability(first, second)).toBeCloseTo(countedProbability(first, second), 12);
      }),
    );
  });

  it("is the same in both directions, and on any scale", () => {
    fc.assert(
      fc.property(few, few, (first, second) => {
        const probability = rankSumProbability(first, second);
        expect(rankSumProbability(second, first)).toBeCloseTo(probability, 12);
        const scaled = (values: readonly number[]) => values.map((value) => 3 * value + 7);
        expect(rankSumProbability(scaled(first), scaled(second))).toBe(probability);
      }),
    );
  });

  it.each([
    [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10], 2 / 252],
    [[1, 2, 3], [4, 5, 6], 2 / 20],
    [[1, 1, 1], [1, 1, 1], 1],
    [[1, 2, 3, 4, 6], [5, 7, 8, 9, 10], 4 / 252],
  ])("of %j and %j is %d", (first, second, probability) => {
    expect(rankSumProbability(first, second)).toBeCloseTo(probability, 12);
  });
});

describe("differenceOf()", () => {
  it("compares the medians; the other way round it is the reciprocal", () => {
    const near = fc.array(fc.double({ min: 1, max: 1_000, noNaN: true }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(near, near, (first, second) => {
        const there = differenceOf(first, second);
        const back = differenceOf(second, first);
        expect((1 + there.change) * (1 + back.change)).toBeCloseTo(1, 9);
        expect(there.probability).toBeCloseTo(back.probability, 9);
      }),
      { numRuns: 30 },
    );
  });

  it("has no change where both are zero", () => {
    expect(differenceOf([0, 0], [0, 0]).change).toBe(0);
  });
});

describe("certainOnes()", () => {
  it.each([
    [[0.01], [true]],
    [[0.06], [false]],
    [
      [0.01, 0.03, 0.04],
      [true, false, false],
    ],
    [
      [0.04, 0.001, 0.02],
      [true, true, true],
    ],
    [[], []],
  ])("of %j is %j", (probabilities, certain) => {
    expect(certainOnes(probabilities)).toEqual(certain);
  });

  it("names nothing that a smaller probability does not get named, in any order", () => {
    const some = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 40 });
    fc.assert(
      fc.property(some, (probabilities) => {
        const certain = certainOnes(probabilities);
        const most = Math.max(0, ...probabilities.filter((_, index) => certain[index]));
        for (const [index, each] of probabilities.entries()) if (each < most) expect(certain[index]).toBe(true);
      }),
    );
  });
});

/** By the definition: all subsets, their sums of ranks. */
function countedProbability(first: readonly number[], second: readonly number[]): number {
  const all = [...first, ...second];
  const sorted = ascending(all);
  const ranks = all.map((value) => (sorted.indexOf(value) + sorted.lastIndexOf(value)) / 2);
  const middle = (ranks.reduce((sum, rank) => sum + rank, 0) * first.length) / all.length;
  const observed = Math.abs(ranks.slice(0, first.length).reduce((sum, rank) => sum + rank, 0) - middle);
  let [ways, extreme] = [0, 0];
  for (let subset = 0; subset < 2 ** all.length; subset++) {
    const chosen = ranks.filter((_, index) => (subset >> index) & 1);
    if (chosen.length !== first.length) continue;
    ways++;
    if (Math.abs(chosen.reduce((sum, rank) => sum + rank, 0) - middle) >= observed - 1e-9) extreme++;
  }
  return extreme / ways;
}
