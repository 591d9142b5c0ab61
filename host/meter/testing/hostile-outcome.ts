import { isDeepStrictEqual } from "node:util";
import { isHostError } from "../../errors/errors.ts";
import { createCounters, type Metered, type MeterOptions, meter } from "../meter.ts";
import { wasm } from "./engine.ts";

/** What became of bytes that may be anything; `compared` when they ran unmetered too and did the same. */
export type HostileOutcome = "refused" | "metered" | "compared";

/** So little that whatever runs does not run for long, and its original neither. */
const BUDGET = { fuel: 100_000, pages: 3, elements: 10 };

/** Memories are compared up to here. */
const COMPARED_BYTES = 65_536;

/**
 * Meters bytes that may be anything, and runs what comes out. Throws unless it is refused with a typed error or is valid
 * and does what the original does. The original runs only when the metered one came to its end within the budget.
 */
export function hostileOutcome(bytes: Uint8Array, options?: MeterOptions): HostileOutcome {
  let metered: Metered;
  try {
    metered = meter(bytes, options);
  } catch (error) {
    if (isHostError(error) && error.message.startsWith("Cannot meter core module")) return "refused";
    throw error;
  }
  if (!wasm.validate(metered.bytes)) throw new Error("The metered module does not validate");
  const counters = createCounters(BUDGET);
  const ran = behaviour(metered.bytes, { $airlock: counters });
  if (counters.fuel.value < 0n || counters.refused.value !== 0 || ran.isEngineLimit) return "metered";
  const original = behaviour(bytes, {});
  if (original.isEngineLimit) return "metered";
  if (!isDeepStrictEqual(ran, original)) {
    throw new Error(`It does otherwise than its original: ${shown(ran)} instead of ${shown(original)}`);
  }
  return "compared";
}

interface Behaviour {
  readonly steps: readonly unknown[];
  /** The stack or the address space was used up, which does not depend on the module alone. */
  readonly isEngineLimit: boolean;
}

/** Instantiates, calls every export without arguments, and looks at what is exported afterwards. */
function behaviour(bytes: Uint8Array, added: object): Behaviour {
  const steps: unknown[] = [];
  let isEngineLimit = false;
  const attempt = (what: string, action: () => unknown): void => {
    try {
      steps.push([what, plainOf(action())]);
    } catch (error) {
      isEngineLimit ||= error instanceof RangeError;
      steps.push([what, "threw", nameOf(error)]);
    }
  };
  const note = (value: unknown): number => {
    steps.push(["note", value]);
    return Number(value) + 1;
  };
  const fail = (): never => {
    throw new Error("The host failed");
  };
  const imports = { ...added, host: { note, g: 1, fail, stop: fail } };
  let exports: Record<string, unknown> = {};
  attempt("instantiate", () => {
    exports = new wasm.Instance(new wasm.Module(bytes), imports).exports;
  });
  for (const [name, value] of Object.entries(exports)) {
    if (typeof value === "function") attempt(name, () => value());
  }
  for (const [name, value] of Object.entries(exports)) attempt(name, () => stateOf(value));
  return { steps, isEngineLimit };
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
