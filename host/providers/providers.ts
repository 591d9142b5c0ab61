/**
 * Providers: what answers for a capability. In: a `RunRequest`. Out: run events in order and one `Outcome`. Holds always: a
 * provider knows no face, no transport and no database; it starts no shell and no process. The adapter that makes a component
 * a provider lives in `invocation/`.
 */
export {
  type Capabilities,
  COMMANDS,
  type CommandAnswer,
  type CommandName,
  type CommandRequest,
  OLLAMA_PATHS,
  type OllamaAnswer,
  type OllamaPath,
  type TransportStatus,
} from "./commands.ts";
export type { Evidence, Failure, Outcome, RunPhase, RunReport, RunResult, TokenUsage, Usage } from "./outcome.ts";
export type {
  CapabilityEvent,
  Commands,
  Emitter,
  Lifecycle,
  LiveEvent,
  Provider,
  RunAccount,
  RunEvent,
  RunRequest,
  RunSignal,
  TerminalEvent,
} from "./provider.ts";
export { ProviderRegistry } from "./registry.ts";
