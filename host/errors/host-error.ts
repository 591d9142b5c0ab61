import { CODES, type HostErrorCode } from "./codes.ts";
import type { FailureCode } from "./endings.ts";

/** An error as data: what crosses a thread or a process, where an Error loses its class and code. */
export interface ErrorRecord {
  readonly code: HostErrorCode;
  readonly message: string;
  readonly details?: unknown;
}

/**
 * The one error class. A caller got something wrong, or the host cannot do it. Match on `code`, never on the
 * text; `details` is data about what failed (its shape belongs to the code).
 */
export class HostError extends Error {
  readonly code: HostErrorCode;
  readonly failure: FailureCode;
  readonly details: unknown;

  constructor(
    code: HostErrorCode,
    message: string,
    options: { readonly details?: unknown; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "HostError";
    this.code = code;
    this.failure = CODES[code].failure;
    this.details = options.details;
  }

  /** The same error as data. */
  toRecord(): ErrorRecord {
    return {
      code: this.code,
      message: this.message,
      ...(this.details === undefined ? {} : { details: this.details }),
    };
  }

  /** The error again, from data that crossed a thread or a process. */
  static fromRecord(record: ErrorRecord): HostError {
    return new HostError(record.code, record.message, { details: record.details });
  }
}

/** True for a HostError made by any copy of this package: it looks at the code, not at the class. */
export function isHostError(value: unknown): value is HostError {
  return (
    value instanceof Error && "code" in value && typeof value.code === "string" && Object.hasOwn(CODES, value.code)
  );
}
