import type { Admitted } from "../admission/admission.ts";
import type { ArtifactSource } from "../compile/compile.ts";
import type { InterfaceLink } from "../imports/imports.ts";
import { effectiveLimits, type LimitPolicy, type Limits, policyOfProfile } from "../manifest/manifest.ts";
import type { Deployable, Tier } from "../pool/pool.ts";
import type {
  Commands,
  Emitter,
  Provider,
  RunBudget,
  RunRequest,
  RunResult,
  RunSignal,
} from "../providers/providers.ts";
import { describeLinks } from "./deployment.ts";
import type { OfferedFunction } from "./host-calls.ts";
import { type GuestInput, type OperationPlan, planOperations, type Signature } from "./operations.ts";
import { checkRequest } from "./request.ts";
import { checkRequestLimits } from "./request-limits.ts";
import { type RunGround, RunProgress } from "./run-progress.ts";

/** What a component, or a core module, needs to become a provider. */
export interface ComponentProviderInit {
  /** Names this installation; never used for another. */
  readonly key: string;
  readonly admitted: Admitted;
  readonly artifact: ArtifactSource;
  readonly policy: LimitPolicy;
  /** Where its runs take place, and those that they ask for. */
  readonly ground: RunGround;
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
  readonly #policy: LimitPolicy;
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
    this.#policy = policyOfProfile(init.policy, manifest.profile);
    this.#limits = effectiveLimits(this.#policy, manifest.limits);
    this.#plans = planOperations(init.admitted);
    this.operations = [...this.#plans.keys()];
  }

  /** Makes it known to the threads, from before its first run to after its last. */
  readonly lifecycle = {
    start: (): void => this.#init.ground.lanes.deploy(this.#deployment(describeLinks(this.admitted))),
    stop: (): void => this.#init.ground.lanes.undeploy(this.#init.key),
  };

  readonly commands: Commands = {
    capabilities: () => {
      const { signatures: operations, admitted } = this;
      return { operations, events: admitted.manifest.emits, limits: { ...this.#limits }, models: [] };
    },
    transport_status: () => ({ kind: "thread" }),
  };

  /** What each operation takes and gives. */
  get signatures(): readonly Signature[] {
    return [...this.#plans.values()].map(({ signature }) => signature);
  }

  /** The effective limits of a request: of a nested one, no more than its caller has left. */
  limitsOf({ limits, nested }: Pick<RunRequest, "limits" | "nested">): Limits {
    if (nested === undefined && Object.keys(limits).length === 0) return this.#limits;
    const own = effectiveLimits(this.#policy, this.admitted.manifest.limits, limits);
    return nested === undefined ? own : within(own, nested.budget);
  }

  check(request: RunRequest): void {
    const { coreModules } = this.admitted.report;
    checkRequestLimits(request, { countsCallDepth: this.#init.artifact.variant.exact, coreModules });
    const input = checkRequest(request, this.#plans.get(request.operation), this.limitsOf(request), this.operations);
    this.#inputs.set(request, input);
  }

  execute(request: RunRequest, emitter: Emitter, signal: RunSignal): Promise<RunResult> {
    return new Promise((resolve) => {
      const plan = this.#plan(request);
      const { artifact, offered, ground, key } = this.#init;
      const { id: providerId } = this;
      const tier = request.fresh === true ? "fresh" : this.#init.tier;
      const limits = this.limitsOf(request);
      const evidence = { componentSha256: artifact.componentSha256, scheduleId: artifact.scheduleId, tier };
      const input = this.#inputs.get(request) ?? plan.toGuest(request.input);
      const call = {
        deployment: key,
        runId: request.runId,
        operation: request.operation,
        input: input.value,
        seedText: input.digestible === input.value ? null : input.digestible,
        limits: limits === this.#limits ? null : limits,
        tier,
        fuelInAll: request.nested?.budget.fuel ?? null,
      };
      const { manifest, granted } = this.admitted;
      const { callees, connectors: declared } = granted;
      const called = { offered, callees, declared };
      const run = {
        request,
        providerId,
        manifest,
        limits,
        evidence,
        ...called,
        ground,
        plan,
        emitter,
        signal,
        resolve,
      };
      const { pool } = ground.lanes.at(request.nested?.depth ?? 0);
      new RunProgress(run).begin(pool, call, input.digestible.length);
    });
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

/** `memoryBytes` may come out below what a request could ask for: the guest that has a memory is then out of it at once. */
function within(own: Limits, { fuel, memoryBytes, eventCount, eventTotalBytes }: RunBudget): Limits {
  return Object.freeze({
    ...own,
    fuel: Math.min(own.fuel, fuel),
    setupFuel: Math.min(own.setupFuel, fuel),
    memoryBytes: Math.min(own.memoryBytes, memoryBytes),
    eventCount: Math.min(own.eventCount, eventCount),
    eventTotalBytes: Math.min(own.eventTotalBytes, eventTotalBytes),
  });
}
