import { Connectors } from "./connectors.ts";
import {
  type Connector,
  type ConnectorContext,
  type ConnectorError,
  type ConnectorResponse,
  mediate,
} from "./gateway.ts";
import type { ConnectorAnswer } from "./mediation.ts";

/** For whom a test calls. */
export function contextOf(changes: Partial<ConnectorContext> = {}): ConnectorContext {
  return {
    runId: "run-1",
    capabilityId: "acme.test",
    capabilityVersion: "1.0.0",
    signal: new AbortController().signal,
    deadline: null,
    responseBytes: 65_536,
    ...changes,
  };
}

/** Asks the connector itself. */
export async function ask(
  connector: Connector,
  operation: string,
  payload: unknown,
  changes: Partial<ConnectorContext> = {},
): Promise<ConnectorResponse> {
  return await connector.invoke({ operation, payload }, contextOf(changes));
}

/** The code with which the connector refuses, or what it answered. */
export async function codeOf(asked: Promise<unknown>): Promise<string> {
  try {
    return `answered ${JSON.stringify(await asked).slice(0, 200)}`;
  } catch (thrown) {
    return (thrown as ConnectorError).code;
  }
}

/** Asks through the whole chain, as a guest does. */
export async function askThroughChain(
  connector: Connector,
  operation: string,
  payload: unknown,
): Promise<ConnectorAnswer> {
  const connectors = new Connectors();
  connectors.bind(connector);
  const { responseBytes: _, ...context } = contextOf();
  const { id } = connector;
  const declared = [{ id, range: "^1.0.0" }];
  return await mediate(
    { connector: id, operation, payload: JSON.stringify(payload), room: 65_536, declared, context },
    connectors,
  );
}

/** The body of a response, in UTF-8. */
export function bodyText({ payload }: ConnectorResponse): string {
  return Buffer.from((payload as { readonly body: string }).body, "base64").toString();
}
