/** What a guest asks of a connector. It was checked: bounded, JSON, and without anything that may not leave the guest. */
export interface ConnectorRequest {
  /** The guest's word for what it wants, such as `get`: 1 to 64 of `a-z`, `0-9`, `.`, `_` and `-`. */
  readonly operation: string;
  /** A JSON value, at most 64 levels deep. */
  readonly payload: unknown;
}

/** What a connector answers. The guest gets it only when it is within its bounds and has nothing that may not cross. */
export interface ConnectorResponse {
  /** How it went, for guest and evidence: 1 to 64 of `a-z`, `0-9`, `_` and `-`, such as `success`. No data of the response. */
  readonly resultClass: string;
  /** A JSON value, at most 64 levels deep. */
  readonly payload: unknown;
}

/** For whom a connector works. */
export interface ConnectorContext {
  readonly runId: string;
  readonly capabilityId: string;
  readonly capabilityVersion: string;
  /** Aborts when the run has ended: nobody waits for the response any more. */
  readonly signal: AbortSignal;
  /** When the run's time is over, in milliseconds since the epoch; null for never. */
  readonly deadline: number | null;
  /** Bytes that the response may have as JSON text; what is longer is refused. */
  readonly responseBytes: number;
}

/**
 * A way to the outside that the application offers to guests. It is trusted code: it gets requests of guests that are not, and
 * decides what they reach. What it throws ends the call as `execution_failed`: a `ConnectorError` with its own code and message,
 * anything else without a word of it, since its text may hold secrets.
 */
export interface Connector {
  /** Lower case, dotted, such as `http` or `acme.crm`. */
  readonly id: string;
  /** Semantic version, exact. A capability asks for a range. */
  readonly version: string;
  /** One line for a person. */
  readonly description?: string;
  invoke(request: ConnectorRequest, context: ConnectorContext): ConnectorResponse | Promise<ConnectorResponse>;
  /** Lets go of what it holds. For whoever made it: the host never calls it, since a connector may be bound to several hosts. */
  close?(): void | Promise<void>;
}

/** Thrown by a connector to say to the guest why it did not do what was asked. */
export class ConnectorError extends Error {
  /** A stable word: 1 to 64 of `a-z`, `0-9`, `_` and `-`, such as `host-not-allowed`. */
  readonly code: string;
  /** Whether the same request can succeed later. */
  readonly retryable: boolean;

  /** `message` is for the guest: one that names a path or an address is not shown to it. */
  constructor(code: string, message: string, options: { readonly retryable?: boolean; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ConnectorError";
    this.code = code;
    this.retryable = options.retryable ?? false;
  }
}
