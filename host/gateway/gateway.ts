/**
 * The gateway: one mediated call of a guest through its chain. In: what a guest asks of a connector, and what its capability was granted.
 * Out: the response or why there is none, and the evidence of the call. Holds always: nothing is asked of a connector that was not
 * declared, bound, in range, in bounds and free of what may not cross, and nothing else comes back. Not promised: that a connector
 * of the application's own keeps to what its request says.
 */
export {
  type Connector,
  type ConnectorContext,
  ConnectorError,
  type ConnectorRequest,
  type ConnectorResponse,
} from "./connector.ts";
export {
  CONNECTOR_KINDS,
  CONNECTOR_LIST_SCHEMA,
  type ConnectorList,
  type ListedConnector,
  listRefusal,
  parseConnectorList,
} from "./connector-list.ts";
export { type BindOptions, type BoundConnector, Connectors } from "./connectors.ts";
export type { Due, SchedulerClock } from "./due-delivery.ts";
export { type EnvConnectorOptions, envConnector } from "./env-connector.ts";
export { type HttpConnectorOptions, httpConnector } from "./http-connector.ts";
export type { HttpHost, HttpMethod } from "./http-hosts.ts";
export { type KvStoreOptions, kvStoreConnector } from "./kv-store-connector.ts";
export { type ConnectorAnswer, type ConnectorCall, Mediation, mediate } from "./mediation.ts";
export { type ObjectStoreConnectorOptions, objectStoreConnector } from "./object-store-connector.ts";
export { type SchedulerConnector, type SchedulerOptions, schedulerConnector } from "./scheduler-connector.ts";
