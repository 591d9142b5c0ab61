/**
 * What a component is. In: the bytes of a WASI component, hostile. Out: its imports and exports with WIT types, its
 * core modules, every name in it; its plain functions as operations with JSON Schemas; values between JSON and what
 * jco's glue takes. Holds always: work grows with the bytes and ends at a cap, what is not understood is refused, types
 * are shared and never expanded. Not promised: that the component is valid; the transpiler's validation says that.
 */

export { camelCase } from "./camel-case.ts";
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
export { ConversionError } from "./conversion-error.ts";
export { type CoreArtifact, decodeCoreModule } from "./core-artifact.ts";
export { decodeComponent, decodeStructure } from "./decode.ts";
export { isNullable, type NumberKind, TYPED_ARRAYS } from "./js-forms.ts";
export type { Direction, JsonSchema } from "./json-schema.ts";
export { jsonToArgs, jsonToWit } from "./json-to-wit.ts";
export { type BinaryKind, kindOf } from "./kind.ts";
export { checkNames, type UnsafeName } from "./name-gate.ts";
export { type Operation, operations } from "./operations.ts";
export type { Entity } from "./scope.ts";
export type { CanonicalOptions, CoreSort, Definition, NamedIndex, Sort } from "./structure.ts";
export { typeText } from "./type-text.ts";
export {
  flatSignature,
  liftWalkability,
  lowerWalkability,
  type Side,
  type SignatureClass,
  SignatureSearch,
  type Walkability,
} from "./walkability.ts";
export { failureToJson, type Json, resultToJson, witToJson } from "./wit-to-json.ts";
export {
  type FuncType,
  isPlain,
  MAX_TYPE_DEPTH,
  type PrimitiveKind,
  partsOf,
  TypeSearch,
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
