import { isDeepStrictEqual } from "node:util";
import { isHostError } from "../../errors/errors.ts";
import { createCounters, type Metered, type MeterOptions, meter, type WasmGlobal } from "../meter.ts";
import { wasm } from "./engine.ts";
import { meterNaively, NAIVE_FUEL } from "./naive-meter.ts";

/**
 * What became of bytes that may be anything. `compared`: they ran to the end within the budget, and did and cost what they
 * must. `spent`: they ran out of fuel, as they must. `metered`: no more is known than that the output is valid, or the
 * engine's own limits were met.
 */
export const HOSTILE_OUTCOMES = ["refused", "metered", "spent", "compared"] as const;
export type HostileOutcome = (typeof HOSTILE_OUTCOMES)[number];

/** Of fuel, what each step may use: so little that nothing runs for long. */
const BUDGET = { fuel: 200_000, pages: 3, elements: 10, depth: 1_000_000_000 };

/** Memories are compared up to here. */
const COMPARED_BYTES = 65_536;

/**
 * Meters bytes that may be anything, and runs what comes out. Throws unless it is refused with a typed error, or is valid,
 * does what the original does and uses the fuel that the naive meter counts. The original runs only when the metered one
 * came to its end within the budget.
 */
export function hostileOutcome(bytes: Uint8Array, options: MeterOptions = {}): HostileOutcome {
  let metered: Metered;
  try {
    metered = meter(bytes, options);
  } catch (error) {
    if (isHostError(error) && error.message.startsWith("Cannot meter core module")) return "refused";
    throw error;
  }
  const counters = createCounters(BUDGET);
  const ran = behaviour(metered.bytes, { $airlock: counters }, () => counters.fuel);
  if (counters.refused.value !== 0 || ran.isEngineLimit) return "metered";
  if (options.callDepth === true && !ran.threw && counters.depth.value !== BigInt(BUDGET.depth)) {
    throw new Error(`It leaves the depth at ${counters.depth.value}`);
  }
  const naive = naiveBehaviour(bytes, metered.report.unwinds);
  if (naive !== undefined) {
    if (naive.isEngineLimit) return "metered";
    const isAlike = compareFuel(ran, naive, metered.report.unwinds);
    if (!isAlike) return "metered";
  }
  if (ran.isSpent) return "spent";
  const original = behaviour(bytes, {});
  if (original.isEngineLimit) return "metered";
  if (!isDeepStrictEqual(ran.steps, original.steps)) {
    throw new Error(`It does otherwise than its original: ${shown(ran)} instead of ${shown(original)}`);
  }
  return "compared";
}

function naiveBehaviour(bytes: Uint8Array, unwinds: boolean): Behaviour | undefined {
  const naive = meterNaively(bytes, BUDGET.fuel, unwinds);
  if (naive === undefined) return undefined;
  return behaviour(naive, {}, (exports) => exports[NAIVE_FUEL] as WasmGlobal<bigint> | undefined);
}

/**
 * Throws where the two used other fuel than each other in a step whose cost is exact. False when a trap ended a step of
 * which one of them had paid more, so that what follows says nothing.
 */
function compareFuel(ran: Behaviour, naive: Behaviour, unwinds: boolean): boolean {
  for (const [index, { what, ending, used }] of ran.uses.entries()) {
    const other = naive.uses[index];
    if (other === undefined || used === undefined || other.used === undefined) return false;
    const isSpent = used > BUDGET.fuel;
    const isSpentToo = other.used > BUDGET.fuel;
    if (isSpent && isSpentToo) return true;
    // What trapped may have paid for what it never ran, or not yet for what it did.
    const isExact = isExactAfter(isSpent ? other.ending : ending, unwinds);
    if (isExact && used !== other.used) {
      throw new Error(`${what} used ${used} units of fuel instead of ${other.used}`);
    }
    if (isSpent !== isSpentToo) return false;
  }
  return true;
}

function isExactAfter(ending: Use["ending"], unwinds: boolean): boolean {
  return ending === "returned" || (ending === "threw" && unwinds);
}

/** The fuel that one step took. */
interface Use {
  readonly what: string;
  readonly ending: "returned" | "threw" | "trapped";
  readonly used: number | undefined;
}

interface Behaviour {
  readonly steps: readonly unknown[];
  readonly uses: readonly Use[];
  /** A step took more than the budget: nothing ran after it. */
  readonly isSpent: boolean;
  /** A step did not return. */
  readonly threw: boolean;
  /** The stack or the address space was used up, which does not depend on the module alone. */
  readonly isEngineLimit: boolean;
}

type Exports = Record<string, unknown>;

/** Instantiates, calls every export, each with a full tank, and looks at what is exported afterwards. */
function behaviour(
  bytes: Uint8Array,
  added: object,
  tankOf?: (exports: Exports) => WasmGlobal<bigint> | undefined,
): Behaviour {
  const steps: unknown[] = [];
  const uses: Use[] = [];
  let [isEngineLimit, isSpent, threw] = [false, false, false];
  let exports: Exports = {};
  const attempt = (what: string, action: () => unknown): void => {
    const before = tankOf?.(exports);
    if (before !== undefined) before.value = BigInt(BUDGET.fuel);
    let ending: Use["ending"] = "returned";
    try {
      steps.push([what, plainOf(action())]);
    } catch (error) {
      isEngineLimit ||= error instanceof RangeError;
      ending = error instanceof wasm.RuntimeError ? "trapped" : "threw";
      threw = true;
      steps.push([what, "threw", nameOf(error)]);
    }
    const left = tankOf?.(exports)?.value;
    isSpent = left !== undefined && left < 0n;
    uses.push({ what, ending, used: left === undefined ? undefined : BUDGET.fuel - Number(left) });
  };
  const note = (value: unknown): number => {
    steps.push(["note", value]);
    return Number(value) + 1;
  };
  const fail = (): never => {
    throw new Error("The host failed");
  };
  const imports = { ...added, host: { note, g: 1, fail, stop: fail } };
  // What does not validate throws here, and nobody takes it for what the guest did.
  const module = new wasm.Module(bytes);
  attempt("instantiate", () => {
    exports = new wasm.Instance(module, imports).exports;
  });
  const calls = Object.entries(exports).filter(([, value]) => typeof value === "function");
  for (const [name, value] of calls) {
    if (isSpent) break;
    attempt(name, () => (value as (...values: unknown[]) => unknown)(5, 4));
  }
  for (const [name, value] of Object.entries(exports)) {
    if (name !== NAIVE_FUEL) steps.push([name, stateOf(value)]);
  }
  return { steps, uses, isSpent, threw, isEngineLimit };
}

/** Traps by what they say. Imports that do not fit by class alone: their message counts imports. */
function nameOf(error: unknown): string {
  if (error instanceof wasm.RuntimeError) return error.message;
  return error instanceof Error ? error.name : Object.prototype.toString.call(error);
}

function stateOf(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return typeof value;
  if ("buffer" in value) {
    const { byteLength } = value.buffer as ArrayBuffer;
    const start = new Uint8Array(value.buffer as ArrayBuffer, 0, Math.min(byteLength, COMPARED_BYTES));
    return [byteLength, Buffer.from(start).toString("latin1")];
  }
  if ("length" in value) return value.length;
  return "value" in value ? plainOf(value.value) : Object.prototype.toString.call(value);
}

function plainOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainOf);
  return typeof value === "function" || typeof value === "object" ? String(value === null || typeof value) : value;
}

function shown({ steps }: Behaviour): string {
  return JSON.stringify(steps, (_key, value) => (typeof value === "bigint" ? `${value}n` : value)).slice(0, 500);
}
