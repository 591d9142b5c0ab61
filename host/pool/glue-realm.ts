import { TextDecoder } from "node:util";
import vm from "node:vm";
import { GLUE_HOOKS, GLUE_NAMES } from "../compile/compile.ts";
import { AbiViolation } from "./guest-stop.ts";
import type { RunState } from "./run-state.ts";

/** What generated glue exports: core modules by file name, imports by interface, and a hook that instantiates. */
export type Instantiate = (
  moduleOf: (name: string) => WebAssembly.Module,
  imports: Record<string, unknown>,
  instantiateCore: (module: WebAssembly.Module, imports?: WebAssembly.Imports) => { exports: WebAssembly.Exports },
) => Record<string, unknown>;

/** What one element of a list costs the host, whatever its size in the guest. */
const BYTES_PER_ELEMENT = 16;

/** Makes the component's `instantiate` for one run. */
export type Glue = (run: RunState) => Instantiate;

/**
 * Compiles prepared glue. Every outside name of it is a parameter, so it sees no global of the thread: what touches guest
 * memory is bounded and paid for by the run, what would be asynchronous is inert.
 */
export function loadGlue(body: string, key: string): Glue {
  const make = vm.compileFunction(body, [...GLUE_NAMES, ...GLUE_HOOKS], { filename: `airlock:glue/${key}` });
  return (run) => {
    const values = realmOf(run);
    return make(...GLUE_NAMES.map((name) => values[name]), ...GLUE_HOOKS.map((name) => values[name])) as Instantiate;
  };
}

function realmOf(run: RunState): Record<string, unknown> {
  const decoders = new Map<string, TextDecoder>();
  class BoundedTextDecoder {
    readonly #decoder: TextDecoder;

    constructor(encoding = "utf-8") {
      const known = decoders.get(encoding) ?? new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
      decoders.set(encoding, known);
      this.#decoder = known;
    }

    decode(bytes: Uint8Array | DataView): string {
      run.payLift(bytes.byteLength);
      try {
        return this.#decoder.decode(bytes);
      } catch {
        throw new AbiViolation("a string of the guest is not valid UTF-8");
      }
    }
  }
  return {
    ...INTRINSICS,
    TextDecoder: BoundedTextDecoder,
    __entry: <F extends (...args: never[]) => unknown>(core: F) => run.entry(core),
    __realloc: <F extends (...args: never[]) => unknown>(core: F) => run.realloc(core),
    __postReturn: <F extends (...args: never[]) => unknown>(core: F) => run.postReturn(core),
    __elements: (count: number) => run.payLift(Math.max(0, count) * BYTES_PER_ELEMENT),
    __slice: (buffer: ArrayBuffer, from: number, to: number): ArrayBuffer => {
      if (!(from >= 0 && to >= from && to <= buffer.byteLength)) throw outOfBounds(from, to - from, buffer.byteLength);
      run.payLift(to - from);
      return buffer.slice(from, to);
    },
  };
}

/** A view of guest memory that ends in our own error, never in a RangeError, which would look like a stack overflow. */
function boundedView<T extends new (...args: never[]) => ArrayBufferView>(View: T): T {
  function Bounded(...args: unknown[]): ArrayBufferView {
    const [buffer, offset, length] = args;
    if (buffer instanceof ArrayBuffer && offset !== undefined) {
      const from = Number(offset);
      const bytes = Number(length ?? 0) * ((View as unknown as { BYTES_PER_ELEMENT?: number }).BYTES_PER_ELEMENT ?? 1);
      if (!(from >= 0 && bytes >= 0 && from + bytes <= buffer.byteLength))
        throw outOfBounds(from, bytes, buffer.byteLength);
    }
    try {
      return Reflect.construct(View, args) as ArrayBufferView;
    } catch (thrown) {
      throw new AbiViolation(`a list of the guest cannot be read: ${(thrown as Error).message}`);
    }
  }
  Bounded.prototype = View.prototype;
  return Object.assign(Bounded, {
    BYTES_PER_ELEMENT: (View as unknown as { BYTES_PER_ELEMENT?: number }).BYTES_PER_ELEMENT,
  }) as unknown as T;
}

class BoundedDataView extends DataView<ArrayBuffer> {
  static {
    for (const name of Object.getOwnPropertyNames(DataView.prototype) as Exclude<keyof DataView, symbol>[]) {
      const access = /^[gs]et/.test(name) ? DataView.prototype[name] : undefined;
      if (typeof access !== "function") continue;
      Object.defineProperty(BoundedDataView.prototype, name, {
        value(this: DataView, offset: number, ...rest: unknown[]): unknown {
          try {
            return Reflect.apply(access, this, [offset, ...rest]);
          } catch (thrown) {
            if (thrown instanceof RangeError) throw outOfBounds(offset, 0, this.byteLength);
            throw thrown;
          }
        },
      });
    }
  }
}

function outOfBounds(from: number, bytes: number, size: number): AbiViolation {
  return new AbiViolation(`a pointer of the guest leaves its memory: ${bytes} bytes at ${from} of ${size}`);
}

function inert(name: string): () => never {
  return () => {
    throw new AbiViolation(`the component needs ${name}, which a synchronous call has not`);
  };
}

/** The glue ends a forgotten resource of the guest in a finalizer: guest code between runs, on memory that serves another by then. */
class InertFinalizationRegistry {
  register(): void {}
  unregister(): void {}
}

const quiet = Object.freeze({ log() {}, error() {}, warn() {}, debug() {}, info() {} });

const wasm = Object.freeze({
  Global: WebAssembly.Global,
  Instance: WebAssembly.Instance,
  Memory: WebAssembly.Memory,
  Module: WebAssembly.Module,
  RuntimeError: WebAssembly.RuntimeError,
  Table: WebAssembly.Table,
  // Probed for each core function at each instantiation, in a try block: a throw there costs more than the call.
  promising: (core: unknown) => core,
});

const INTRINSICS: Readonly<Record<string, unknown>> = {
  Array,
  ArrayBuffer,
  BigInt,
  BigInt64Array: boundedView(BigInt64Array),
  BigUint64Array: boundedView(BigUint64Array),
  Boolean,
  DataView: BoundedDataView,
  Error,
  FinalizationRegistry: InertFinalizationRegistry,
  Float32Array: boundedView(Float32Array),
  Float64Array: boundedView(Float64Array),
  Int16Array: boundedView(Int16Array),
  Int32Array: boundedView(Int32Array),
  Int8Array: boundedView(Int8Array),
  JSON,
  Map,
  Math,
  Number,
  Object,
  Promise,
  RangeError,
  Set,
  String,
  Symbol,
  TextEncoder,
  TypeError,
  Uint16Array: boundedView(Uint16Array),
  Uint32Array: boundedView(Uint32Array),
  Uint8Array: boundedView(Uint8Array),
  WeakMap,
  WebAssembly: wasm,
  clearInterval: inert("clearInterval"),
  clearTimeout: inert("clearTimeout"),
  console: quiet,
  globalThis: Object.freeze({ WebAssembly: wasm }),
  isNaN,
  queueMicrotask: inert("queueMicrotask"),
  setInterval: inert("setInterval"),
  setTimeout: inert("setTimeout"),
};
