/** What the one table says of a way in which a mediated connector call fails. */
export interface ConnectorFailureEntry {
  /** What `connector_invoke` of the core profile answers. */
  readonly status: -1 | -2 | -3 | -4 | -5 | -6;
  /** What it means, in one clause. */
  readonly text: string;
}

/** Every way in which a connector call fails once its request could be parsed, with the status of the Traverse Host ABI. */
export const CONNECTOR_FAILURES = {
  undeclared: { status: -3, text: "the manifest's grants.connectors does not name the connector" },
  unbound: { status: -2, text: "the application has bound no such connector for the capability" },
  incompatible: { status: -4, text: "no bound version of the connector is inside of the granted range" },
  unauthorized_output: { status: -4, text: "the request or the response carries what may not cross" },
  bounded_io: { status: -5, text: "the request or the response is larger than it may be" },
  execution_failed: { status: -6, text: "the connector did not carry the request out" },
  invalid_response_memory: { status: -1, text: "the response has no place in the guest's memory" },
} as const satisfies Readonly<Record<string, ConnectorFailureEntry>>;

/** What `connector_invoke` answers for a request that cannot be parsed, which leaves no evidence. */
export const INVALID_REQUEST_STATUS = -1;

/** A way in which a connector call fails. */
export type ConnectorFailureClass = keyof typeof CONNECTOR_FAILURES;

/** What is kept of a connector call: never anything of its request or its response. */
export interface ConnectorEvidence {
  readonly connectorId: string;
  /** Null where no version was looked for, or none is bound. */
  readonly resolvedVersion: string | null;
  /** The connector's own word for how it went, such as `success`; `failure` where `failureClass` says why. */
  readonly resultClass: string;
  readonly failureClass: ConnectorFailureClass | null;
}
