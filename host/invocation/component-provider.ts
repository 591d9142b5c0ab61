import type { Admitted } from "../admission/admission.ts";
import type { ArtifactSource } from "../compile/compile.ts";
import type { InterfaceLink } from "../imports/imports.ts";
import { effectiveLimits, type LimitPolicy, type Limits } from "../manifest/manifest.ts";
import type { Deployable, Pool, PoolAnswer, RunListener, RunTimes, Tier } from "../pool/pool.ts";
import type { Emitter, Outcome, Provider, RunPhase, RunRequest } from "../providers/providers.ts";
import { describeLinks } from "./deployment.ts";
import { hostCallHandler, type OfferedFunction } from "./host-calls.ts";
import { type GuestInput, type OperationPlan, planOperations, type Signature } from "./operations.ts";
import { checkRequest } from "./request.ts";
import { checkRequestLimits } from "./request-limits.ts";
import { type RunFacts, settle } from "./settle.ts";
import { Stop } from "./stop.ts";

/** What a component needs to become a provider. */
export interface ComponentProviderInit {
  /** Names this installation; never used for another. */
  readonly key: string;
  readonly admitted: Admitted;
  readonly artifact: ArtifactSource;
  readonly policy: LimitPolicy;
  readonly pool: Pool;
  readonly tier: Tier;
  /** The functions of the application's interfaces, by `interface#function`. */
  readonly offered: ReadonlyMap<string, OfferedFunction>;
}

/** An admitted component as a provider. */
export class ComponentProvider implements Provider {
  readonly id: string;
  readonly operations: readonly string[];
  readonly admitted: Admitted;
  readonly #init: ComponentProviderInit;
  /** Those of a request that names none. */
  readonly #limits: Limits;
  /** Inputs of requests that were checked, as they were then. */
  readonly #inputs = new WeakMap<RunRequest, GuestInput>();
  readonly #plans: ReadonlyMap<string, OperationPlan>;

  constructor(init: ComponentProviderInit) {
    const { manifest } = init.admitted;
    this.id = `${manifest.id}@${manifest.version}`;
    this.admitted = init.admitted;
    this.#init = init;
    this.#limits = effectiveLimits(init.policy, manifest.limits);
    this.#plans = planOperations(init.admitted);
    this.operations = [...this.#plans.keys()];
  }

  /** Makes it known to the threads, until `retire`. Before the first run, and only for one that was registered. */
  deploy(): void {
    this.#init.pool.deploy(this.#deployment(describeLinks(this.admitted)));
  }

  /** What each operation takes and gives. */
  get signatures(): readonly Signature[] {
    return [...this.#plans.values()].map(({ signature }) => signature);
  }

  /** The name of an operation that a request without one means. */
  get defaultOperation(): string | null {
    return this.operations.length === 1 ? this.operations[0]! : null;
  }

  /** The effective limits of a request. */
  limitsOf(request: Pick<RunRequest, "limits">): Limits {
    if (Object.keys(request.limits).length === 0) return this.#limits;
    return effectiveLimits(this.#init.policy, this.admitted.manifest.limits, request.limits);
  }

  check(request: RunRequest): void {
    const { coreModules } = this.admitted.report;
    checkRequestLimits(request, { countsCallDepth: this.#init.artifact.variant.exact, coreModules });
    const input = checkRequest(request, this.#plans.get(request.operation), this.limitsOf(request), this.operations);
    this.#init.pool.lanes.checkRoom();
    this.#inputs.set(request, input);
  }

  async execute(request: RunRequest, emitter: Emitter, signal: AbortSignal): Promise<Outcome> {
    const { pool, offered, artifact } = this.#init;
    const tier = request.fresh === true ? "fresh" : this.#init.tier;
    const plan = this.#plan(request);
    const limits = this.limitsOf(request);
    const facts = new RunProgress(request, this.id, limits, {
      componentSha256: artifact.componentSha256,
      scheduleId: artifact.scheduleId,
      tier,
    });
    const stop = new Stop(signal, request.deadline);
    try {
      const slot = await pool.lanes.take(stop.signal);
      if (slot === null) return settle(facts, plan, { kind: "aborted" }, stop.cause);
      facts.phase = "setup";
      try {
        const input = this.#inputs.get(request) ?? plan.toGuest(request.input);
        const listener: RunListener = {
          event: (event) => {
            facts.events++;
            emitter.emit({ kind: "event", event });
          },
          log: (level, message) => emitter.emit({ kind: "log", level, message }),
          called: (used) => {
            facts.fuel = used;
            facts.hostCalls++;
          },
          hostCalls: hostCallHandler(offered, { runId: request.runId, providerId: this.id }),
          signal: stop.signal,
        };
        const run = pool.run(
          {
            deployment: this.#init.key,
            runId: request.runId,
            operation: request.operation,
            input: input.value,
            seedText: input.digestible === input.value ? null : input.digestible,
            limits: limits === this.#limits ? null : limits,
            tier,
          },
          listener,
        );
        stop.watchWall(limits.wallMs, () => facts.take(run.times()));
        const answer: PoolAnswer = await run.answer;
        if (answer.kind !== "replied") facts.take(run.times());
        return settle(facts, plan, answer, stop.cause);
      } finally {
        slot.release();
      }
    } finally {
      stop.close();
    }
  }

  /** Runs in flight finish; nothing new starts. */
  retire(): void {
    this.#init.pool.undeploy(this.#init.key);
  }

  #plan(request: RunRequest): OperationPlan {
    // `checkRequest` refuses an operation without a plan; after it, the plan is there.
    return this.#plans.get(request.operation) as OperationPlan;
  }

  #deployment(links: readonly InterfaceLink[]): Deployable {
    const { manifest, granted } = this.admitted;
    return {
      key: this.#init.key,
      capabilityId: manifest.id,
      capabilityVersion: manifest.version,
      artifact: this.#init.artifact,
      links,
      operations: [...this.#plans.values()].map(({ operation }) => operation),
      subscribable: manifest.serviceType === "subscribable",
      declaredEvents: manifest.emits,
      limits: this.#limits,
      filesystem: granted.directory === null ? null : { root: granted.directory },
    };
  }
}

/** What is learned of a run while it runs. */
class RunProgress implements RunFacts {
  readonly request: RunRequest;
  readonly providerId: string;
  readonly limits: Limits;
  readonly evidence: RunFacts["evidence"];
  readonly submittedAt = performance.timeOrigin + performance.now();
  phase: RunPhase = "queue";
  startedAt: number | null = null;
  enteredAt: number | null = null;
  fuel = 0;
  hostCalls = 0;
  events = 0;

  constructor(request: RunRequest, providerId: string, limits: Limits, evidence: RunFacts["evidence"]) {
    this.request = request;
    this.providerId = providerId;
    this.limits = limits;
    this.evidence = evidence;
  }

  /** Takes in what is known of the run's times. Answers when its wall clock began. */
  take(times: RunTimes | null): number | null {
    if (times !== null) {
      this.phase = times.enteredAt === null ? "setup" : "guest";
      this.startedAt = times.takenUpAt;
      this.enteredAt = times.enteredAt;
    }
    return this.enteredAt ?? this.startedAt;
  }
}
