import type { FuncType, StringEncoding } from "../component/component.ts";

/** A core definition: an export of an earlier core instance, by its position in `steps`, or a lowered import. */
export type CoreItem =
  | { readonly kind: "export"; readonly instance: number; readonly name: string }
  | { readonly kind: "lowered"; readonly index: number };

/** One core instance: a module with instances as its arguments, or a bag of items under names. */
export type LinkStep =
  | {
      readonly kind: "module";
      readonly module: number;
      readonly args: readonly { readonly name: string; readonly instance: number }[];
    }
  | { readonly kind: "bag"; readonly items: readonly { readonly name: string; readonly item: CoreItem }[] };

/** Which memory, allocator and encoding values cross with. Shared by all functions that name the same. */
export interface LinkOptions {
  readonly memory: CoreItem | null;
  readonly realloc: CoreItem | null;
  readonly encoding: StringEncoding;
}

/** An imported function as the guest calls it. */
export interface LoweredImport {
  readonly interfaceName: string;
  readonly name: string;
  /** Its property in JavaScript. */
  readonly key: string;
  readonly type: FuncType;
  /** Position in `options`. */
  readonly options: number;
}

/** An exported function as the host calls it. */
export interface LiftedExport {
  /** The exported instance that holds it; null for a function that is exported by itself. */
  readonly interfaceName: string | null;
  readonly key: string;
  readonly type: FuncType;
  readonly core: CoreItem;
  readonly postReturn: CoreItem | null;
  readonly options: number;
}

/** How a component is put together from its core modules. Plain data: it can be cloned, and types in it stay shared. */
export interface LinkPlan {
  /** The core modules: `bytes.subarray(start, end)`. */
  readonly modules: readonly { readonly start: number; readonly end: number }[];
  readonly steps: readonly LinkStep[];
  readonly options: readonly LinkOptions[];
  readonly lowered: readonly LoweredImport[];
  readonly exports: readonly LiftedExport[];
}
