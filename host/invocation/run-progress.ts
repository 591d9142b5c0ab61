import type { ConnectorEvidence } from "../errors/errors.ts";
import type { Connectors } from "../gateway/gateway.ts";
import {
  CONNECTORS,
  type ConnectorQuestion,
  type HostAnswer,
  INVOKE,
  type InvokeQuestion,
} from "../imports/imports.ts";
import type { ConnectorGrant, InvokeGrant, Limits, Manifest } from "../manifest/manifest.ts";
import type { Call, HostCall, Pool, PoolAnswer, PoolRun, RunListener } from "../pool/pool.ts";
import {
  abortSignalOf,
  type CapabilityEvent,
  type Emitter,
  type NestedRun,
  type RunAccount,
  type RunPhase,
  type RunReport,
  type RunRequest,
  type RunResult,
  type RunSignal,
  SYSTEM_CLOCK,
} from "../providers/providers.ts";
import { type ConnectingRun, ConnectorCalls } from "./connector-calls.ts";
import { answerHostCall, type HostFunctionContext, type OfferedFunction } from "./host-calls.ts";
import { type CallingRun, NestedCalls, type NestedGround } from "./nested-calls.ts";
import type { OperationPlan } from "./operations.ts";
import { outcomeOf, type RunFacts, reportWithoutReply } from "./settle.ts";

/** Where runs of components take place, and what the application has bound for them. */
export interface RunGround extends NestedGround {
  readonly connectors: Connectors;
}

/** What a run of a component is, before it begins. */
export interface ComponentRun {
  readonly request: RunRequest;
  readonly providerId: string;
  readonly limits: Limits;
  readonly evidence: RunFacts["evidence"];
  readonly offered: ReadonlyMap<string, OfferedFunction>;
  readonly manifest: Pick<Manifest, "id" | "version">;
  readonly callees: readonly InvokeGrant[];
  readonly declared: readonly ConnectorGrant[];
  readonly ground: RunGround;
  readonly plan: OperationPlan;
  readonly emitter: Emitter;
  readonly signal: RunSignal;
  /** Takes the result, once. */
  readonly resolve: (result: RunResult) => void;
}

/** A run of a component in its thread: passes on what it says, takes it away when it is ended, and gives account of it. */
export class RunProgress implements RunFacts, RunListener, RunAccount, HostFunctionContext, CallingRun, ConnectingRun {
  readonly #run: ComponentRun;
  #nested: NestedCalls | null = null;
  #connected: ConnectorCalls | null = null;
  #pooled: PoolRun | null = null;
  readonly submittedAt: number;
  startedAt: number | null = null;
  enteredAt: number | null = null;
  fuel = 0;
  hostCalls = 0;
  events = 0;

  constructor(run: ComponentRun) {
    this.#run = run;
    this.submittedAt = run.emitter.submittedAt ?? SYSTEM_CLOCK.now();
  }

  /** Hands the call to the pool; `size` as `Pool.run` wants it. */
  begin(pool: Pool, call: Call, size: number): void {
    const run = pool.run(call, size, this);
    this.#pooled = run;
    this.#run.signal.addEventListener("abort", () => pool.abort(run));
    this.#run.emitter.account?.(this);
  }

  get request(): RunRequest {
    return this.#run.request;
  }

  get limits(): Limits {
    return this.#run.limits;
  }

  get evidence(): RunFacts["evidence"] {
    return this.#run.evidence;
  }

  get callees(): readonly InvokeGrant[] {
    return this.#run.callees;
  }

  get declared(): readonly ConnectorGrant[] {
    return this.#run.declared;
  }

  get nested(): readonly NestedRun[] {
    return this.#nested?.runs ?? [];
  }

  get connectorCalls(): readonly ConnectorEvidence[] {
    return this.#connected?.evidence ?? [];
  }

  deadline(): number | null {
    const since = this.wallSince();
    const wall = since === null ? Number.POSITIVE_INFINITY : since + this.wallMs;
    const deadline = Math.min(wall, this.request.deadline ?? Number.POSITIVE_INFINITY);
    return deadline === Number.POSITIVE_INFINITY ? null : deadline;
  }

  // The account.

  get wallMs(): number {
    return this.#run.limits.wallMs;
  }

  wallSince(): number | null {
    this.#learnTimes();
    return this.enteredAt ?? this.startedAt;
  }

  get phase(): RunPhase {
    this.#learnTimes();
    if (this.startedAt === null) return "queue";
    return this.enteredAt === null ? "setup" : "guest";
  }

  ending(): void {
    this.#nested?.stop();
    this.#connected?.stop();
  }

  report(endedAt: number): RunReport {
    this.#learnTimes();
    return reportWithoutReply(this, endedAt);
  }

  // What the pool says.

  event(event: CapabilityEvent): void {
    this.events++;
    this.#run.emitter.emit({ kind: "event", event });
  }

  log(level: string, message: string): void {
    this.#run.emitter.emit({ kind: "log", level, message });
  }

  hostCall(call: HostCall): HostAnswer | Promise<HostAnswer> {
    this.fuel = call.fuel;
    this.hostCalls++;
    if (call.interfaceName === INVOKE) {
      this.#nested ??= new NestedCalls(this, this.#run.ground);
      return this.#nested.answer(call.args as InvokeQuestion);
    }
    if (call.interfaceName === CONNECTORS) {
      this.#connected ??= new ConnectorCalls(this, this.#run.ground.connectors);
      return this.#connected.answer(call.args as ConnectorQuestion);
    }
    return answerHostCall(call, this.#run.offered, this);
  }

  answered(answer: PoolAnswer): void {
    const { resolve, plan } = this.#run;
    // A thread that is lost while it waits leaves a nested run behind.
    this.ending();
    if (answer.kind === "replied") resolve(outcomeOf(this, plan, answer.reply, SYSTEM_CLOCK.now()));
    else if (answer.kind === "lost") resolve({ kind: "lost", message: answer.what });
    // Its end is known already: it was ended from outside.
    else resolve({ kind: "cancelled", reason: String(this.#run.signal.reason) });
  }

  // What a function of the application learns.

  get runId(): string {
    return this.#run.request.runId;
  }

  get providerId(): string {
    return this.#run.providerId;
  }

  get capabilityId(): string {
    return this.#run.manifest.id;
  }

  get capabilityVersion(): string {
    return this.#run.manifest.version;
  }

  /** Made for whom asks: most functions do not, and it costs several microseconds. */
  get signal(): AbortSignal {
    return abortSignalOf(this.#run.signal);
  }

  #learnTimes(): void {
    const times = this.#pooled?.times() ?? null;
    if (times === null) return;
    this.startedAt = times.takenUpAt;
    this.enteredAt = times.enteredAt;
  }
}
