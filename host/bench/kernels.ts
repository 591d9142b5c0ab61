import { readFileSync } from "node:fs";

/** A core module that exports `run`, and the argument with which one call of it takes about three milliseconds. */
export interface Kernel {
  readonly name: string;
  readonly argument: number;
}

/** `kernels/` has the source and the built module of each; `kernels/build.sh` builds them. */
export const KERNELS: readonly Kernel[] = [
  { name: "assemblyscript", argument: 8 },
  { name: "bulk-memory", argument: 150_000 },
  { name: "coremark-like", argument: 25 },
  { name: "fib", argument: 29 },
  { name: "hash-map", argument: 70_000 },
  { name: "interpreter", argument: 40_000 },
  { name: "json-parse", argument: 3 },
  { name: "mandel", argument: 120 },
  { name: "matrix", argument: 1 },
  { name: "nbody", argument: 40_000 },
  { name: "qsort", argument: 1 },
  { name: "sha256", argument: 12 },
  { name: "sieve", argument: 4 },
  { name: "simd", argument: 2_500 },
  { name: "small-functions", argument: 70 },
  { name: "sort", argument: 1 },
  { name: "tak", argument: 4 },
  { name: "virtual-calls", argument: 5_000 },
];

export function kernelBytes(name: string): Uint8Array {
  return readFileSync(new URL(`kernels/${name}.wasm`, import.meta.url));
}
