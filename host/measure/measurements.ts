import type { SubjectResult, Unit } from "./results.ts";
import type { Summary } from "./statistics.ts";

/** One value of a subject that another bench may have as well. */
export interface Measurement {
  readonly measure: string;
  readonly case: string | null;
  readonly concurrency: number | null;
  readonly unit: Unit;
  /** Which direction is the better one. */
  readonly better: "less" | "more";
  /** `exact` values are the same on every run; `timed` ones have a spread. */
  readonly kind: "exact" | "timed";
  /** The median of what is timed. */
  readonly value: number;
  readonly rounds: readonly number[];
}

/**
 * What of a subject can be compared. p90, p99, the slowest call and garbage collections are not among it: in seconds of calls
 * they say more of the machine than of the package, and each further measure makes it harder to name any difference.
 */
export function measurementsOf(subject: SubjectResult): readonly Measurement[] {
  const timed = (measure: string, { median, rounds }: Summary, at: Partial<Measurement> = {}): Measurement => ({
    measure,
    case: null,
    concurrency: null,
    unit: "ms",
    better: "less",
    kind: "timed",
    value: median,
    rounds,
    ...at,
  });
  const exact = (measure: string, unit: Unit, name: string, value: number): Measurement => ({
    measure,
    case: name,
    concurrency: null,
    unit,
    better: "less",
    kind: "exact",
    value,
    rounds: [value],
  });
  return [
    timed("admission", subject.admissionMs),
    timed("compile", subject.compileMs),
    timed("first call", subject.firstCallMs),
    ...(subject.coldStartMs === null ? [] : [timed("cold start", subject.coldStartMs)]),
    ...subject.cases.flatMap((each) => [
      ...(each.fuelExact ? [exact("fuel", "fuel", each.name, each.fuel)] : []),
      exact("setup fuel", "fuel", each.name, each.setupFuel),
      exact("peak memory", "bytes", each.name, each.peakMemoryBytes),
    ]),
    ...subject.loads.flatMap(({ concurrency, callsPerSecond, instantiateMs, cases }) => [
      timed("throughput", callsPerSecond, { concurrency, unit: "per-second", better: "more" }),
      timed("instantiate", instantiateMs, { concurrency }),
      ...cases.flatMap(({ name, latencyMs, guestMs }) => [
        timed("warm call p50", latencyMs.p50, { case: name, concurrency }),
        timed("guest", guestMs, { case: name, concurrency }),
      ]),
    ]),
  ];
}

/** What makes two measurements the same one. */
export function measurementKey({ measure, case: name, concurrency }: Measurement): string {
  return JSON.stringify([measure, name, concurrency]);
}
