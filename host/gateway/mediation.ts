import { channel } from "node:diagnostics_channel";
import semver from "semver";
import { CONNECTOR_FAILURES, type ConnectorEvidence, type ConnectorFailureClass, quote } from "../errors/errors.ts";
import { type ConnectorGrant, parseJsonText } from "../manifest/manifest.ts";
import { type ConnectorContext, ConnectorError, type ConnectorResponse } from "./connector.ts";
import { type Binding, type Connectors, DEFAULT_BYTES } from "./connectors.ts";
import { mayCross, privacyProblem } from "./privacy.ts";

/** A call of a guest, and what its capability was granted. */
export interface ConnectorCall {
  readonly connector: string;
  readonly operation: string;
  /** JSON text. */
  readonly payload: string;
  /** Bytes that the guest has for the response; null: it has no place for any. */
  readonly room: number | null;
  /** The connectors that the manifest declares, each with the versions that will do. */
  readonly declared: readonly ConnectorGrant[];
  readonly context: Omit<ConnectorContext, "responseBytes">;
}

/** What comes of it. `evidence` is null only for a request that cannot be parsed. */
export type ConnectorAnswer =
  | {
      readonly kind: "response";
      readonly resultClass: string;
      /** JSON text. */
      readonly payload: string;
      readonly evidence: ConnectorEvidence;
    }
  | { readonly kind: "invalid-request"; readonly message: string; readonly evidence: null }
  | {
      readonly kind: "failure";
      readonly failureClass: ConnectorFailureClass;
      /** The connector's own word where it did not carry the request out, else the failure class. */
      readonly code: string;
      readonly message: string;
      readonly retryable: boolean;
      readonly evidence: ConnectorEvidence;
    };

const OPERATION = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const WORD = /^[a-z0-9][a-z0-9_-]{0,63}$/;
/** Ids longer than this are bound to nothing, and stand in evidence. */
const LONGEST_ID = 128;
const LONGEST_MESSAGE = 1_024;
/** Commas, colons and brackets of a payload: parsing a million keys and looking at each would hold up the main thread for seconds. */
const MOST_MARKS = 65_536;

const calls = channel("airlock:gateway:call");
const failures = channel("airlock:gateway:connector-failed");

/** Takes one call through the chain. Never rejects. */
export function mediate(call: ConnectorCall, connectors: Connectors): Promise<ConnectorAnswer> {
  return new Mediation(call, connectors).carryOut();
}

/** Where the chain is left. */
class Refusal {
  readonly failureClass: ConnectorFailureClass;
  readonly message: string;
  readonly code: string;
  readonly retryable: boolean;

  constructor(failureClass: ConnectorFailureClass, message: string, code: string = failureClass, retryable = false) {
    this.failureClass = failureClass;
    this.message = message;
    this.code = code;
    this.retryable = retryable;
  }
}

/** One call on its way through the chain. */
export class Mediation {
  readonly #call: ConnectorCall;
  readonly #connectors: Connectors;
  #resolvedVersion: string | null = null;

  constructor(call: ConnectorCall, connectors: Connectors) {
    this.#call = call;
    this.#connectors = connectors;
  }

  /** Evidence of a call that is given up under way: the connector may or may not have done what it was asked. */
  get givenUp(): ConnectorEvidence {
    return this.#failure("execution_failed");
  }

  /** Takes it through, once. Never rejects. */
  async carryOut(): Promise<ConnectorAnswer> {
    const answer = await this.#carryOut();
    const { runId, capabilityId } = this.#call.context;
    if (calls.hasSubscribers) calls.publish({ runId, capabilityId, evidence: answer.evidence });
    return answer;
  }

