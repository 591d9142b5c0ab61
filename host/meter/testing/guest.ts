import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { type Budget, type Counters, createCounters, type Metered, type MeterOptions, meter } from "../meter.ts";
import { PLENTY, wasm } from "./engine.ts";

export { PLENTY, wasm };

/** How a call ended, and what it took from the counter `fuel`. */
export interface CallEnding {
  readonly result?: unknown;
  readonly trapped: boolean;
  readonly used: number;
}

/** An instance of a metered module. */
export interface Guest extends Metered {
  readonly exports: Record<string, unknown>;
  readonly counters: Counters;
  call(name: string, ...parameters: unknown[]): CallEnding;
}

export interface GuestSetup {
  readonly options?: MeterOptions;
  readonly budget?: Partial<Budget>;
  readonly counters?: Counters;
  readonly imports?: Record<string, Record<string, unknown>>;
  /** Given under `$airlock` besides the counters. */
  readonly memory?: unknown;
}

/** Assembles a core module in the text format. */
export async function assembleText(text: string): Promise<Uint8Array> {
  return new Uint8Array(await parse(text));
}

/** Meters a module in the text format, checks that the result validates, and instantiates it. */
export async function instantiate(text: string, setup: GuestSetup = {}): Promise<Guest> {
  return instantiateBytes(await assembleText(text), setup);
}

export function instantiateBytes(bytes: Uint8Array, setup: GuestSetup = {}): Guest {
  const metered = meter(bytes, setup.options);
  if (!wasm.validate(metered.bytes)) throw new Error("The metered module does not validate");
  const counters = setup.counters ?? createCounters({ ...PLENTY, ...setup.budget });
  const added = setup.memory === undefined ? counters : { ...counters, memory: setup.memory };
  const { exports } = new wasm.Instance(new wasm.Module(metered.bytes), { ...setup.imports, $airlock: added });
  return {
    ...metered,
    exports,
    counters,
    call(name, ...parameters) {
      const before = counters.fuel.value;
      try {
        const result = (exports[name] as (...values: unknown[]) => unknown)(...parameters);
        return { result, trapped: false, used: Number(before - counters.fuel.value) };
      } catch {
        return { trapped: true, used: Number(before - counters.fuel.value) };
      }
    },
  };
}
