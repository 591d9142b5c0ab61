/**
 * Invocation: the adapter that makes an admitted component a provider. In: a request and an emitter. Out: the run's events, in
 * order, and its outcome, a value. Holds always: every run settles once, with what it used; a run that is ended from outside leaves
 * its thread, be it in a tight loop or in a host call.
 */
export { ComponentProvider, type ComponentProviderInit } from "./component-provider.ts";
export {
  type EmbedderImports,
  type HostFunction,
  type HostFunctionContext,
  offerFunctions,
  WitError,
} from "./host-calls.ts";
export { DEEPEST, type Lane, type LaneStats, Lanes } from "./lanes.ts";
export type { Signature } from "./operations.ts";
