/**
 * Errors and endings. In: what went wrong, as a code and a sentence. Out: `HostError` for what a caller got wrong or
 * the host cannot do, `ENDINGS` for what a guest did. Holds always: one class, one table of codes, one table of
 * endings; errors cross threads as records. Not promised: the wording of a message.
 */
export { assertNever } from "./assert-never.ts";
export { CODES, type CodeEntry, type HostErrorCode } from "./codes.ts";
export {
  CONNECTOR_FAILURES,
  type ConnectorEvidence,
  type ConnectorFailureClass,
  type ConnectorFailureEntry,
  INVALID_REQUEST_STATUS,
} from "./connector-failures.ts";
export { ENDINGS, type Ending, FAILURE_CODES, type FailureCode, NATIVE_ENDINGS, type OutcomeKind } from "./endings.ts";
export { type ErrorRecord, HostError, isHostError } from "./host-error.ts";
export { messageOf, nearest, quote } from "./text.ts";
