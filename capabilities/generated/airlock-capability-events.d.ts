// Made from wit/ by .ci/generate.ts. Do not edit.
declare module 'airlock:capability/events@1.0.0' {
  /**
   * Emits one event. `payload` is JSON text. It reaches subscribers once the run has succeeded.
   */
  export function emitEvent(eventType: string, version: string, payload: string): void;
  /**
   * Why an event was refused. The capability goes on; the refusal is counted.
   */
  export type EventError = EventErrorInvalidPayload | EventErrorUndeclaredEvent | EventErrorNotSubscribable | EventErrorTooLarge | EventErrorBudgetExhausted;
  /**
   * The payload is not JSON, or breaks the schema that the manifest declares. Says where.
   */
  export interface EventErrorInvalidPayload {
    tag: 'invalid-payload',
    val: string,
  }
  /**
   * The manifest does not declare this pair of type and version.
   */
  export interface EventErrorUndeclaredEvent {
    tag: 'undeclared-event',
  }
  /**
   * The manifest's service type is not `subscribable`.
   */
  export interface EventErrorNotSubscribable {
    tag: 'not-subscribable',
  }
  /**
   * The payload is longer than the limit `eventBytes`.
   */
  export interface EventErrorTooLarge {
    tag: 'too-large',
  }
  /**
   * The run has used up `eventCount` or `eventTotalBytes`.
   */
  export interface EventErrorBudgetExhausted {
    tag: 'budget-exhausted',
  }
}
