import { engine, type WasmGlobal } from "./engine.ts";

/** Import module of everything the meter adds. Guests may neither import from it nor export names that begin with it. */
export const COUNTER_MODULE = "$airlock";

/** Name under `COUNTER_MODULE` of the memory that `importMemory` turns into an import. */
export const MEMORY_IMPORT = "memory";

/** Names under `COUNTER_MODULE` of the shared counters, in the order in which modules import them. */
export const COUNTER_NAMES = ["fuel", "pages", "elements", "refused", "depth"] as const;

/** A counter's name; `COUNTER_TYPES` has its Wasm type. */
export type CounterName = (typeof COUNTER_NAMES)[number];

/** The Wasm type of each counter; all are mutable. */
export const COUNTER_TYPES: { readonly [Name in CounterName]: "i32" | "i64" } = Object.freeze({
  fuel: "i64",
  pages: "i64",
  elements: "i64",
  refused: "i32",
  depth: "i64",
});

/** Values of the counter `refused`. */
export const REFUSED = Object.freeze({
  /** No growth was refused. */
  none: 0,
  /** A `memory.grow` that the module's own maximum allows met our limit (pages left, or the clamp). */
  memory: 1,
  /** The same for `table.grow`. */
  table: 2,
  /** A growth within every limit failed, so the engine is out of memory: the guest was trapped, it never sees this as -1. */
  engine: 3,
  /** A growth past the module's own maximum was trapped, as `trapOnRefusedGrowth` asks; without it the guest sees -1 and nothing is flagged. */
  own: 4,
});

/**
 * What a host writes into `fuel` to stop a guest at its next test. The lowest i64 would be wrong: the next charge would
 * wrap it around to a full tank. From here no run lasts long enough to do that.
 */
export const EXHAUSTED: bigint = -(2n ** 62n);

/** The counters that the metered modules of one run share, in the shape of an import object's `$airlock`. */
export interface Counters {
  /** Units of fuel left; negative once they are used up. */
  readonly fuel: WasmGlobal<bigint>;
  /** Pages of 64 KiB that growth may still take, over all memories. */
  readonly pages: WasmGlobal<bigint>;
  /** Elements that growth may still take, over all tables. */
  readonly elements: WasmGlobal<bigint>;
  /** Why the last growth was refused: a value of `REFUSED`. */
  readonly refused: WasmGlobal<number>;
  /** Frame slots left (see `MeterOptions.callDepth`); negative once they are used up. */
  readonly depth: WasmGlobal<bigint>;
}

/** What a run may use. `depth` defaults to no limit. */
export interface Budget {
  readonly fuel: bigint | number;
  readonly pages: bigint | number;
  readonly elements: bigint | number;
  readonly depth?: bigint | number;
}

/** Makes one set of counters; pass it as `{ $airlock: counters }` to each metered module that shall share it. */
export function createCounters(budget: Budget): Counters {
  return Object.freeze({
    fuel: counter(budget.fuel),
    pages: counter(budget.pages),
    elements: counter(budget.elements),
    refused: new engine.Global<number>({ value: "i32", mutable: true }, REFUSED.none),
    depth: counter(budget.depth ?? 2n ** 62n),
  });
}

function counter(value: bigint | number): WasmGlobal<bigint> {
  return new engine.Global<bigint>({ value: "i64", mutable: true }, BigInt(value));
}
