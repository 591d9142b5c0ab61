/**
 * Providers: what answers for a capability. In: a `RunRequest`. Out: a run, whose events come in order with exactly one terminal
 * event as the last, and whose outcome is a value; or a HostError, and then nothing has started. Holds always: a slot is given back
 * once; a provider knows no face and no database, starts no shell and no process, and only `http-exchange.ts` opens sockets. The
 * adapter that makes a component a provider lives in `invocation/`. Not promised: that a native provider stops when it is told to.
 */
export type { AdmissionLease } from "./admission-lease.ts";
export { type Clock, type Sleeper, SYSTEM_CLOCK } from "./clock.ts";
export { parseCommand } from "./command-request.ts";
export { COMMAND_SCHEMAS } from "./command-schemas.ts";
export {
  type Capabilities,
  COMMANDS,
  type CommandAnswers,
  type CommandName,
  type CommandRequest,
  OLLAMA_PATHS,
  type OllamaAnswer,
  type OllamaPath,
  type TransportKind,
  type TransportStatus,
} from "./commands.ts";
export { nativeUsage } from "./emitter.ts";
export type { Encoded, Endpoint } from "./endpoint.ts";
export { eventsOf, ndjson, outcomeAlone, type StreamTarget, serverSentEvents } from "./endpoints.ts";
export {
  DeclinedError,
  FUNCTION_LIMITS,
  type FunctionDefinition,
  type FunctionGround,
  functionProvider,
} from "./function-provider.ts";
export type { FunctionContext } from "./function-run.ts";
export type { EndpointDefinition, Given } from "./http-endpoint.ts";
export type { ModelOutput, ModelToolCall } from "./model-output.ts";
export { MODEL_LIMITS, type ModelGround, type ModelProviderDefinition } from "./model-provider.ts";
export {
  type NativeCapability,
  NativeExecutor,
  type NativeExecutorOptions,
  type NativeFunction,
  type NativeManifestInput,
} from "./native-executor.ts";
export { type OllamaDefinition, ollamaProvider } from "./ollama-provider.ts";
export { type OpenAiCompatibleDefinition, openAiCompatibleProvider } from "./openai-compatible-provider.ts";
export type {
  Evidence,
  Failure,
  NestedRun,
  Outcome,
  RunPhase,
  RunReport,
  RunResult,
  TokenUsage,
  UnreadLimit,
  Usage,
} from "./outcome.ts";
export { type CatalogEntry, type PoolCatalog, type ResolvedCatalog, resolveCatalog } from "./pool-catalog.ts";
export type {
  CapabilityEvent,
  Commands,
  Emitter,
  Lifecycle,
  LiveEvent,
  NestedEvents,
  NestedIn,
  Provider,
  RunAccount,
  RunBudget,
  RunEvent,
  RunRequest,
  RunSignal,
  TerminalEvent,
} from "./provider.ts";
export { type ListedProvider, listRefusal, type ProviderList, parseProviderList } from "./provider-list.ts";
export { PROVIDER_LIST_SCHEMA } from "./provider-list-schema.ts";
export { ProviderPool, type ProviderPoolStats } from "./provider-pool.ts";
export { ProviderRun, type Run, type RunSink } from "./provider-run.ts";
export {
  ProviderRuns,
  type ProviderRunsOptions,
  type ProviderRunsStats,
  type StartOptions,
} from "./provider-runs.ts";
export { NDJSON, type RecordFormat, SERVER_SENT_EVENTS, serverSentEvent } from "./record-format.ts";
export { ProviderRegistry } from "./registry.ts";
export { abortSignalOf } from "./run-signal.ts";
export type { ProviderInfo } from "./seat.ts";
export type { Slots } from "./seating.ts";
export type { GateEnd, GateStats, StreamGate } from "./stream-gate.ts";
export type { GateBounds } from "./unread-queue.ts";
export type { WebTarget } from "./web-endpoint.ts";
export type { ClosableTarget, WritableTarget } from "./writable-endpoint.ts";
