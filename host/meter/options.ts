import type { Schedule } from "./schedule.ts";
import { checkSchedule, SCHEDULE } from "./schedule.ts";

/** How complex a module may be. Compile time grows faster than size: a 4 MB body of 1,000 locals takes V8 19 s. */
export interface ComplexityCaps {
  /** Bytes of one function body. */
  readonly bodyBytes: number;
  /** Locals of one function, parameters included. */
  readonly locals: number;
  /** Blocks within blocks. */
  readonly nesting: number;
  /** Functions that the module defines. */
  readonly functions: number;
  /** Memories, imported ones included: each reserves address space, of which a process has some thousands of times 10 GiB. */
  readonly memories: number;
  /** Targets of one `br_table`. */
  readonly branchTargets: number;
  /** Results of one function, results or parameters of one block, values of one exception: all are moved for one price. */
  readonly results: number;
}

/** Passed by the cores of QuickJS and StarlingMonkey. */
export const CAPS: ComplexityCaps = Object.freeze({
  bodyBytes: 512 * 1024,
  locals: 2_000,
  nesting: 1_000,
  functions: 100_000,
  memories: 16,
  branchTargets: 8_192,
  results: 16,
});

/** The engine's own limits, where it has one. */
const HIGHEST_CAPS: ComplexityCaps = {
  bodyBytes: 7_654_321,
  locals: 49_999,
  nesting: 100_000,
  functions: 1_000_000,
  memories: 100_000,
  branchTargets: 65_520,
  results: 1_000,
};

/** What `meter` may be told. None of it is a limit of a run: those are counters that the host sets. */
export interface MeterOptions {
  /** The prices; default `SCHEDULE`. */
  readonly schedule?: Schedule;
  /**
   * Count frames as well; default false. Each frame takes 8 slots and one for each parameter, each local and each operand
   * of the highest stack of operands that its function has, from the counter `depth` and gives them back when it ends;
   * one that makes `depth` negative traps before it does anything. A local of the type `v128` takes two slots, and so
   * does every operand of a function that has vectors.
   */
  readonly callDepth?: boolean;
  /**
   * Make every NaN that arithmetic or the host gives canonical, so that a guest that looks at its bits sees the same on
   * each of the engine's compilers; default false. Fuel is the same with it and without. A NaN that is only moved
   * keeps its bits, except where it passes an import's result or an export's parameter. Bits that the host itself
   * writes (into a memory, a global) and floats with which it calls through a table are as it gives them.
   */
  readonly canonicalNan?: boolean;
  /**
   * Turn the module's own memory into the import `$airlock` / `memory`, so that the host makes or pools it; default
   * false. Its limits are those in the report. No effect unless the module defines one memory, of 32 bits, and imports none.
   */
  readonly importMemory?: boolean;
  /**
   * Exceptions may pass through this module on their way to another one that catches them; default false. Fuel is then
   * exact in the catching module too, as it always is in a module that has exceptions itself (the report says so).
   */
  readonly unwinds?: boolean;
  /**
   * Export each mutable global that the module defines as `$airlock:global:<index>`, so that the host can put an instance
   * back to where it was; default false. No effect on a module that does more than that could undo (`report.reset`).
   */
  readonly resettable?: boolean;
  /**
   * Tell a `FuelProfiler` where each function begins and ends; default false. Fuel is the same with it and without, but each
   * call takes some 70 ns more. No effect on a module that defines no function.
   */
  readonly profile?: boolean;
  /**
   * Trap a growth that fails instead of answering -1, whether it met our limit or the module's own maximum; default false. What was
   * in its way is in the counter `refused`.
   */
  readonly trapOnRefusedGrowth?: boolean;
  /** Highest maximum, in pages of 64 KiB, of a memory that the module defines; default 16,384 (1 GiB). */
  readonly memoryMaxPages?: number;
  /** Highest maximum of a table that the module defines; default 1,000,000. */
  readonly tableMaxElements?: number;
  /** Complexity caps that differ from `CAPS`. */
  readonly caps?: Partial<ComplexityCaps>;
}

/** `MeterOptions` with every default filled in. */
export interface ResolvedOptions {
  readonly schedule: Schedule;
  readonly callDepth: boolean;
  readonly canonicalNan: boolean;
  readonly importMemory: boolean;
  readonly unwinds: boolean;
  readonly resettable: boolean;
  readonly profile: boolean;
  readonly trapOnRefusedGrowth: boolean;
  readonly memoryMaxPages: number;
  readonly tableMaxElements: number;
  readonly caps: ComplexityCaps;
}

/** 1 GiB: more than a run's cap on memory, little enough that a clamped maximum reserves no absurd address space. */
const MEMORY_MAX_PAGES = 16_384;
/** The cap on a run's table elements. */
const TABLE_MAX_ELEMENTS = 1_000_000;

/** Throws a `RangeError` for a value that is not what its option wants, or for an option that does not exist. */
export function resolveOptions(options: MeterOptions): ResolvedOptions {
  const resolved: ResolvedOptions = {
    schedule: options.schedule ?? SCHEDULE,
    callDepth: options.callDepth ?? false,
    canonicalNan: options.canonicalNan ?? false,
    importMemory: options.importMemory ?? false,
    unwinds: options.unwinds ?? false,
    resettable: options.resettable ?? false,
    profile: options.profile ?? false,
    trapOnRefusedGrowth: options.trapOnRefusedGrowth ?? false,
    memoryMaxPages: options.memoryMaxPages ?? MEMORY_MAX_PAGES,
    tableMaxElements: options.tableMaxElements ?? TABLE_MAX_ELEMENTS,
    caps: { ...CAPS, ...options.caps },
  };
  checkKeys("option", options, resolved);
  checkKeys("cap", resolved.caps, CAPS);
  checkSchedule(resolved.schedule);
  checkInteger("memoryMaxPages", resolved.memoryMaxPages, 65_536);
  checkInteger("tableMaxElements", resolved.tableMaxElements, 10_000_000);
  for (const cap of Object.keys(CAPS) as (keyof ComplexityCaps)[]) {
    checkInteger(`caps.${cap}`, resolved.caps[cap], HIGHEST_CAPS[cap]);
  }
  return resolved;
}

function checkKeys(what: string, given: object, known: object): void {
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(known, key));
  if (unknown !== undefined) throw new RangeError(`Cannot meter: ${JSON.stringify(unknown)} is not a known ${what}`);
}

function checkInteger(name: string, value: number, highest: number): void {
  if (Number.isInteger(value) && value >= 0 && value <= highest) return;
  throw new RangeError(`Cannot meter: ${name} is ${String(value)}, wanted an integer from 0 to ${highest}`);
}
