/** The public names of Airlock. What is not listed here is not part of the contract. */
export {
  type AdmissionReport,
  type ImportDecision,
  VIOLATION_CODES,
  type Violation,
  type ViolationCode,
} from "./admission/admission.ts";
export {
  CODES,
  type CodeEntry,
  ENDINGS,
  type Ending,
  type FailureCode,
  HostError,
  type HostErrorCode,
  isHostError,
  type OutcomeKind,
} from "./errors/errors.ts";
export {
  createHost,
  type Host,
  type HostStats,
  type Installed,
  type PackageInMemory,
} from "./host.ts";
export {
  type EmbedderImports,
  type HostFunction,
  type HostFunctionContext,
  type Run,
  type Signature,
  WitError,
} from "./invocation/invocation.ts";
export { LIMITS, type LimitKey, type Limits, type Manifest, parseManifest } from "./manifest/manifest.ts";
export type { HostOptions } from "./options.ts";
export type { CapabilityEvent, Evidence, Failure, Outcome, RunEvent, RunPhase, Usage } from "./providers/providers.ts";
export type { RunOptions } from "./run-options.ts";
export type { CommittedEvent, EventFilter, Subscription } from "./subscriptions.ts";
