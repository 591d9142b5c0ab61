/**
 * The benchmark harness for capabilities. In: what makes hosts, one package or two, cases, loads. Out: `BenchResults`, the guard's
 * verdict against earlier ones, a page with plots. Holds always: fuel and memory are exact, times are medians over rounds with
 * their spread, and a difference is named only when the spread allows it. Not promised: that a time holds on another machine.
 */
export { readBaseline, resultsProblem } from "./baseline.ts";
export { bench } from "./bench.ts";
export { readCases } from "./cases.ts";
export { type GuardReport, guard } from "./guard.ts";
export type { BenchGround, ColdJob, ColdStart, MeasuredHost, MeasuredInstall } from "./measured-host.ts";
export type { BenchCase, BenchOptions, BenchProgress, BenchSource } from "./options.ts";
export { reportPage } from "./report.ts";
export type {
  BenchResults,
  BenchSettings,
  CaseLoad,
  CaseResult,
  ComparisonRow,
  GcPauses,
  LoadResult,
  Machine,
  SubjectResult,
  Unit,
  Verdict,
} from "./results.ts";
export { RESULTS_SCHEMA } from "./results-schema.ts";
export type { Summary } from "./statistics.ts";
