// Made from wit/ by .ci/generate.ts. Do not edit.
declare module 'airlock:capability/invoke@1.0.0' {
  /**
   * Calls an operation of a capability and waits. `capability` is its id without a version: the newest installed version inside
   * of the granted range answers. `input` is one JSON value as text; so is the answer. Each call counts against `hostCalls`, its
   * texts against `hostBytesOut` and `hostBytesIn`.
   */
  export function invoke(capability: string, operation: string, input: string): string;
  export type Failure = import('airlock:capability/types@1.0.0').Failure;
  /**
   * How a call ended that was begun and got no answer.
   */
  export interface Ending {
    /**
     * The kind of the outcome: `trapped`, `out-of-fuel`, `out-of-memory`, `out-of-stack`, `past-deadline`, `over-budget`,
     * `invalid-output`, `cancelled`, `lost`, `provider-failed` or `disconnected`.
     */
    kind: string,
    /**
     * One line for a person.
     */
    message: string,
  }
  /**
   * What a call can draw on.
   * # Variants
   * 
   * ## `"fuel"`
   * 
   * Fuel, for the setup of the callee and for its run.
   * ## `"memory"`
   * 
   * Linear memory.
   * ## `"time"`
   * 
   * Time, up to this run's deadline.
   */
  export type Budget = 'fuel' | 'memory' | 'time';
  /**
   * Why a call has no answer. This run goes on.
   */
  export type InvokeError = InvokeErrorNotGranted | InvokeErrorUnknownCapability | InvokeErrorUnknownOperation | InvokeErrorInvalidInput | InvokeErrorTooDeep | InvokeErrorUnavailable | InvokeErrorOutOfBudget | InvokeErrorDeclined | InvokeErrorEnded;
  /**
   * The manifest's `grants.invoke` does not name the capability. Says what it names.
   */
  export interface InvokeErrorNotGranted {
    tag: 'not-granted',
    val: string,
  }
  /**
   * No version inside of the granted range is installed.
   */
  export interface InvokeErrorUnknownCapability {
    tag: 'unknown-capability',
    val: string,
  }
  /**
   * The capability has no such operation. Says which it has.
   */
  export interface InvokeErrorUnknownOperation {
    tag: 'unknown-operation',
    val: string,
  }
  /**
   * The input is not JSON, is too long, or is not what the operation takes. Says where.
   */
  export interface InvokeErrorInvalidInput {
    tag: 'invalid-input',
    val: string,
  }
  /**
   * Calls are nested as deep as they may be: this run may not call anybody.
   */
  export interface InvokeErrorTooDeep {
    tag: 'too-deep',
  }
  /**
   * The capability cannot be reached, or too many runs wait for it. Later it may answer.
   */
  export interface InvokeErrorUnavailable {
    tag: 'unavailable',
    val: string,
  }
  /**
   * The call needed more than this run had left. The callee's own limits end it as `ended`.
   */
  export interface InvokeErrorOutOfBudget {
    tag: 'out-of-budget',
    val: Budget,
  }
  /**
   * The callee said no.
   */
  export interface InvokeErrorDeclined {
    tag: 'declined',
    val: Failure,
  }
  /**
   * The callee's run ended in any other way.
   */
  export interface InvokeErrorEnded {
    tag: 'ended',
    val: Ending,
  }
}
