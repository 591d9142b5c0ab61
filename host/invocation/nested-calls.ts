import { createHash } from "node:crypto";
import { messageOf, quote } from "../errors/errors.ts";
import type { HostAnswer, InvokeAnswer, InvokeQuestion } from "../imports/imports.ts";
import { type InvokeGrant, parseJsonText } from "../manifest/manifest.ts";
import type {
  CapabilityEvent,
  NestedEvents,
  NestedRun,
  Outcome,
  ProviderRun,
  ProviderRuns,
  RunBudget,
  RunRequest,
} from "../providers/providers.ts";
import { fuelOf, type InvokeError, refusalOf, resultOf } from "./invoke-result.ts";
import { DEEPEST, type Lanes } from "./lanes.ts";

/** Where nested runs take place. */
export interface NestedGround {
  readonly runs: ProviderRuns;
  readonly lanes: Lanes;
}

/** The run that calls others. */
export interface CallingRun {
  readonly request: RunRequest;
  /** The capabilities that it may call. */
  readonly callees: readonly InvokeGrant[];
  /** Units that it is known to have used. */
  fuel: number;
  /** When its time is over, by whichever of its clocks comes first; null for never. */
  deadline(): number | null;
}

/**
 * The calls of one run to other capabilities, one at a time: starts a nested run for each, waits for it, and gives account of it. A nested
 * run ends with its caller. What it used is charged once: by the answer, or, where the caller is gone, in `fuel` of the caller.
 */
export class NestedCalls {
  readonly #caller: CallingRun;
  readonly #ground: NestedGround;
  readonly #runs: NestedRun[] = [];
  #asked = 0;
  #current: ProviderRun | null = null;

  constructor(caller: CallingRun, ground: NestedGround) {
    this.#caller = caller;
    this.#ground = ground;
  }

  /** Those that began and have ended. */
  get runs(): readonly NestedRun[] {
    return this.#runs;
  }

  /** Answers one call; never rejects. */
  async answer(question: InvokeQuestion): Promise<HostAnswer> {
    try {
      return { kind: "value", value: await this.#invoke(question) };
    } catch (thrown) {
      return { kind: "broken", message: `the call of another capability failed: ${messageOf(thrown)}` };
    }
  }

  /** The caller is about to end: nobody waits for the nested run any more. */
  stop(): void {
    const run = this.#current;
    if (run === null) return;
    if (run.terminal === null) run.cancel("the run that asked for it has ended");
    if (run.terminal !== null) this.#settle(run, run.terminal.outcome);
  }

  async #invoke([capability, operation, input, fuel, memoryBytes, ...events]: InvokeQuestion): Promise<InvokeAnswer> {
    const [eventCount, eventTotalBytes] = events;
    const budget = { fuel, memoryBytes, eventCount, eventTotalBytes };
    const { runs } = this.#ground;
    const caller = runs.find(this.#caller.request.runId);
    const started = this.#start(capability, operation, input, budget);
    if ("tag" in started)
      return { result: { tag: "err", val: started }, fuel: 0, isExact: true, events: 0, eventBytes: 0 };
    this.#current = started;
    const outcome = await started.outcome;
    this.#settle(started, outcome);
    const said = outcome.kind === "succeeded" ? eventsOf(started, outcome) : null;
    if (said !== null) caller.include(said);
    return {
      result: resultOf(outcome, budget),
      fuel: fuelOf(outcome),
      isExact: outcome.usage.fuelExact,
      events: said?.count ?? 0,
      eventBytes: said?.bytes ?? 0,
    };
  }

  #start(capability: string, operation: string, text: string, budget: RunBudget): ProviderRun | InvokeError {
    const { request, callees } = this.#caller;
    const { runs, lanes } = this.#ground;
    const grant = callees.find(({ id }) => id === capability);
    if (grant === undefined) {
      const granted = callees.map(({ id }) => quote(id)).join(", ");
      return { tag: "not-granted", val: `grants.invoke does not name ${quote(capability, 128)}: it names ${granted}` };
    }
    const depth = (request.nested?.depth ?? 0) + 1;
    if (depth > DEEPEST) return { tag: "too-deep" };
    const provider = runs.newestWithin(capability, grant.versions);
    if (provider === null) {
      const val = `no version of ${quote(capability)} inside of ${quote(grant.versions)} is installed`;
      return { tag: "unknown-capability", val };
    }
    const input = parseJsonText(text);
    if (input.kind !== "value") return { tag: "invalid-input", val: `the input ${input.text}` };
    try {
      return runs.start(
        {
          runId: nestedRunId(request.runId, ++this.#asked),
          ...(request.sessionId === undefined ? {} : { sessionId: request.sessionId }),
          providerId: provider.id,
          operation,
          input: input.value,
          ...(request.fresh === undefined ? {} : { fresh: request.fresh }),
          limits: {},
          deadline: this.#caller.deadline(),
          nested: { callerRunId: request.runId, depth, budget },
        },
        { slots: () => lanes.at(depth).slots },
      );
    } catch (thrown) {
      return refusalOf(thrown);
    }
  }

  /** Takes the account of a nested run that has ended, once. */
  #settle(run: ProviderRun, outcome: Outcome): void {
    if (this.#current !== run) return;
    this.#current = null;
    const { runId, providerId, operation, kind, evidence, nested, connectorCalls } = outcome;
    const fuel = fuelOf(outcome);
    this.#runs.push({
      runId,
      providerId,
      operation,
      kind,
      fuel,
      evidence,
      ...(nested === undefined ? {} : { nested }),
      ...(connectorCalls === undefined ? {} : { connectorCalls }),
    });
    this.#caller.fuel += fuel;
  }
}

/** Follows from the caller's: a run that is done again under its id is the same to everyone who looks at the id. */
function nestedRunId(callerRunId: string, ordinal: number): string {
  const hex = createHash("sha256").update(`${callerRunId}\n${ordinal}`).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

/** What the run has said, and what its nested runs have; null for nothing. */
function eventsOf({ capabilityEvents: events }: ProviderRun, { runId, providerId }: Outcome): NestedEvents | null {
  if (events.length === 0) return null;
  let count = 0;
  let bytes = 0;
  for (const event of events) {
    count += isNested(event) ? event.count : 1;
    bytes += isNested(event) ? event.bytes : Buffer.byteLength(JSON.stringify(event.payload));
  }
  return { runId, providerId, events, count, bytes };
}

function isNested(event: CapabilityEvent | NestedEvents): event is NestedEvents {
  return "events" in event;
}
