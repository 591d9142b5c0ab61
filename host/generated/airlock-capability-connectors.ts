// Made from wit/ by .ci/generate.ts. Do not edit.
/** @module Interface airlock:capability/connectors@1.0.0 **/
/**
 * Asks a connector and waits. `connector` is its id without a version: the newest bound version inside of the granted range
 * answers. `operation` and what stands in `payload`, one JSON value as text, are the connector's own. Each call counts against
 * `hostCalls`, its texts against `hostBytesOut` and `hostBytesIn`.
 */
export declare function invoke(connector: string, operation: string, payload: string): Response;
export type Failure = import('./airlock-capability-types.ts').Failure;
/**
 * What a connector answered.
 */
export interface Response {
  /**
   * The connector's own word for how it went, such as `success`.
   */
  resultClass: string,
  /**
   * One JSON value as text.
   */
  payload: string,
}
/**
 * Why a call has no response. This run goes on. A core module has one more, for a response that has no place in its memory: the place
 * of a component's is its allocator's to find.
 */
export type ConnectorError = ConnectorErrorInvalidRequest | ConnectorErrorUndeclared | ConnectorErrorUnbound | ConnectorErrorIncompatible | ConnectorErrorUnauthorizedOutput | ConnectorErrorBoundedIo | ConnectorErrorExecutionFailed;
/**
 * The names or the payload are not what a request is made of. Says what is wanted. The only one that leaves no evidence.
 */
export interface ConnectorErrorInvalidRequest {
  tag: 'invalid-request',
  val: string,
}
/**
 * The manifest's `grants.connectors` does not name the connector. Says what it names.
 */
export interface ConnectorErrorUndeclared {
  tag: 'undeclared',
  val: string,
}
/**
 * The application has bound no such connector for this capability.
 */
export interface ConnectorErrorUnbound {
  tag: 'unbound',
  val: string,
}
/**
 * No bound version of the connector is inside of the granted range. Says which is bound.
 */
export interface ConnectorErrorIncompatible {
  tag: 'incompatible',
  val: string,
}
/**
 * The request or the response carries what may not cross. Says where.
 */
export interface ConnectorErrorUnauthorizedOutput {
  tag: 'unauthorized-output',
  val: string,
}
/**
 * The request or the response is larger than it may be. Says how large it may be.
 */
export interface ConnectorErrorBoundedIo {
  tag: 'bounded-io',
  val: string,
}
/**
 * The connector did not carry the request out: `code` is its own word.
 */
export interface ConnectorErrorExecutionFailed {
  tag: 'execution-failed',
  val: Failure,
}