  async #carryOut(): Promise<ConnectorAnswer> {
    const { connector, operation } = this.#call;
    const parsed = this.#parse();
    if (typeof parsed === "string") return { kind: "invalid-request", message: parsed, evidence: null };
    try {
      const binding = this.#resolve();
      this.#checkRequest(parsed.payload, binding);
      const response = await this.#invoke({ operation, payload: parsed.payload }, binding);
      const { resultClass, text } = this.#checkResponse(response, binding);
      const evidence = { connectorId: connector, resolvedVersion: binding.version, resultClass, failureClass: null };
      return { kind: "response", resultClass, payload: text, evidence };
    } catch (thrown) {
      if (!(thrown instanceof Refusal)) throw thrown;
      const { failureClass, message, code, retryable } = thrown;
      const evidence = this.#failure(failureClass);
      return { kind: "failure", failureClass, code, message, retryable, evidence };
    }
  }

  #failure(failureClass: ConnectorFailureClass): ConnectorEvidence {
    const { connector: connectorId } = this.#call;
    return { connectorId, resolvedVersion: this.#resolvedVersion, resultClass: "failure", failureClass };
  }

  /** What is wrong with the request, or its payload: undefined for one that is longer or fuller than any binding takes, and so is not parsed. */
  #parse(): string | { readonly payload: unknown } {
    const { connector, operation, payload, context } = this.#call;
    if (connector === "" || connector.length > LONGEST_ID)
      return `connector has ${connector.length} characters: 1 to ${LONGEST_ID} are wanted`;
    if (!OPERATION.test(operation))
      return `operation is ${quote(operation, 64)}: 1 to 64 of a-z, 0-9, ".", "_" and "-" are wanted`;
    const most = Math.max(
      DEFAULT_BYTES,
      ...this.#connectors.of(connector, context.capabilityId).map(({ requestBytes }) => requestBytes),
    );
    if (payload.length > most) return { payload: undefined };
    const parsed = parseJsonText(payload, { maxMarks: MOST_MARKS });
    if (parsed.kind === "too-many") return { payload: undefined };
    return parsed.kind === "value" ? { payload: parsed.value } : `the payload ${parsed.text}`;
  }

  #resolve(): Binding {
    const { connector, declared, context } = this.#call;
    const grants = declared.filter(({ id }) => id === connector);
    if (grants.length === 0) {
      const names = declared.map(({ id }) => quote(id)).join(", ") || "none";
      throw new Refusal("undeclared", `grants.connectors does not name ${quote(connector)}: it names ${names}`);
    }
    const bound = this.#connectors.of(connector, context.capabilityId);
    const newest = bound[0];
    if (newest === undefined)
      throw new Refusal("unbound", `no connector ${quote(connector)} is bound for this capability`);
    const binding = bound.find(({ version }) => grants.some(({ range }) => semver.satisfies(version, range)));
    this.#resolvedVersion = (binding ?? newest).version;
    if (binding !== undefined) return binding;
    const ranges = grants.map(({ range }) => quote(range)).join(", ");
    const versions = bound.map(({ version }) => version).join(", ");
    throw new Refusal("incompatible", `the granted range of ${quote(connector)} is ${ranges}: bound is ${versions}`);
  }

  #checkRequest(payload: unknown, { requestBytes }: Binding): void {
    const bytes = envelopeBytes(this.#call.connector, this.#call.operation, this.#call.payload);
    if (bytes > requestBytes)
      throw new Refusal("bounded_io", `the request has ${bytes} bytes: at most ${requestBytes} may be asked`);
    if (payload === undefined)
      throw new Refusal("bounded_io", `the request holds more than ${MOST_MARKS} values and keys`);
    const problem = privacyProblem(payload);
    if (problem !== null) throw new Refusal("unauthorized_output", `the request may not leave the guest: ${problem}`);
    if (this.#call.room === null)
      throw new Refusal("invalid_response_memory", CONNECTOR_FAILURES.invalid_response_memory.text);
  }

  async #invoke(request: { operation: string; payload: unknown }, binding: Binding): Promise<ConnectorResponse> {
    const context = { ...this.#call.context, responseBytes: this.#responseBytes(binding) };
    const { signal } = context;
    let stopWaiting = (): void => {};
    try {
      return await new Promise<ConnectorResponse>((resolve, reject) => {
        stopWaiting = () => reject(new ConnectorError("run-ended", "the run has ended"));
        if (signal.aborted) return stopWaiting();
        signal.addEventListener("abort", stopWaiting);
        // Not `resolve` alone: once it has a promise, it listens to nothing else.
        Promise.resolve(binding.connector.invoke(request, context)).then(resolve, reject);
      });
    } catch (thrown) {
      throw this.#failed(thrown, binding);
    } finally {
      signal.removeEventListener("abort", stopWaiting);
    }
  }

  /** A connector's own words go to the guest when they may; what else it throws goes to the application alone. */
  #failed(thrown: unknown, { id, version }: Binding): Refusal {
    const { runId, capabilityId } = this.#call.context;
    if (failures.hasSubscribers)
      failures.publish({ connector: `${id}@${version}`, runId, capabilityId, error: thrown });
    const said = saidBy(thrown);
    const message =
      said !== null && mayCross(said.message)
        ? said.message.slice(0, LONGEST_MESSAGE)
        : "the connector did not carry the request out";
    return new Refusal("execution_failed", message, said?.code ?? "failed", said?.retryable ?? false);
  }

  #checkResponse(response: unknown, binding: Binding): { readonly resultClass: string; readonly text: string } {
    let resultClass: unknown;
    let text: string | undefined;
    // Whatever a response does when it is read, it ends this call and no more.
    try {
      const read = (response ?? {}) as Partial<ConnectorResponse>;
      ({ resultClass } = read);
      text = JSON.stringify(read.payload);
    } catch {}
    if (typeof resultClass !== "string" || !WORD.test(resultClass) || text === undefined)
      throw this.#failed(new TypeError("a response is { resultClass: a short word, payload: a JSON value }"), binding);
    const bytes = envelopeBytes("", resultClass, text);
    const most = this.#responseBytes(binding);
    if (bytes > most) throw new Refusal("bounded_io", `the response has ${bytes} bytes: at most ${most} may come`);
    // What the guest would read is what is looked at: a value can write itself otherwise than it reads.
    const parsed = parseJsonText(text, { maxMarks: MOST_MARKS });
    if (parsed.kind !== "value") throw new Refusal("bounded_io", `the response ${parsed.text}`);
    const problem = privacyProblem(parsed.value);
    if (problem !== null) throw new Refusal("unauthorized_output", `the response may not enter the guest: ${problem}`);
    return { resultClass, text };
  }

  #responseBytes({ responseBytes }: Binding): number {
    return Math.min(responseBytes, this.#call.room ?? 0);
  }
}

/** Length of the envelope of the host ABI: `{ abi_version, connector_id?, operation or result_class, payload }` without spaces. */
function envelopeBytes(connectorId: string, word: string, payload: string): number {
  const envelope =
    connectorId === ""
      ? { abi_version: "1.0.0", result_class: word }
      : { abi_version: "1.0.0", connector_id: connectorId, operation: word };
  return Buffer.byteLength(JSON.stringify(envelope)) + Buffer.byteLength(payload) + ',"payload":'.length;
}

/**
 * What a ConnectorError says, made by any copy of this package; null for anything else, and for one that cannot be read. Each field is
 * read once: what was checked is what the guest gets.
 */
function saidBy(thrown: unknown): Pick<ConnectorError, "code" | "message" | "retryable"> | null {
  try {
    if (!(thrown instanceof Error) || thrown.name !== "ConnectorError") return null;
    const { code, message, retryable } = thrown as Partial<ConnectorError>;
    if (typeof code !== "string" || !WORD.test(code) || typeof message !== "string") return null;
    return { code, message, retryable: retryable === true };
  } catch {
    return null;
  }
}
