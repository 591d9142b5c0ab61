import type { HostAnswer } from "../imports/imports.ts";
import type { Limits } from "../manifest/manifest.ts";
import type { Call, HostCall, Pool, PoolAnswer, PoolRun, RunListener } from "../pool/pool.ts";
import type { CapabilityEvent, Emitter, Outcome, RunPhase, RunRequest, RunSignal } from "../providers/providers.ts";
import { answerHostCall, type HostFunctionContext, type OfferedFunction } from "./host-calls.ts";
import type { OperationPlan } from "./operations.ts";
import { type RunFacts, settle } from "./settle.ts";
import { Stop } from "./stop.ts";

/** What a run of a component is, before it begins. */
export interface ComponentRun {
  readonly request: RunRequest;
  readonly providerId: string;
  readonly limits: Limits;
  readonly evidence: RunFacts["evidence"];
  readonly offered: ReadonlyMap<string, OfferedFunction>;
  readonly plan: OperationPlan;
  readonly emitter: Emitter;
  /** Takes the outcome, once. */
  readonly resolve: (outcome: Outcome) => void;
}

/** A run of a component, from its start to its outcome: hears what it says, ends it in time, and learns of its times. */
export class RunProgress implements RunFacts, RunListener {
  readonly #run: ComponentRun;
  readonly #stop: Stop;
  #pooled: PoolRun | null = null;
  #context: CallContext | null = null;
  readonly submittedAt = performance.timeOrigin + performance.now();
  phase: RunPhase = "queue";
  startedAt: number | null = null;
  enteredAt: number | null = null;
  fuel = 0;
  hostCalls = 0;
  events = 0;

  constructor(run: ComponentRun, caller: RunSignal) {
    this.#run = run;
    this.#stop = new Stop(caller, run.request.deadline);
  }

  /** Hands the call to the pool; `size` as `Pool.run` wants it. */
  begin(pool: Pool, call: Call, size: number): void {
    if (this.#stop.cause !== null) {
      this.answered({ kind: "aborted" });
      return;
    }
    const run = pool.run(call, size, this);
    this.#pooled = run;
    this.#stop.onStop(() => pool.abort(run));
    this.#stop.watchWall(this.limits.wallMs, () => this.#learnTimes());
  }

  get request(): RunRequest {
    return this.#run.request;
  }

  get providerId(): string {
    return this.#run.providerId;
  }

  get limits(): Limits {
    return this.#run.limits;
  }

  get evidence(): RunFacts["evidence"] {
    return this.#run.evidence;
  }

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
    this.#context ??= new CallContext(this.#run.request.runId, this.#run.providerId, this.#stop);
    return answerHostCall(call, this.#run.offered, this.#context);
  }

  answered(answer: PoolAnswer): void {
    if (answer.kind !== "replied") this.#learnTimes();
    this.#stop.close();
    this.#run.resolve(settle(this, this.#run.plan, answer, this.#stop.cause));
  }

  /** Takes in what is known of the run's times. Answers when its wall clock began. */
  #learnTimes(): number | null {
    const times = this.#pooled?.times() ?? null;
    if (times !== null) {
      this.phase = times.enteredAt === null ? "setup" : "guest";
      this.startedAt = times.takenUpAt;
      this.enteredAt = times.enteredAt;
    }
    return this.enteredAt ?? this.startedAt;
  }
}

class CallContext implements HostFunctionContext {
  readonly runId: string;
  readonly providerId: string;
  readonly #stop: Stop;

  constructor(runId: string, providerId: string, stop: Stop) {
    this.runId = runId;
    this.providerId = providerId;
    this.#stop = stop;
  }

  /** Made for whom asks: most functions do not. */
  get signal(): AbortSignal {
    return this.#stop.abortSignal;
  }
}
