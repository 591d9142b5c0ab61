/**
 * Providers: what answers for a capability. In: a `RunRequest`. Out: run events in order and one `Outcome`. Holds always: a
 * provider knows no face, no transport and no database; it starts no shell and no process. The adapter that makes a component
 * a provider lives in `invocation/`.
 */
export type { Evidence, Failure, Outcome, RunPhase, Usage } from "./outcome.ts";
export type { CapabilityEvent, Emitter, Provider, RunEvent, RunRequest, RunSignal } from "./provider.ts";
export { ProviderRegistry } from "./registry.ts";
