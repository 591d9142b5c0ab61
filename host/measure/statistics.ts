/** One measure over the rounds of a bench: the median counts, `min` and `max` are its spread. */
export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  /** What each round measured, in the order of the rounds. */
  readonly rounds: readonly number[];
}

/** By how much two lists of rounds differ, and whether that may be chance. */
export interface Difference {
  /** second / first - 1 of the medians. */
  readonly change: number;
  /** See `rankSumProbability`. */
  readonly probability: number;
}

/** How often, at most, a bench of two equal packages names any difference at all. */
export const SIGNIFICANCE = 0.05;

/** The value below which a share `p` (0 to 1) lies, by nearest rank; `sorted` is ascending and not empty. */
export function percentile(sorted: readonly number[], p: number): number {
  return sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)]!;
}

/** The middle value, or the mean of the two middle ones. */
export function median(values: readonly number[]): number {
  const sorted = ascending(values);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Of at least one round. */
export function summarize(rounds: readonly number[]): Summary {
  return { median: median(rounds), min: Math.min(...rounds), max: Math.max(...rounds), rounds: [...rounds] };
}

export function ascending(values: readonly number[]): number[] {
  return [...values].sort((a, b) => a - b);
}

/** Compares the rounds of two measurements. */
export function differenceOf(first: readonly number[], second: readonly number[]): Difference {
  const [before, after] = [median(first), median(second)];
  const change = before === after ? 0 : before === 0 ? Number.MAX_VALUE : after / before - 1;
  return { change, probability: rankSumProbability(first, second) };
}

/**
 * Which of the probabilities are small enough to name their difference, by Holm's method: of a hundred measures some would pass
 * a fixed bound by chance alone, so the smallest must pass `SIGNIFICANCE` divided by their number, the next one by one less,
 * until one does not.
 */
export function certainOnes(probabilities: readonly number[]): readonly boolean[] {
  const order = probabilities.map((_, index) => index).sort((a, b) => probabilities[a]! - probabilities[b]!);
  const certain = probabilities.map(() => false);
  for (const [passed, index] of order.entries()) {
    if (probabilities[index]! > SIGNIFICANCE / (probabilities.length - passed)) break;
    certain[index] = true;
  }
  return certain;
}

/**
 * The exact two-sided Wilcoxon-Mann-Whitney test: of all ways to deal the rounds out to the two sides, the share whose sum of
 * ranks is as far from the middle as this one. It asks nothing of the distribution of the times, and one slow round weighs no
 * more than its rank. Equal values share their rank.
 */
export function rankSumProbability(first: readonly number[], second: readonly number[]): number {
  // Twice the rank, so that shared ranks are whole numbers.
  const ranks = doubledRanks([...first, ...second]);
  const total = ranks.reduce((sum, rank) => sum + rank, 0);
  const observed = ranks.slice(0, first.length).reduce((sum, rank) => sum + rank, 0);
  // ways[count][sum]: in how many ways `count` of the ranks add up to `sum`.
  const ways = Array.from({ length: first.length + 1 }, () => new Float64Array(total + 1));
  ways[0]![0] = 1;
  for (const [index, rank] of ranks.entries()) {
    for (let count = Math.min(index + 1, first.length); count > 0; count--) {
      const [from, to] = [ways[count - 1]!, ways[count]!];
      for (let sum = total; sum >= rank; sum--) to[sum] = to[sum]! + from[sum - rank]!;
    }
  }
  // Compared as |sum * n - total * count|, which is whole: the middle is total * count / n.
  const distance = (sum: number): number => Math.abs(sum * ranks.length - total * first.length);
  let [all, extreme] = [0, 0];
  for (const [sum, count] of ways[first.length]!.entries()) {
    all += count;
    if (distance(sum) >= distance(observed)) extreme += count;
  }
  return extreme / all;
}

function doubledRanks(values: readonly number[]): readonly number[] {
  const sorted = ascending(values);
  return values.map((value) => sorted.indexOf(value) + sorted.lastIndexOf(value) + 2);
}
