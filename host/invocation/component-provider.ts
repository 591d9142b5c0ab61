import type { Admitted } from "../admission/admission.ts";
import type { ArtifactSource } from "../compile/compile.ts";
import type { InterfaceLink } from "../imports/imports.ts";
import { effectiveLimits, type LimitPolicy, type Limits } from "../manifest/manifest.ts";
import type { Deployable, Pool, Tier } from "../pool/pool.ts";
import type { Commands, Emitter, Provider, RunRequest, RunResult, RunSignal } from "../providers/providers.ts";
import { describeLinks } from "./deployment.ts";
import type { OfferedFunction } from "./host-calls.ts";
import { type GuestInput, type OperationPlan, planOperations, type Signature } from "./operations.ts";
import { checkRequest } from "./request.ts";
import { checkRequestLimits } from "./request-limits.ts";
import { RunProgress } from "./run-progress.ts";

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

  /** Makes it known to the threads, from before its first run to after its last. */
  readonly lifecycle = {
    start: (): void => this.#init.pool.deploy(this.#deployment(describeLinks(this.admitted))),
    stop: (): void => this.#init.pool.undeploy(this.#init.key),
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

  /** The effective limits of a request. */
  limitsOf(request: Pick<RunRequest, "limits">): Limits {
    if (Object.keys(request.limits).length === 0) return this.#limits;
    return effectiveLimits(this.#init.policy, this.admitted.manifest.limits, request.limits);
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
      const { artifact, offered, pool, key } = this.#init;
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
      };
      const run = { request, providerId, limits, evidence, offered, plan, emitter, signal, resolve };
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
