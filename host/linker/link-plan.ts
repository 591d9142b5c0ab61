import type { FuncType, StringEncoding } from "../component/component.ts";

/** A core definition: an export of an earlier core instance, by its position in `steps`, or one that the linker makes. */
export type CoreItem =
  | { readonly kind: "export"; readonly instance: number; readonly name: string }
  | { readonly kind: "made"; readonly index: number };

/** One core instance: a module with instances as its arguments, or a bag of items under names. */
export type LinkStep =
  | {
      readonly kind: "module";
      readonly module: number;
      readonly args: readonly { readonly name: string; readonly instance: number }[];
    }
  | { readonly kind: "bag"; readonly items: readonly { readonly name: string; readonly item: CoreItem }[] };

/** Which memory, allocator and encoding values cross with, in which component instance. Shared by all that name the same. */
export interface LinkOptions {
  /** Number of the component instance, whose handles are in a table of its own. */
  readonly component: number;
  readonly memory: CoreItem | null;
  readonly realloc: CoreItem | null;
  readonly encoding: StringEncoding;
}

/** A function of the host, as the guest calls it. */
export interface LoweredImport {
  readonly kind: "import";
  readonly interfaceName: string;
  readonly name: string;
  /** Its property in JavaScript. */
  readonly key: string;
  readonly type: FuncType;
  /** Position in `options`. */
  readonly options: number;
}

/** A core function as other components or the host call it. */
export interface Lifted {
  readonly type: FuncType;
  readonly core: CoreItem;
  readonly postReturn: CoreItem | null;
  readonly options: number;
}

/** A function of another component within this one, as the guest calls it. */
export interface Fused {
  readonly kind: "fused";
  readonly callee: Lifted;
  /** The caller's view of the function. */
  readonly type: FuncType;
  readonly options: number;
}

/** A built-in of a resource type. The type of `drop` may be another component's: it is known by its name. */
export type ResourceBuiltin =
  | { readonly kind: "resource.new" | "resource.rep"; readonly component: number; readonly resource: number }
  | { readonly kind: "resource.drop"; readonly component: number; readonly name: string };

/** A core function that the linker makes. */
export type MadeFunction = LoweredImport | Fused | ResourceBuiltin;

/** A resource type that a component instance defines. */
export interface ResourceType {
  readonly name: string;
  readonly component: number;
  readonly destructor: CoreItem | null;
}

/** An exported function as the host calls it. */
export interface LiftedExport extends Lifted {
  /** The exported instance that holds it; null for a function that is exported by itself. */
  readonly interfaceName: string | null;
  readonly key: string;
}

/** How a component is put together from its core modules. Plain data: it can be cloned, and types in it stay shared. */
export interface LinkPlan {
  /** The core modules: `bytes.subarray(start, end)`. */
  readonly modules: readonly { readonly start: number; readonly end: number }[];
  readonly steps: readonly LinkStep[];
  readonly options: readonly LinkOptions[];
  readonly made: readonly MadeFunction[];
  readonly resources: readonly ResourceType[];
  readonly exports: readonly LiftedExport[];
}
