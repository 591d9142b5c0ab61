/**
 * Invocation: one request for a capability. In: a provider, a request, a deadline. Out: a `Run`, whose events come in order,
 * with one terminal event at the end, and whose outcome is a value. Holds always: every run settles once; cancel and deadline
 * reach a tight loop and a blocked host call. The adapter that makes a component a provider lives here.
 */
export { ComponentProvider, type ComponentProviderInit } from "./component-provider.ts";
export {
  type EmbedderImports,
  type HostFunction,
  type HostFunctionContext,
  offerFunctions,
  WitError,
} from "./host-calls.ts";
export type { Signature } from "./operations.ts";
export { Cancellation, Run } from "./run.ts";
