import type { Budget } from "../meter.ts";

/** A budget that no test uses up by chance. */
export const PLENTY: Budget = { fuel: 1_000_000_000, pages: 1_000, elements: 1_000_000 };

/** What the tests use of `WebAssembly`. */
export const wasm = (
  globalThis as unknown as {
    WebAssembly: {
      validate(bytes: Uint8Array): boolean;
      Module: (new (
        bytes: Uint8Array,
      ) => object) & {
        customSections(module: object, name: string): ArrayBuffer[];
        imports(module: object): { module: string; name: string; kind: string }[];
      };
      Instance: new (module: object, imports: object) => { readonly exports: Record<string, unknown> };
      Memory: new (limits: {
        initial: number;
        maximum: number;
      }) => { readonly buffer: ArrayBuffer; grow(pages: number): number };
      RuntimeError: new () => Error;
    };
  }
).WebAssembly;
