import { type ConnectorEvidence, messageOf } from "../errors/errors.ts";
import { type ConnectorAnswer, type Connectors, Mediation } from "../gateway/gateway.ts";
import type { ConnectorQuestion, ConnectorReply, HostAnswer } from "../imports/imports.ts";
import type { ConnectorGrant } from "../manifest/manifest.ts";

/** The run that calls connectors. */
export interface ConnectingRun {
  readonly runId: string;
  readonly capabilityId: string;
  readonly capabilityVersion: string;
  /** What its manifest declares. */
  readonly declared: readonly ConnectorGrant[];
  /** Aborts when the run has ended. */
  readonly signal: AbortSignal;
  /** When its time is over, in milliseconds since the epoch; null for never. */
  deadline(): number | null;
}

/** The calls of one run of connectors, one at a time, and their evidence. */
export class ConnectorCalls {
  readonly #run: ConnectingRun;
  readonly #connectors: Connectors;
  readonly #evidence: ConnectorEvidence[] = [];
  #current: Mediation | null = null;
  #stopped = false;

  constructor(run: ConnectingRun, connectors: Connectors) {
    this.#run = run;
    this.#connectors = connectors;
  }

  get evidence(): readonly ConnectorEvidence[] {
    return this.#evidence;
  }

  /** Answers one call; never rejects. */
  async answer([connector, operation, payload, room]: ConnectorQuestion): Promise<HostAnswer> {
    const { runId, capabilityId, capabilityVersion, declared, signal } = this.#run;
    const context = { runId, capabilityId, capabilityVersion, signal, deadline: this.#run.deadline() };
    this.#current = new Mediation({ connector, operation, payload, room, declared, context }, this.#connectors);
    try {
      const answer = await this.#current.carryOut();
      this.#note(answer.evidence);
      return { kind: "value", value: replyOf(answer) };
    } catch (thrown) {
      return { kind: "broken", message: `the call of a connector failed: ${messageOf(thrown)}` };
    } finally {
      this.#current = null;
    }
  }

  /** The run is about to end: for a call that is under way nobody learns any more how it went. */
  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    if (this.#current !== null) this.#evidence.push(this.#current.givenUp);
  }

  #note(evidence: ConnectorEvidence | null): void {
    if (evidence !== null && !this.#stopped) this.#evidence.push(evidence);
  }
}

/** What of the answer the thread gets: not the evidence. */
function replyOf(answer: ConnectorAnswer): ConnectorReply {
  switch (answer.kind) {
    case "response":
      return { kind: "response", resultClass: answer.resultClass, payload: answer.payload };
    case "invalid-request":
      return { kind: "invalid-request", message: answer.message };
    case "failure": {
      const { kind, failureClass, code, message, retryable } = answer;
      return { kind, failureClass, code, message, retryable };
    }
  }
}
