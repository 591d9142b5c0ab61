/**
 * The meter. In: a core Wasm module, of anyone. Out: the same module with fuel counted in it, and a report. Holds always:
 * fuel used is a function of the executed path alone; nothing that is not metered passes; the output validates; the same
 * bytes and options give the same output. Not promised: usage after a trap, where the charges of stretches without
 * calls that were not stored yet are lost, those of a function charged at entry are there in full, and what calls under way
 * held for unwinding (`Schedule.unwind`) is not given back; sameness of runs that branch on the bits of a NaN, unless
 * `canonicalNan` is set.
 */
import { MalformedWasm } from "../binary/binary.ts";
import type { HostError } from "../errors/errors.ts";
import { assemble } from "./assemble.ts";
import { type Costs, unfoldCosts } from "./costs.ts";
import { explainInvalid, malformedAt } from "./diagnosis.ts";
import { engine } from "./engine.ts";
import { scanExact } from "./exact-scan.ts";
import { type FunctionReport, reportFunctions } from "./explain.ts";
import { layOut } from "./layout.ts";
import { type CoreModule, decodeModule } from "./module.ts";
import { type MeterOptions, type ResolvedOptions, resolveOptions } from "./options.ts";
import type { Plan } from "./plan.ts";
import { tooComplex } from "./refusal.ts";
import { type MeterReport, reportOn } from "./report.ts";
import { scanModule } from "./scan.ts";

export { FRAME_SLOTS } from "./body-writer.ts";
export {
  type Budget,
  COUNTER_MODULE,
  COUNTER_NAMES,
  COUNTER_TYPES,
  type CounterName,
  type Counters,
  createCounters,
  EXHAUSTED,
  MEMORY_IMPORT,
  REFUSED,
} from "./counters.ts";
export type { WasmGlobal } from "./engine.ts";
export type { FunctionMode, FunctionReport } from "./explain.ts";
export { CAPS, type ComplexityCaps, type MeterOptions } from "./options.ts";
export type { MeterErrorDetails } from "./refusal.ts";
export type { AddedImport, MemoryReport, MeterReport, TableReport } from "./report.ts";
export { METER_VERSION, SCHEDULE, type Schedule, scheduleId } from "./schedule.ts";

/** A metered module: `bytes` is a buffer of its own. */
export interface Metered {
  readonly bytes: Uint8Array;
  readonly report: MeterReport;
}

/** A metered module that can be asked what was done to each function that it defines, by index. That takes time of its own. */
export interface Explained extends Metered {
  readonly functions: () => readonly FunctionReport[];
}

/**
 * Meters a core module. The result imports its counters from `$airlock` (the report names them; `createCounters` makes
 * them) and otherwise looks from outside like the original. When the counter `fuel` goes below zero the guest traps;
 * read the counter, never the trap's message, and treat a negative one as out of fuel even where the call returned.
 *
 * Throws a `HostError` with `MeterErrorDetails`:
 * - `AIRLOCK_METER_MALFORMED`: the bytes do not decode or do not validate.
 * - `AIRLOCK_METER_UNSUPPORTED`: a feature that is not metered, or that this engine lacks (`missingInEngine`).
 * - `AIRLOCK_METER_RESERVED_NAME`: an import module or export name begins with `$airlock`.
 * - `AIRLOCK_METER_TOO_COMPLEX`: past a cap or clamp of the options, or past a limit of the engine once metered.
 *
 * Throws a `RangeError` for options that are not what `MeterOptions` says.
 */
export function meter(bytes: Uint8Array, options: MeterOptions = {}): Metered {
  const { metered } = meterAny(bytes, options);
  return metered;
}

/**
 * Meters modules that call each other, in their order. Where one has exceptions, they may pass through the others, which are
 * metered for that. Throws what `meter` throws.
 */
export function meterTogether(modules: readonly Uint8Array[], options: MeterOptions = {}): readonly Metered[] {
  const metered = modules.map((bytes) => meter(bytes, options));
  if (!metered.some(({ report }) => report.unwinds)) return metered;
  return metered.map((each, index) =>
    each.report.unwinds ? each : meter(modules[index]!, { ...options, unwinds: true }),
  );
}

/** Meters as `meter` does, for people who want to know more. Throws what `meter` throws. */
export function explain(bytes: Uint8Array, options: MeterOptions = {}): Explained {
  const { metered, module, plan, costs } = meterAny(bytes, options);
  return { ...metered, functions: () => reportFunctions(module, plan, costs, metered.bytes) };
}

/** A metered module, and how it came about. */
interface Passes {
  readonly metered: Metered;
  readonly module: CoreModule;
  readonly plan: Plan;
  readonly costs: Costs;
}

function meterAny(bytes: Uint8Array, options: MeterOptions): Passes {
  const resolved = resolveOptions(options);
  // Shared bytes could change between the check and the use.
  const input = bytes.buffer instanceof ArrayBuffer ? bytes : new Uint8Array(bytes);
  // First of all: a body that uses an index just out of range would become valid once the counters are there.
  if (!engine.validate(input)) throw explainInvalid(input, resolved.caps);
  try {
    return meterValid(input, resolved);
  } catch (error) {
    throw error instanceof MalformedWasm ? malformedAt(error) : error;
  }
}

function meterValid(bytes: Uint8Array, options: ResolvedOptions): Passes {
  const module = decodeModule(bytes, options.caps);
  const costs = unfoldCosts(options.schedule);
  const plan = scanModule(module, costs, options.caps, options.unwinds || module.hasTags);
  const exact = options.callDepth || options.canonicalNan ? scanExact(module) : undefined;
  const layout = layOut(module, plan, exact, options);
  const output = assemble(module, plan, exact, layout, options);
  if (!engine.validate(output)) throw pastEngineLimit();
  const metered = { bytes: output, report: reportOn(module, plan, layout, options, output.length) };
  return { metered, module, plan, costs };
}

/** What remains when a valid module is metered and does not validate: too many types, imports, globals or functions. */
function pastEngineLimit(): HostError {
  return tooComplex("metered, it is past a limit of the engine", "engine");
}
