import type { FuncType, WitType } from "./wit-type.ts";

export interface NamedFunc {
  readonly name: string;
  readonly type: FuncType;
}

/** Something that a component imports or exports, by its sort. */
export type ExternInfo =
  | { readonly sort: "func"; readonly name: string; readonly type: FuncType }
  | ({ readonly sort: "instance"; readonly name: string } & InstanceInfo)
  /** `type` is null for a resource. */
  | { readonly sort: "type"; readonly name: string; readonly type: WitType | null }
  | { readonly sort: "component" | "module" | "value"; readonly name: string };

export type ExternSort = ExternInfo["sort"];

/** What an instance holds, one level deep. */
export interface InstanceInfo {
  readonly funcs: readonly NamedFunc[];
  readonly resources: readonly string[];
  /** Names of the types that are not resources. */
  readonly types: readonly string[];
  /** Names of the instances, components, modules and values in it. */
  readonly others: readonly string[];
}

export type CoreKind = "func" | "table" | "memory" | "global" | "tag";

/** One core module, at any depth of components. */
export interface CoreModuleInfo {
  /** Where it stands, such as `component 1 > core module 0`. */
  readonly path: string;
  /** Its bytes: `bytes.subarray(start, end)`. */
  readonly start: number;
  readonly end: number;
  readonly imports: readonly { readonly module: string; readonly name: string; readonly kind: CoreKind }[];
  readonly exports: readonly { readonly name: string; readonly kind: CoreKind }[];
  /** Functions, memories and tables that it defines; imported ones are not counted. */
  readonly functions: number;
  readonly memories: number;
  readonly tables: number;
  /** Whether the host can make what memory it defines, and so hold it: one, with 32 bits, and no other one beside it. */
  readonly hostMakesMemory: boolean;
  /** The largest function body, in bytes, and the most locals that one body declares (parameters not counted). */
  readonly largestBodyBytes: number;
  readonly mostLocals: number;
  readonly hasStart: boolean;
  readonly customSections: readonly string[];
}

export type NameWhere =
  | "core-import-module"
  | "core-import-name"
  | "core-export"
  /** Names that link core instances: instantiate arguments, inline exports, aliases, module types. */
  | "core-link"
  | "component-import"
  | "component-export"
  /** Names that link components: instantiate arguments, inline exports, aliases, instance and component types. */
  | "component-link"
  /** Record fields, variant cases, enum and flags labels, parameters. */
  | "type-name"
  | "custom-section";

/** A name in the binary. It is hostile text: quote it wherever it is shown. */
export interface NameUse {
  readonly name: string;
  readonly where: NameWhere;
  /** Where it stands, such as `component 1 > core module 0`; the top level is `component`. */
  readonly path: string;
}

export type StringEncoding = "utf8" | "utf16" | "latin1+utf16";

/** Which canonical options occur anywhere. */
export interface CanonOptions {
  readonly async: boolean;
  readonly callback: boolean;
  readonly gc: boolean;
  readonly memory: boolean;
  readonly realloc: boolean;
  readonly postReturn: boolean;
  /** The encodings that are written out; utf8 is also the default. */
  readonly stringEncodings: readonly StringEncoding[];
}

/** What a component is. */
export interface ComponentInfo {
  readonly imports: readonly ExternInfo[];
  readonly exports: readonly ExternInfo[];
  /** Every core module at any depth, in the order of the bytes. */
  readonly coreModules: readonly CoreModuleInfo[];
  /** Canonical built-ins at any depth other than lift, lower and resource.new/drop/rep, by the spec's names, sorted. */
  readonly canonBuiltins: readonly string[];
  readonly canonOptions: CanonOptions;
  /** True when any component in it has a `start`. */
  readonly hasComponentStart: boolean;
  /** Names of the top level's imports of core modules and components. */
  readonly componentImports: readonly string[];
  /** Names of the top level's imports of values. */
  readonly valueImports: readonly string[];
  /** Paths of the nested components. */
  readonly nestedComponents: readonly string[];
  /** Core instances and component instances once all is instantiated: nested components multiply them. */
  readonly instances: number;
  /** Depth of component nesting; 1 when there is none. */
  readonly depth: number;
  /**
   * Size of the largest type when every mention of a type is written out, as the transpiler does in its code: a type of
   * sixty lines can reach 2^60. Infinity when it is past counting.
   */
  readonly largestTypeNodes: number;
  /** True when it needs WASI 0.3 or the async ABI; `asyncReasons` says by what, sorted. */
  readonly usesAsync: boolean;
  readonly asyncReasons: readonly string[];
  readonly names: readonly NameUse[];
}
