/**
 * The guest's side of each WIT interface, one file each. In: the names of the interfaces that a component imports, and the run
 * as an `ImportScope`. Out: functions and resource classes for the generated glue. Holds always: every function is
 * guarded (allowed here, paid for first) and every byte that a guest can ask for is bounded before it is made. Which
 * interfaces a component may import is decided by admission, not here.
 */
export { askConnector, CONNECTORS, type ConnectorQuestion, type ConnectorReply } from "./connectors.ts";
export { type CoreAbi, coreAbi } from "./core-abi.ts";
export type { EmbedderFunction } from "./embedder.ts";
export { grantProblem } from "./granted-directory.ts";
export { INVOKE, type InvokeAnswer, type InvokeQuestion } from "./invoke.ts";
export { type InterfaceLink, isStateless, linkImports } from "./link.ts";
export { PRICES } from "./prices.ts";
export type {
  HostAnswer,
  ImportCounters,
  ImportEnding,
  ImportedInterface,
  ImportScope,
  InvocationFacts,
} from "./scope.ts";
