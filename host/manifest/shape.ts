import type { Limits } from "./limits.ts";

/** A JSON Schema as a package wrote it. Hostile until `checkPackageSchema` has passed, and slow after it too. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

/** Whether a capability only answers, also emits events, or keeps state (in a connector). */
export type ServiceType = "stateless" | "subscribable" | "stateful";

/** An event that a capability may emit. */
export interface Emits {
  readonly type: string;
  readonly version: string;
  readonly schema?: JsonSchema;
}

/** A request that works, with its answer where it is known. */
export interface OperationExample {
  readonly title?: string;
  readonly input: unknown;
  readonly output?: unknown;
}

/** Something that can be asked of a capability. */
export interface Operation {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly input: JsonSchema;
  readonly output: JsonSchema;
  readonly examples?: readonly OperationExample[];
}

/** A capability that may be called: the newest installed version inside of the semver range `versions`. */
export interface InvokeGrant {
  readonly id: string;
  readonly versions: string;
}

/** A connector that may be called: the newest bound version inside of the semver range `range`. */
export interface ConnectorGrant {
  readonly id: string;
  readonly range: string;
}

/** What a capability asks for. Absent and empty mean the same. */
export interface Grants {
  readonly env?: readonly string[];
  readonly fs?: { readonly read?: string; readonly write?: string };
  readonly http?: readonly string[];
  readonly imports?: readonly string[];
  /** Capabilities that it may call, by id, and the versions that will do. */
  readonly invoke?: readonly InvokeGrant[];
  readonly tools?: readonly string[];
  /** Connectors of the application that it may call, by id, and the versions that will do. */
  readonly connectors?: readonly ConnectorGrant[];
  readonly models?: readonly string[];
}

/** What an author writes: a manifest before the build has filled in what only the component can say. */
export interface SourceManifest {
  readonly id: string;
  /** Exact semantic version without build metadata. */
  readonly version: string;
  readonly title?: string;
  readonly description?: string;
  readonly artifactType: "wasm";
  readonly profile: "component" | "core";
  /** An exact version; whether the host supports it is admission's question. */
  readonly hostAbi: string;
  readonly serviceType: ServiceType;
  readonly emits: readonly Emits[];
  readonly operations: readonly Operation[];
  readonly grants: Grants;
  readonly limits: Partial<Limits>;
}

/**
 * What a capability says of itself that is a function of the application. It has no Wasm, so it has nothing of what belongs to that:
 * no component, no imports, and no grants, for nothing holds trusted code to them. Deep-frozen; every default is filled in.
 */
export interface NativeManifest
  extends Pick<
    SourceManifest,
    "id" | "version" | "title" | "description" | "serviceType" | "emits" | "operations" | "limits"
  > {
  readonly artifactType: "native";
}

/** What a built package says of itself. Deep-frozen; every default is filled in. */
export interface Manifest extends SourceManifest {
  /** Path of the Wasm file, relative to the package, with forward slashes. */
  readonly component: string;
  /** 64 lower-case hex digits. */
  readonly sha256: string;
  /** Exactly the interfaces that the component imports, as `namespace:package/interface@version`. */
  readonly imports: readonly string[];
}
