import { isHostError } from "../../errors/errors.ts";
import { createCounters, EXHAUSTED, type MeterErrorDetails, type MeterOptions, meter } from "../meter.ts";
import { PLENTY, wasm } from "./engine.ts";

/** A module to meter, and calls to make, one after another; a bigint is written as in JavaScript, in a string. */
export interface BurnOrder {
  readonly bytes: string;
  readonly calls: readonly (readonly [name: string, ...parameters: (number | string)[]])[];
  readonly options?: MeterOptions;
  readonly fuel?: number;
  /** The counter `depth` at the start; by default plenty. */
  readonly depth?: number;
}

/** How a call ended; `used` is what it took from the counter `fuel`, and `notes` what the import `host` `note` was told. */
export interface Burnt {
  readonly ending: "returned" | "trapped" | "thrown";
  readonly result?: unknown;
  readonly used: number;
  readonly notes: readonly { readonly argument: number; readonly used: number }[];
  /** What was left of the counters `pages` and `elements`, and the value of `refused`. */
  readonly left: readonly [pages: number, elements: number, refused: number];
}

export interface BurnReport {
  /** Set when the meter refused the module; `isValid` says whether the engine would have taken it. */
  readonly refused?: MeterErrorDetails & { readonly code: string };
  readonly isValid?: boolean;
  readonly calls: readonly Burnt[];
}

/**
 * Meters and runs modules; orders and reports are JSON, so that any version of Node can do it. The imports are `host`
 * `note` (answers its argument plus one), `same` (answers its argument), `fail` (throws) and `stop` (empties the tank and throws, as a host does to
 * stop a guest); AssemblyScript's `env` `abort` fails too.
 */
export function burn(orders: readonly BurnOrder[]): BurnReport[] {
  return orders.map((order) => {
    try {
      return burnOne(order);
    } catch (error) {
      if (!isHostError(error)) throw error;
      const { code, details } = error as unknown as { code: string; details: MeterErrorDetails };
      const isValid = wasm.validate(Buffer.from(order.bytes, "base64"));
      return { refused: { code, ...details }, isValid, calls: [] };
    }
  });
}

function burnOne({ bytes, calls, options, fuel, depth = 1_000_000 }: BurnOrder): BurnReport {
  const counters = createCounters({ ...PLENTY, depth, ...(fuel === undefined ? {} : { fuel }) });
  const module = new wasm.Module(meter(Buffer.from(bytes, "base64"), options).bytes);
  let notes: { argument: number; used: number }[] = [];
  let before = counters.fuel.value;
  const used = () => Number(before - counters.fuel.value);
  const host = {
    note(argument: number): number {
      notes.push({ argument, used: used() });
      return (argument + 1) | 0;
    },
    same(value: unknown): unknown {
      return value;
    },
    fail(): never {
      throw new Error("The host failed");
    },
    stop(): never {
      counters.fuel.value = EXHAUSTED;
      throw new Error("The host stops the guest");
    },
  };
  const { exports } = new wasm.Instance(module, { host, env: { abort: host.fail }, $airlock: counters });
  const run = ([name, ...parameters]: BurnOrder["calls"][number]): Burnt => {
    notes = [];
    before = counters.fuel.value;
    const ending = call(exports[name] as (...values: unknown[]) => unknown, parameters.map(valueFor));
    const { pages, elements, refused } = counters;
    return { ...ending, used: used(), notes, left: [Number(pages.value), Number(elements.value), refused.value] };
  };
  return { calls: calls.map(run) };
}

function call(callee: (...values: unknown[]) => unknown, values: readonly unknown[]): Pick<Burnt, "ending" | "result"> {
  try {
    return { ending: "returned", result: plainOf(callee(...values)) };
  } catch (error) {
    return { ending: error instanceof wasm.RuntimeError || error instanceof RangeError ? "trapped" : "thrown" };
  }
}

function valueFor(parameter: number | string): unknown {
  return typeof parameter === "string" ? BigInt(parameter.slice(0, -1)) : parameter;
}

function plainOf(result: unknown): unknown {
  if (Array.isArray(result)) return result.map(plainOf);
  return typeof result === "bigint" ? `${result}n` : result;
}
