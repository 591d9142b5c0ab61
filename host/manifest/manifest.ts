/**
 * Manifests. In: the text of a `capability.json`, or the path of a package. Out: a deep-frozen `Manifest` with every
 * default filled in, or one HostError that lists every problem. Holds always: what comes out was checked field by
 * field and is never changed; unknown fields are refused, and so is a manifest of another artifact type than the one asked for. Not promised: that a manifest is true or that its schemas
 * and grants are acceptable, which admission decides with `checkPackageSchemas` and `unsupportedGrants`.
 */
export { BinaryCache, type BinaryCacheStats } from "./binary-cache.ts";
export { unsupportedGrants } from "./grants.ts";
export { checkPackageSchema, checkPackageSchemas } from "./json-schema.ts";
export { type JsonText, jsonDepth, jsonExcess, MAX_JSON_DEPTH, MAX_JSON_MARKS, parseJsonText } from "./json-text.ts";
export {
  checkLimits,
  effectiveLimits,
  LIMIT_KEYS,
  LIMITS,
  type LimitEntry,
  type LimitKey,
  type LimitPolicy,
  type Limits,
  parseLimits,
  resolvePolicy,
} from "./limits.ts";
export { MANIFEST_SCHEMA, NATIVE_CONDITION } from "./manifest-schema.ts";
export { type Package, readComponentFile, readNativeManifest, readPackage, readSourceManifest } from "./package.ts";
export { MAX_MANIFEST_BYTES, parseManifest, parseNativeManifest, parseSourceManifest } from "./parse.ts";
export { CORE_TABLES, policyOfProfile } from "./profile-limits.ts";
export { brief, knownNames } from "./schema-text.ts";
export { createSchemaValidator, type SchemaValidator, type ValueCheck } from "./schema-validator.ts";
export type {
  ConnectorGrant,
  Emits,
  Grants,
  InvokeGrant,
  JsonSchema,
  Manifest,
  NativeManifest,
  Operation,
  OperationExample,
  ServiceType,
  SourceManifest,
} from "./shape.ts";
