import type { OutcomeKind } from "../errors/errors.ts";
import type { Evidence } from "../providers/providers.ts";
import type { Summary } from "./statistics.ts";

/** What a bench measured. `bench-results.schema.json` is the same as a JSON Schema. */
export interface BenchResults {
  readonly format: "airlock-bench";
  /** Grows when a field changes its meaning or goes. */
  readonly formatVersion: 1;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly elapsedMs: number;
  readonly machine: Machine;
  readonly settings: BenchSettings;
  /** The package, and the one that it was compared with. */
  readonly subjects: readonly SubjectResult[];
  /** One row for each measure that both have; null without a comparison. */
  readonly comparison: readonly ComparisonRow[] | null;
}

/** Where it was measured: times hold there only. */
export interface Machine {
  readonly node: string;
  readonly v8: string;
  readonly platform: string;
  readonly arch: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
  /** What else ran in the minute before: mean length of the run queue. */
  readonly load: number;
}

export interface BenchSettings {
  readonly rounds: number;
  readonly durationMs: number;
  readonly warmUpMs: number;
  readonly concurrency: readonly number[];
  readonly cold: boolean;
  readonly tier: Evidence["tier"];
  /** Threads of the host; calls beyond them queue. */
  readonly threads: number;
}

export interface SubjectResult {
  /** `id@version`. */
  readonly name: string;
  readonly title: string | null;
  /** The path of the package; null for one in memory. */
  readonly source: string | null;
  readonly componentSha256: string;
  /** The price list of the fuel: fuel is comparable only under the same one. */
  readonly scheduleId: string;
  /** Reading and every check, in a host without any cache; the start of the process that checks is in it. */
  readonly admissionMs: Summary;
  /** Transpiling, metering and compiling. */
  readonly compileMs: Summary;
  /** The first call on a new host: loading, instantiation and code that no tier of V8 has optimized. The first case. */
  readonly firstCallMs: Summary;
  /** From the start of a process to its first answer; null without `cold`. The first case. */
  readonly coldStartMs: Summary | null;
  readonly cases: readonly CaseResult[];
  readonly loads: readonly LoadResult[];
}

/** What one call of a case takes; the same on every machine. */
export interface CaseResult {
  readonly name: string;
  readonly operation: string;
  readonly outcome: OutcomeKind;
  /** Units of fuel of the call, without instantiation. */
  readonly fuel: number;
  /** Whether every call burnt the same; false where answers of the application's functions steer the guest. */
  readonly fuelExact: boolean;
  /** Units of fuel of the instantiation. */
  readonly setupFuel: number;
  readonly peakMemoryBytes: number;
  readonly hostCalls: number;
  readonly events: number;
}

/** Warm calls with so many in flight, through all cases in turn. */
export interface LoadResult {
  readonly concurrency: number;
  readonly calls: number;
  readonly callsPerSecond: Summary;
  readonly eventsPerSecond: Summary;
  /** From the moment when a thread takes a call up until the guest is entered: the median over all cases. */
  readonly instantiateMs: Summary;
  readonly gc: { readonly main: GcPauses; readonly threads: GcPauses };
  readonly cases: readonly CaseLoad[];
}

/** Garbage collections of V8 during all rounds together. */
export interface GcPauses {
  readonly pauses: number;
  readonly totalMs: number;
}

/** One case under a load. What the caller waits for is `latencyMs`; the others are the median parts of it. */
export interface CaseLoad {
  readonly name: string;
  readonly calls: number;
  readonly latencyMs: { readonly p50: Summary; readonly p90: Summary; readonly p99: Summary; readonly max: Summary };
  readonly queueMs: Summary;
  readonly instantiateMs: Summary;
  readonly guestMs: Summary;
  /** Time inside host calls. */
  readonly hostMs: Summary;
  /** Of all rounds: number of the bucket and calls. Bucket `n` begins at 0.001 ms times 1.1 to the power of `n`. */
  readonly histogram: readonly (readonly [number, number])[];
}

/** How the second package does against the first. `same` and exact: equal; `unclear`: no difference that the spread allows to name. */
export type Verdict = "better" | "worse" | "same" | "unclear";

export interface ComparisonRow {
  readonly measure: string;
  readonly case: string | null;
  readonly concurrency: number | null;
  readonly unit: Unit;
  readonly first: number;
  readonly second: number;
  /** second / first - 1. */
  readonly change: number;
  /** Of the rank-sum test over the rounds; null where the value is exact. A verdict takes all rows into account. */
  readonly probability: number | null;
  readonly verdict: Verdict;
}

export type Unit = "ms" | "per-second" | "fuel" | "bytes";
