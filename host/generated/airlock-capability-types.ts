// Made from wit/ by .ci/generate.ts. Do not edit.
/** @module Interface airlock:capability/types@1.0.0 **/
/**
 * Why a capability declined a request. This is an answer, not a crash.
 */
export interface Failure {
  /**
   * The capability's own stable word for what went wrong, such as `bad-header`.
   */
  code: string,
  /**
   * One line for a person.
   */
  message: string,
  /**
   * True when the same request may succeed later.
   */
  retryable: boolean,
  /**
   * More, as JSON text.
   */
  detail?: string,
}
