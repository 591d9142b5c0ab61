import type { Limits } from "../manifest/manifest.ts";
import type { ImportDecision } from "./interfaces.ts";
import type { Violation } from "./violations.ts";

/** Everything that was looked at, as data: what `inspect` shows, and what a refusal carries. */
export interface AdmissionReport {
  readonly accepted: boolean;
  readonly capability: { readonly id: string; readonly version: string } | null;
  /** Length and digest of the component; 0 and empty when it could not be read. */
  readonly bytes: number;
  readonly sha256: string;
  readonly kind: "component" | "core-module" | "unknown";
  readonly hostAbi: { readonly requested: string; readonly supported: readonly string[] };
  readonly coreModules: number;
  readonly memories: number;
  readonly imports: readonly ImportDecision[];
  readonly exports: readonly string[];
  readonly operations: readonly string[];
  readonly grants: {
    readonly fs: string | null;
    readonly imports: readonly string[];
    /** Capabilities that it may call, as `id@range`. */
    readonly invoke: readonly string[];
    /** Connectors that it may call where they are bound, as `id@range`. */
    readonly connectors: readonly string[];
  };
  /** The effective limits of a run that asks for nothing. */
  readonly limits: Limits;
  readonly violations: readonly Violation[];
}
