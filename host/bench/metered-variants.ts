import { createCounters, type Metered } from "../meter/meter.ts";
import { type Kernel, kernelBytes } from "./kernels.ts";
import { SALT_EXPORT, salted } from "./salt.ts";
import type { Subject } from "./trials.ts";

/** Meters a core module, or gives it back as it is. Shared by one instance of a component. */
export type Variant = (bytes: Uint8Array) => Uint8Array;

/** More than any bench burns. */
const PLENTY = { fuel: 2n ** 60n, pages: 1_000_000, elements: 1_000_000 };

export const unmetered: Variant = (bytes) => bytes;

export function meteredBy(meter: (bytes: Uint8Array) => Metered): Variant {
  return (bytes) => meter(bytes).bytes;
}

/** Under `$airlock`, for every module of one instance. */
export function plenty(): WebAssembly.ModuleImports {
  return { ...createCounters(PLENTY) };
}

export function kernelSubject({ name, argument }: Kernel, variants: readonly Variant[]): Subject {
  const bytes = kernelBytes(name);
  return {
    name,
    start(variant, salt) {
      const module = new WebAssembly.Module(variants[variant]!(salted(bytes, salt)));
      const imports: WebAssembly.Imports = { $airlock: plenty(), env: { abort: Number } };
      for (const { module: from, name: item, kind } of WebAssembly.Module.imports(module)) {
        if (kind !== "function") continue;
        imports[from] ??= {};
        imports[from][item] ??= () => 0;
      }
      const { exports } = new WebAssembly.Instance(module, imports);
      (exports[SALT_EXPORT] as (value: number) => number)(1);
      const run = exports["run"] as (argument: number) => unknown;
      return () => run(argument);
    },
  };
}
