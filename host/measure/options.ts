import { HostError, nearest, quote } from "../errors/errors.ts";
import type { Manifest } from "../manifest/manifest.ts";
import type { Evidence } from "../providers/providers.ts";

/** A package: its folder, its capability.json, or one in memory. */
export type BenchSource = string | { readonly manifest: Manifest; readonly component: Uint8Array };

/** One input to measure with. */
export interface BenchCase {
  readonly name: string;
  /** May be left out when the capability has one. */
  readonly operation?: string;
  readonly input: unknown;
  /** How it must end; default: `succeeded` or `failed`, whichever the first call shows. */
  readonly expect?: "succeeded" | "failed";
}

/** What to measure and how long. */
export interface BenchOptions {
  readonly package: BenchSource;
  /** Another package, measured in turn with the first under the same cases. */
  readonly compare?: BenchSource;
  /** The cases; default: the examples of the manifest, else one empty input. */
  readonly cases?: readonly BenchCase[];
  /** Calls in flight, one load for each; default: 1. */
  readonly concurrency?: readonly number[];
  /** Milliseconds of each load in each round; default 1,000. */
  readonly durationMs?: number;
  /** Each on a host of its own; default 7. */
  readonly rounds?: number;
  /** Milliseconds of calls that are not counted, in each round; default 300. */
  readonly warmUpMs?: number;
  /** Also starts a process in each round and times it up to its first answer. */
  readonly cold?: boolean;
  /** Default: the host's. */
  readonly tier?: Evidence["tier"];
  /** Hears what is done. */
  readonly onProgress?: (progress: BenchProgress) => void;
  /** Ends the bench between two calls, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** How far a bench is. */
export interface BenchProgress {
  readonly done: number;
  readonly total: number;
  /** What comes next. */
  readonly text: string;
}

export interface ResolvedBench {
  readonly sources: readonly BenchSource[];
  readonly cases: readonly BenchCase[] | null;
  readonly concurrency: readonly number[];
  readonly durationMs: number;
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly cold: boolean;
  readonly onProgress: (progress: BenchProgress) => void;
  readonly signal: AbortSignal | null;
}

const FIELDS = [
  "package",
  "compare",
  "cases",
  "concurrency",
  "durationMs",
  "rounds",
  "warmUpMs",
  "cold",
  "tier",
  "onProgress",
  "signal",
];
/** Enough to name differences among 80 measures at once; see `certainOnes`. */
const DEFAULT_ROUNDS = 7;
/** The exact test over the rounds takes time that grows with their fourth power. */
const MOST_ROUNDS = 30;
const DEFAULT_DURATION_MS = 1_000;
/** Times of a load are held until it is through. */
const MOST_DURATION_MS = 60_000;
/** V8 optimizes what is hot within that. */
const DEFAULT_WARM_UP_MS = 300;
/** The host's queue holds 1,024. */
const MOST_CONCURRENCY = 1_000;
const MOST_CASES = 1_000;

/** Checks what was asked for. Throws AIRLOCK_MEASURE_OPTIONS_INVALID. */
export function resolveBench(options: BenchOptions): ResolvedBench {
  if (typeof options !== "object" || options === null) throw invalid("options", options, "an object");
  for (const key of Object.keys(options)) {
    if (FIELDS.includes(key)) continue;
    const near = nearest(key, FIELDS);
    const wanted = near === undefined ? `one of ${FIELDS.join(", ")} is wanted` : `did you mean ${quote(near)}?`;
    throw new HostError(
      "AIRLOCK_MEASURE_OPTIONS_INVALID",
      `Cannot measure: the unknown option ${quote(key)}; ${wanted}`,
    );
  }
  const { package: source, compare, cases, concurrency = [1], cold = false } = options;
  if (source === undefined) throw invalid("package", source, "a path or a package in memory");
  if (typeof cold !== "boolean") throw invalid("cold", cold, "true or false");
  return {
    sources: compare === undefined ? [source] : [source, compare],
    cases: cases === undefined ? null : checkedCases(cases),
    concurrency: checkedConcurrency(concurrency),
    durationMs: whole(options.durationMs, "durationMs", 1, MOST_DURATION_MS, DEFAULT_DURATION_MS),
    rounds: whole(options.rounds, "rounds", 1, MOST_ROUNDS, DEFAULT_ROUNDS),
    warmUpMs: whole(options.warmUpMs, "warmUpMs", 0, MOST_DURATION_MS, DEFAULT_WARM_UP_MS),
    cold,
    onProgress: options.onProgress ?? (() => {}),
    signal: options.signal ?? null,
  };
}

function checkedCases(cases: unknown): readonly BenchCase[] {
  if (!Array.isArray(cases) || cases.length === 0 || cases.length > MOST_CASES) {
    throw invalid("cases", cases, `a list of 1 to ${MOST_CASES} cases`);
  }
  const names = new Set<string>();
  for (const [index, each] of (cases as unknown[]).entries()) {
    const { name, expect } = (each ?? {}) as Partial<BenchCase>;
    if (typeof name !== "string" || name === "") throw invalid(`cases.${index}.name`, name, "a text");
    if (names.has(name)) throw invalid(`cases.${index}.name`, name, "a name that no other case has");
    if (expect !== undefined && expect !== "succeeded" && expect !== "failed") {
      throw invalid(`cases.${index}.expect`, expect, '"succeeded" or "failed"');
    }
    names.add(name);
  }
  return cases as readonly BenchCase[];
}

function checkedConcurrency(given: unknown): readonly number[] {
  if (!Array.isArray(given) || given.length === 0) throw invalid("concurrency", given, "a list of whole numbers");
  const numbers = given.map((each: unknown) => whole(each ?? null, "concurrency", 1, MOST_CONCURRENCY, 1));
  return [...new Set(numbers)].sort((a, b) => a - b);
}

function whole(value: unknown, field: string, least: number, most: number, fallback: number): number {
  if (value === undefined) return fallback;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= most) return value;
  throw invalid(field, value, `a whole number from ${least} to ${most}`);
}

function invalid(field: string, value: unknown, wanted: string): HostError {
  const object = Array.isArray(value) ? `a list of ${value.length}` : "an object";
  const shown =
    typeof value === "string" ? quote(value) : typeof value === "object" && value !== null ? object : String(value);
  return new HostError("AIRLOCK_MEASURE_OPTIONS_INVALID", `Cannot measure: ${field} is ${shown}, ${wanted} is wanted`);
}
