import type { Counters } from "../meter/meter.ts";

/**
 * Takes the fuel for what the host does out of a run's counter. JavaScript reads an i64 global as a new bigint, which takes
 * ten times as long as to take the fuel in Wasm; so that is done where it is done often.
 */
export class FuelCharge {
  readonly #fuel: Counters["fuel"];
  #untilWasm = CHARGES_UNTIL_WASM;
  #inWasm: ((units: number) => number) | null = null;

  constructor(fuel: Counters["fuel"]) {
    this.#fuel = fuel;
  }

  /** Takes `units`, rounded up, and answers whether there were so many. */
  take(units: number): boolean {
    const whole = Math.ceil(units);
    if (this.#inWasm !== null && whole >= 0 && whole <= MOST_IN_WASM) return this.#inWasm(whole) === 0;
    const left = this.#fuel.value - BigInt(whole);
    this.#fuel.value = left;
    if (this.#inWasm === null && --this.#untilWasm === 0) this.#inWasm = inWasm(this.#fuel);
    return left >= 0n;
  }
}

/** To make the instance takes as long as some fifty charges without it. */
const CHARGES_UNTIL_WASM = 50;
const MOST_IN_WASM = 2 ** 32 - 1;

/**
 * (module
 *   (import "" "f" (global $fuel (mut i64)))
 *   (func (export "f") (param $units i32) (result i32)
 *     (global.set $fuel (i64.sub (global.get $fuel) (i64.extend_i32_u (local.get $units))))
 *     (i64.lt_s (global.get $fuel) (i64.const 0))))
 */
const MODULE = new WebAssembly.Module(
  Uint8Array.from(
    [
      [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
      [0x01, 6, 1, 0x60, 1, 0x7f, 1, 0x7f],
      [0x02, 7, 1, 0, 1, 0x66, 0x03, 0x7e, 0x01],
      [0x03, 2, 1, 0],
      [0x07, 5, 1, 1, 0x66, 0x00, 0],
      [0x0a, 17, 1, 15, 0, 0x23, 0, 0x20, 0, 0xad, 0x7d, 0x24, 0, 0x23, 0, 0x42, 0, 0x53, 0x0b],
    ].flat(),
  ),
);

function inWasm(fuel: Counters["fuel"]): (units: number) => number {
  const { exports } = new WebAssembly.Instance(MODULE, { "": { f: fuel as WebAssembly.Global } });
  return exports["f"] as (units: number) => number;
}
