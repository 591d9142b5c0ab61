/** The public names of Airlock. What is not listed here is not part of the contract. */
export {
  type AdmissionReport,
  type ImportDecision,
  type InterfaceClass,
  VIOLATION_CODES,
  type Violation,
  type ViolationCode,
} from "./admission/admission.ts";
export type { CacheStats, CompileStats, DiskCacheStats } from "./compile/compile.ts";
export {
  CODES,
  type CodeEntry,
  ENDINGS,
  type Ending,
  type ErrorRecord,
  FAILURE_CODES,
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
  type InstallTimings,
} from "./host.ts";
export type { HostProviders, ProviderSlots } from "./host-providers.ts";
export {
  type EmbedderImports,
  type HostFunction,
  type HostFunctionContext,
  type LaneStats,
  type Signature,
  WitError,
} from "./invocation/invocation.ts";
export {
  type Emits,
  type Grants,
  type InvokeGrant,
  type JsonSchema,
  LIMITS,
  type LimitEntry,
  type LimitKey,
  type Limits,
  type Manifest,
  type Operation,
  type OperationExample,
  parseManifest,
  type ServiceType,
} from "./manifest/manifest.ts";
export type {
  BenchCase,
  BenchOptions,
  BenchProgress,
  BenchResults,
  BenchSettings,
  BenchSource,
  CaseLoad as BenchCaseLoad,
  CaseResult as BenchCaseResult,
  ComparisonRow as BenchComparisonRow,
  GcPauses,
  LoadResult as BenchLoadResult,
  Machine as BenchMachine,
  SubjectResult as BenchSubjectResult,
  Summary as BenchSummary,
} from "./measure/measure.ts";
export {
  type FuelProfile,
  type ProfiledContext,
  type ProfiledFrame,
  type Speedscope,
  speedscopeOf,
} from "./meter/meter.ts";
export type { HostOptions, InstallOptions } from "./options.ts";
export type { PackageInMemory } from "./package-source.ts";
export type { PoolStats } from "./pool/pool.ts";
export {
  type Capabilities,
  type CapabilityEvent,
  type CatalogEntry,
  COMMANDS,
  type CommandAnswers,
  type CommandName,
  type Commands,
  DeclinedError,
  type Emitter,
  type Evidence,
  type Failure,
  type FunctionContext,
  type FunctionDefinition,
  functionProvider,
  type LiveEvent,
  type NestedIn,
  type NestedRun,
  type Outcome,
  type PoolCatalog,
  type Provider,
  type ProviderInfo,
  type ProviderPoolStats,
  type Run,
  type RunBudget,
  type RunEvent,
  type RunPhase,
  type RunReport,
  type RunRequest,
  type RunResult,
  type RunSignal,
  type TerminalEvent,
  type TokenUsage,
  type TransportStatus,
  type Usage,
} from "./providers/providers.ts";
export type { RunOptions } from "./run-options.ts";
export type { CommittedEvent, EventFilter, Subscription } from "./subscriptions.ts";
