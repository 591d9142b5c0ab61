import { HostError } from "../errors/errors.ts";
import { comparisonRow, type Pair, pairsOf } from "./comparison.ts";
import { measurementKey, measurementsOf } from "./measurements.ts";
import type { BenchResults, ComparisonRow, SubjectResult } from "./results.ts";

/** How results stand against earlier ones. */
export interface GuardReport {
  /** Whether nothing got worse. */
  readonly ok: boolean;
  /** What got worse by more than the allowance; fuel at all. The verdict of each is `worse`. */
  readonly worse: readonly ComparisonRow[];
  /** What got worse by more than the allowance in its median, but within the spread of the rounds. Fails nothing. */
  readonly unclear: readonly ComparisonRow[];
  /** What got better by more than the allowance; fuel at all. */
  readonly better: readonly ComparisonRow[];
  /** Number of measures that both have. */
  readonly compared: number;
  /** Why the comparison holds less than it seems, one line each. */
  readonly warnings: readonly string[];
}

/** From this many rounds on both sides the spread has a say; of fewer, the medians alone decide. */
const ROUNDS_WITH_SPREAD = 5;
/** One row by itself, because the allowance already leaves out what is small. Five rounds reach it when they do not overlap. */
const SIGNIFICANCE_OF_ROW = 0.01;

/**
 * Holds the first package of `results` against that of `baseline`. What is timed got worse when its median is past the allowance
 * (0.15: by more than 15 %) and the spread of the rounds allows to say so; memory when it is past the allowance; fuel, which
 * is exact, when it is one unit more. Throws AIRLOCK_MEASURE_BASELINE_INVALID when they have nothing in common.
 */
export function guard(results: BenchResults, baseline: BenchResults, allowance: number): GuardReport {
  const [before, now] = [baseline.subjects[0]!, results.subjects[0]!];
  const pairs = pairsOf(before, now);
  if (!pairs.some(({ first }) => first.case !== null)) {
    throw new HostError(
      "AIRLOCK_MEASURE_BASELINE_INVALID",
      "The baseline has no case in common with these results: the same --cases or --input as then is wanted",
    );
  }
  const found: Record<"worse" | "unclear" | "better", ComparisonRow[]> = { worse: [], unclear: [], better: [] };
  for (const pair of pairs) {
    const row = comparisonRow(pair, isCertain(pair));
    const least = pair.first.unit === "fuel" ? 0 : allowance;
    // The same factor in both directions: throughput that falls to 1 / 1.15 is 15 % slower.
    const factor = pair.first.better === "less" ? 1 + row.change : 1 / (1 + row.change);
    if (factor > 1 + least) found[row.verdict === "worse" ? "worse" : "unclear"].push(row);
    else if (1 / factor > 1 + least && row.verdict === "better") found.better.push(row);
  }
  return { ok: found.worse.length === 0, ...found, compared: pairs.length, warnings: warningsOf(results, baseline) };
}

function isCertain({ first, second, difference }: Pair): boolean {
  const rounds = Math.min(first.rounds.length, second.rounds.length);
  return rounds < ROUNDS_WITH_SPREAD || difference.probability <= SIGNIFICANCE_OF_ROW;
}

function warningsOf(results: BenchResults, baseline: BenchResults): readonly string[] {
  const [before, now] = [baseline.subjects[0]!, results.subjects[0]!];
  const warnings: string[] = [];
  const differs = (what: string, then: unknown, today: unknown, so: string): void => {
    if (then !== today) warnings.push(`${what} was ${then} and is ${today}: ${so}`);
  };
  const times = "times do not compare, fuel and memory do";
  differs("the capability", nameOf(before), nameOf(now), "is this the right baseline?");
  differs("the fuel schedule", before.scheduleId, now.scheduleId, "fuel does not compare and was left out");
  for (const field of ["cpu", "cores", "arch", "platform"] as const) {
    differs(`the machine's ${field}`, baseline.machine[field], results.machine[field], times);
  }
  differs("Node", baseline.machine.node, results.machine.node, times);
  for (const field of ["tier", "threads", "durationMs"] as const) {
    differs(
      `the setting ${field}`,
      baseline.settings[field],
      results.settings[field],
      "times may differ for that alone",
    );
  }
  const rounds = Math.min(baseline.settings.rounds, results.settings.rounds);
  if (rounds < ROUNDS_WITH_SPREAD) {
    warnings.push(
      `${rounds} rounds say nothing of the spread: the medians alone decide, ${ROUNDS_WITH_SPREAD} are wanted`,
    );
  }
  const missing = missingFrom(before, now);
  if (missing > 0) warnings.push(`${missing} measures of the baseline were not measured now and are not compared`);
  return warnings;
}

/** Without the version, which is expected to change. */
function nameOf({ name }: SubjectResult): string {
  return name.replace(/@[^@]*$/, "");
}

function missingFrom(before: SubjectResult, now: SubjectResult): number {
  const known = new Set(measurementsOf(now).map(measurementKey));
  return measurementsOf(before).filter((each) => !known.has(measurementKey(each))).length;
}
