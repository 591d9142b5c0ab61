import { type Measurement, measurementKey, measurementsOf } from "./measurements.ts";
import type { ComparisonRow, SubjectResult, Verdict } from "./results.ts";
import { certainOnes, type Difference, differenceOf } from "./statistics.ts";

/** A measure that two benches or two packages have, and how they differ. */
export interface Pair {
  readonly first: Measurement;
  readonly second: Measurement;
  readonly difference: Difference;
}

/** How the second subject does against the first, for each measure that both have. Fuel under two price lists is left out. */
export function compareSubjects(first: SubjectResult, second: SubjectResult): readonly ComparisonRow[] {
  const pairs = pairsOf(first, second);
  const timed = pairs.filter((pair) => pair.first.kind === "timed");
  const certain = certainOnes(timed.map(({ difference }) => difference.probability));
  const named = new Set(timed.filter((_, index) => certain[index]));
  return pairs.map((pair) => comparisonRow(pair, named.has(pair)));
}

/** The measures that both subjects have. */
export function pairsOf(first: SubjectResult, second: SubjectResult): readonly Pair[] {
  const others = new Map(measurementsOf(second).map((each) => [measurementKey(each), each]));
  return measurementsOf(first).flatMap((each) => {
    const other = others.get(measurementKey(each));
    if (other === undefined || (each.unit === "fuel" && first.scheduleId !== second.scheduleId)) return [];
    return [{ first: each, second: other, difference: differenceOf(each.rounds, other.rounds) }];
  });
}

/** `certain`: whether the spread allows to name the difference of what is timed. */
export function comparisonRow({ first, second, difference }: Pair, certain: boolean): ComparisonRow {
  const { measure, case: name, concurrency, unit, kind } = first;
  return {
    measure,
    case: name,
    concurrency,
    unit,
    first: first.value,
    second: second.value,
    change: difference.change,
    probability: kind === "exact" ? null : difference.probability,
    verdict: verdictOf(first, difference.change, certain),
  };
}

function verdictOf({ kind, better }: Measurement, change: number, certain: boolean): Verdict {
  if (kind === "exact" && change === 0) return "same";
  if (change === 0 || (kind === "timed" && !certain)) return "unclear";
  return change < 0 === (better === "less") ? "better" : "worse";
}
