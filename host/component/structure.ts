import type { ExternSort, StringEncoding } from "./component-info.ts";
import type { Entity } from "./scope.ts";
import type { FuncType, WitResource } from "./wit-type.ts";

/** The sorts of core definitions, modules apart: a component can pass those like its own. */
export type CoreSort = "core func" | "core table" | "core memory" | "core global" | "core type" | "core instance";

/** A sort as the binary spells it. */
export type Sort = ExternSort | CoreSort;

/** A definition under a name: of an instantiation's arguments, or of exports that are listed. */
export interface NamedIndex {
  readonly name: string;
  readonly sort: Sort;
  readonly index: number;
}

/** The options of a lift or a lower. Indices are of the component's core spaces; null where an option is not there. */
export interface CanonicalOptions {
  readonly encoding: StringEncoding;
  readonly memory: number | null;
  readonly realloc: number | null;
  readonly postReturn: number | null;
  /** True for options that make another ABI: async, callback, gc, a core type. */
  readonly foreign: boolean;
}

/**
 * One definition of a component. Those of one component, in order, fill its index spaces: each adds one member to the space of
 * what it defines, an `export` to that of its sort. Definitions of types are left out, resources apart.
 */
export type Definition =
  | { readonly kind: "core-module"; readonly start: number; readonly end: number }
  | { readonly kind: "core-instance"; readonly module: number; readonly args: readonly NamedIndex[] }
  | { readonly kind: "core-exports"; readonly items: readonly NamedIndex[] }
  | { readonly kind: "core-alias"; readonly sort: Sort; readonly instance: number; readonly name: string }
  | { readonly kind: "component"; readonly definitions: readonly Definition[] }
  | { readonly kind: "instance"; readonly component: number; readonly args: readonly NamedIndex[] }
  | { readonly kind: "exports"; readonly items: readonly NamedIndex[] }
  | { readonly kind: "alias"; readonly sort: Sort; readonly instance: number; readonly name: string }
  | { readonly kind: "outer"; readonly sort: Sort; readonly count: number; readonly index: number }
  | { readonly kind: "import"; readonly name: string; readonly entity: Entity }
  | { readonly kind: "export"; readonly name: string; readonly sort: Sort; readonly index: number }
  | { readonly kind: "lift"; readonly core: number; readonly type: FuncType; readonly options: CanonicalOptions }
  | { readonly kind: "lower"; readonly func: number; readonly type: FuncType; readonly options: CanonicalOptions }
  /** A resource type with its destructor, a core function. It defines no core function, unlike those that follow. */
  | { readonly kind: "resource"; readonly resource: WitResource; readonly destructor: number | null }
  | { readonly kind: "resource.new" | "resource.drop" | "resource.rep"; readonly resource: WitResource }
  | { readonly kind: "built-in"; readonly name: string }
  | { readonly kind: "start" };
