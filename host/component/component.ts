/**
 * What a component is. In: the bytes of a WASI component, hostile. Out: its imports and exports with WIT types, its
 * core modules, every name in it; its plain functions as operations with JSON Schemas; values between JSON and what
 * jco's glue takes. Holds always: work grows with the bytes and ends at a cap, what is not understood is refused, types
 * are shared and never expanded. Not promised: that the component is valid; the transpiler's validation says that.
 */
export type {
  CanonOptions,
  ComponentInfo,
  CoreKind,
  CoreModuleInfo,
  ExternInfo,
  ExternSort,
  InstanceInfo,
  NamedFunc,
  NameUse,
  NameWhere,
  StringEncoding,
} from "./component-info.ts";
export { decodeComponent } from "./decode.ts";
export { type BinaryKind, kindOf } from "./kind.ts";
export { checkNames, type UnsafeName } from "./name-gate.ts";
export {
  type FuncType,
  findType,
  MAX_TYPE_DEPTH,
  type PrimitiveKind,
  partsOf,
  type WitCase,
  type WitField,
  type WitKind,
  type WitList,
  type WitNames,
  type WitRecord,
  type WitResource,
  type WitType,
  type WitVariant,
} from "./wit-type.ts";
