import { type Measurement, measurementKey, measurementsOf } from "./measurements.ts";
import type { ComparisonRow, SubjectResult, Verdict } from "./results.ts";
import { differenceOf } from "./statistics.ts";

/** How the second subject does against the first, for each measure that both have. Fuel under two price lists is left out. */
export function compareSubjects(first: SubjectResult, second: SubjectResult): readonly ComparisonRow[] {
  const others = new Map(measurementsOf(second).map((each) => [measurementKey(each), each]));
  return measurementsOf(first).flatMap((each) => {
    const other = others.get(measurementKey(each));
    if (other === undefined || (each.unit === "fuel" && first.scheduleId !== second.scheduleId)) return [];
    return [compareMeasurements(each, other)];
  });
}

/** One row: `first` is what `second` is held against. */
export function compareMeasurements(first: Measurement, second: Measurement): ComparisonRow {
  const { measure, case: name, concurrency, unit } = first;
  const { change, probability, certain } = differenceOf(first.rounds, second.rounds);
  const exact = first.kind === "exact";
  const verdict: Verdict =
    exact && change === 0
      ? "same"
      : exact || certain
        ? change < 0 === (first.better === "less")
          ? "better"
          : "worse"
        : "unclear";
  return {
    measure,
    case: name,
    concurrency,
    unit,
    first: first.value,
    second: second.value,
    change,
    probability: exact ? null : probability,
    verdict,
  };
}
