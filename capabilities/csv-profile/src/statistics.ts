/** Numbers of a column in short. */
export interface NumberSummary {
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly quantiles: {
    readonly p5: number;
    readonly p25: number;
    readonly p50: number;
    readonly p75: number;
    readonly p95: number;
  };
}

/** Values far outside of the middle half. */
export interface Outliers {
  readonly count: number;
  readonly below: number;
  readonly above: number;
}

/** `sorted` is ascending and not empty. Quantiles interpolate between the two nearest values (R's type 7). */
export function summarize(sorted: Float64Array): NumberSummary {
  let sum = 0;
  for (let i = 0; i < sorted.length; i++) sum += sorted[i]!;
  return {
    min: sorted[0]!,
    max: sorted[sorted.length - 1]!,
    mean: tidy(sum / sorted.length),
    quantiles: {
      p5: quantile(sorted, 0.05),
      p25: quantile(sorted, 0.25),
      p50: quantile(sorted, 0.5),
      p75: quantile(sorted, 0.75),
      p95: quantile(sorted, 0.95),
    },
  };
}

/** Values more than `factor` interquartile ranges outside of the quartiles, or null when there are none. */
export function outliersOf(sorted: Float64Array, factor: number): Outliers | null {
  const lower = quantile(sorted, 0.25);
  const upper = quantile(sorted, 0.75);
  const range = upper - lower;
  // When half of the values are one and the same, any other value would be an outlier.
  if (!(range > 0)) return null;
  const below = lower - factor * range;
  const above = upper + factor * range;
  let count = 0;
  for (let i = 0; i < sorted.length && sorted[i]! < below; i++) count++;
  for (let i = sorted.length - 1; i >= 0 && sorted[i]! > above; i--) count++;
  return count === 0 ? null : { count, below: tidy(below), above: tidy(above) };
}

function quantile(sorted: Float64Array, share: number): number {
  const position = (sorted.length - 1) * share;
  const index = Math.floor(position);
  const low = sorted[index]!;
  const high = sorted[Math.min(index + 1, sorted.length - 1)]!;
  return tidy(low + (high - low) * (position - index));
}

/** Without the noise of binary fractions: twelve significant digits. */
function tidy(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(12));
}
