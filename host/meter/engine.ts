/** The part of a `WebAssembly.Global` that the meter's users touch. */
export interface WasmGlobal<Value> {
  value: Value;
}

/** The part of `WebAssembly` that the meter calls. @types/node 20 declares the namespace without its values. */
interface Engine {
  validate(bytes: Uint8Array): boolean;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: Readonly<Record<string, unknown>> };
  readonly Global: new <Value>(
    descriptor: { readonly value: string; readonly mutable: boolean },
    value: Value,
  ) => WasmGlobal<Value>;
}

export const engine = (globalThis as unknown as { readonly WebAssembly: Engine }).WebAssembly;

/** A feature that some engines lack, with the smallest module that uses it. */
export type EngineFeature = keyof typeof PROBES;

export function isEngineFeature(feature: string): feature is EngineFeature {
  return Object.hasOwn(PROBES, feature);
}

/** Whether this engine accepts `feature`. Flags may change it while the process runs, so it is asked each time. */
export function engineAccepts(feature: EngineFeature): boolean {
  return engine.validate(Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...PROBES[feature]]));
}

const PROBES = {
  // (global i32 (i32.add (i32.const 0) (i32.const 0)))
  "extended constant expressions": [6, 9, 1, 0x7f, 0, 0x41, 0, 0x41, 0, 0x6a, 0x0b],
  // (func return_call 0)
  "tail calls": [1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 10, 6, 1, 4, 0, 0x12, 0, 0x0b],
  // (global exnref (ref.null exn))
  "exception references": [6, 6, 1, 0x69, 0, 0xd0, 0x69, 0x0b],
  // (type (func)) (global (ref null 0) (ref.null 0))
  "typed function references": [1, 4, 1, 0x60, 0, 0, 6, 7, 1, 0x63, 0, 0, 0xd0, 0, 0x0b],
  // (memory 0) (memory 0)
  "more than one memory": [5, 5, 2, 0, 0, 0, 0],
  // (memory i64 0) (memory 0) (func (memory.copy 1 0 (i32.const 0) (i64.const 0) (i32.const 0))): Node 22 lacks the last.
  "64-bit memories": [
    1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 5, 5, 2, 4, 0, 0, 0, 10, 14, 1, 12, 0, 0x41, 0, 0x42, 0, 0x41, 0, 0xfc, 10, 1, 0,
    11,
  ],
  // (table i64 0 funcref)
  "64-bit tables": [4, 4, 1, 0x70, 4, 0],
} as const;
