import { createHash } from "node:crypto";
import type { Artifact } from "../compile/compile.ts";
import { messageOf } from "../errors/errors.ts";
import { EventGate } from "../events/events.ts";
import { type Limits, parseJsonText } from "../manifest/manifest.ts";
import { FuelProfiler } from "../meter/meter.ts";
import { Deployed } from "./deployed.ts";
import { GuestStop } from "./guest-stop.ts";
import { KeptInstance } from "./kept-instance.ts";
import { MemoriesExhausted, type MemoryPool } from "./memory-pool.ts";
import { outputSize } from "./output-size.ts";
import type { Call, Operation, Reply, WorkerEnding } from "./protocol.ts";
import type { RunClock } from "./run-clock.ts";
import type { RunInit } from "./run-init.ts";
import { RunState } from "./run-state.ts";
import type { WorkerBridge } from "./worker-bridge.ts";

/** An artifact may have to be compiled again: longer than `compile.timeoutMs` can be, and a process's start. */
const DEPLOYMENT_TIMEOUT_MS = 700_000;

/** Memory that instances kept for another run may hold on a thread, snapshots included. */
const MOST_KEPT_BYTES = 128 * 1024 * 1024;

/** Carries out calls on this thread, one at a time. It replies to every call and never throws. */
export class Runner {
  readonly #bridge: WorkerBridge;
  readonly #clock: RunClock;
  readonly #memories: MemoryPool;
  readonly #mostDeployed: number;
  /** The one used last comes last. */
  readonly #deployed = new Map<string, Deployed>();

  /** `mostDeployed`: deployments to keep ready; the one unused longest goes first. */
  constructor(bridge: WorkerBridge, clock: RunClock, memories: MemoryPool, mostDeployed: number) {
    this.#bridge = bridge;
    this.#clock = clock;
    this.#memories = memories;
    this.#mostDeployed = mostDeployed;
  }

  run(call: Call): Reply {
    // Loading the deployment, which the first run on a thread pays for, is setup and no time of the guest.
    const setupStart = performance.now();
    const startedAt = performance.timeOrigin + setupStart;
    this.#bridge.begin(call.epoch);
    this.#clock.takeUp(call.epoch, startedAt);
    const deployed = this.#load(call.deployment);
    const operation = deployed.deployment.operations.find(({ name }) => name === call.operation)!;
    const init = this.#initOf(call, deployed);
    const invalid = inputProblem(call, operation, deployed);
    const kept = call.tier === "reset" && invalid === null ? takeKept(deployed, init.limits) : null;
    const run = kept?.run ?? new RunState(init);
    let setupMs: number | null = null;
    const entered = (): void => {
      setupMs = performance.now() - setupStart;
      this.#clock.enter(startedAt + setupMs);
    };
    const ending: WorkerEnding =
      invalid === null
        ? this.#carryOut({ call, operation, deployed, run, kept, init, entered })
        : { kind: "invalid-input", what: invalid };
    return {
      ending,
      usage: run.usage(),
      events: { accepted: init.events.accepted, refused: init.events.refused },
      sayings: this.#bridge.takeWaiting(),
      tier: kept !== null ? "reset" : call.tier === "fresh" ? "fresh" : "recycled",
      times: {
        startedAt,
        setupMs: setupMs ?? performance.now() - setupStart,
        guestMs: run.guestMs,
        hostMs: run.hostMs,
      },
      fuelProfile: run.profiler?.profile() ?? null,
    };
  }

  #initOf(call: Call, { deployment, validatorOf }: Deployed): RunInit {
    const { capabilityId, capabilityVersion, subscribable, declaredEvents: declared, filesystem } = deployment;
    const limits = call.limits ?? deployment.limits;
    return {
      invocation: { runId: call.runId, capabilityId, capabilityVersion, operation: call.operation },
      input: typeof call.input === "string" ? call.input : "",
      limits,
      fuelInAll: call.fuelInAll,
      seed: () => seedOf(deployment.artifact, call),
      events: new EventGate({ subscribable, declared, validatorOf }, limits),
      bridge: this.#bridge,
      filesystem,
      profiler: deployment.artifact.variant.profile ? new FuelProfiler(deployment.artifact.modules) : null,
    };
  }

  #carryOut({ call, operation, deployed, run, kept, init, entered }: Service): WorkerEnding {
    let instance = kept?.instance ?? null;
    let next = kept;
    let isClean = false;
    try {
      if (kept !== null) kept.begin(init);
      else {
        instance = deployed.instantiate(run, call.tier);
        if (call.tier === "reset") next = KeptInstance.of(instance, run);
        run.beginCall();
      }
      entered();
      const args = operation.calling === "text" ? [call.input] : (call.input as readonly unknown[]);
      const ending = run.classify({ returned: instance!.call(operation, args) });
      isClean = ending.kind === "succeeded";
      return ending.kind === "succeeded" ? checkOutput(ending, operation, deployed, run) : ending;
    } catch (thrown) {
      if (thrown instanceof MemoriesExhausted) return { kind: "lost", what: thrown.message };
      const ending = run.classify({ thrown });
      // Only a component declines by returning; who was stopped on the way may have left anything behind.
      isClean = ending.kind === "failed" && !(thrown instanceof GuestStop);
      return ending.kind === "succeeded" ? checkOutput(ending, operation, deployed, run) : ending;
    } finally {
      run.finish();
      if (next?.isIntact && isClean) this.#keep(deployed, next);
      else instance?.release();
    }
  }

  /** Keeps an instance; those of the deployments unused longest make room for it. */
  #keep(deployed: Deployed, instance: KeptInstance): void {
    deployed.keep(instance);
    let bytes = 0;
    for (const { keptBytes } of this.#deployed.values()) bytes += keptBytes;
    for (const oldest of this.#deployed.values()) {
      if (bytes <= MOST_KEPT_BYTES) return;
      bytes -= oldest.keptBytes;
      oldest.dropKept();
    }
  }

  #load(key: string): Deployed {
    const known = this.#deployed.get(key);
    if (known !== undefined) {
      this.#deployed.delete(key);
      this.#deployed.set(key, known);
      return known;
    }
    const deployment = this.#bridge.need(key, DEPLOYMENT_TIMEOUT_MS);
    if (deployment === undefined || "problem" in deployment)
      throw new Error(`the capability cannot be loaded: ${deployment?.problem ?? "there was no answer"}`);
    const deployed = new Deployed(deployment, this.#memories);
    this.#deployed.set(key, deployed);
    for (const [oldest, unused] of this.#deployed) {
      if (this.#deployed.size <= this.#mostDeployed) break;
      unused.dropKept();
      this.#deployed.delete(oldest);
    }
    return deployed;
  }
}

/** Everything that one call is served with. */
interface Service {
  readonly call: Call;
  readonly operation: Operation;
  readonly deployed: Deployed;
  readonly run: RunState;
  /** The instance of an earlier run that serves this one. */
  readonly kept: KeptInstance | null;
  readonly init: RunInit;
  readonly entered: () => void;
}

function takeKept(deployed: Deployed, limits: Limits): KeptInstance | null {
  const kept = deployed.takeKept();
  if (kept === null || kept.admits(limits)) return kept;
  deployed.keep(kept);
  return null;
}

/** 32 bytes from the digests of component and input. */
function seedOf(artifact: Artifact, { input, seedText }: Call): Uint8Array {
  return createHash("sha256")
    .update(artifact.componentSha256)
    .update(seedText ?? (input as string))
    .digest();
}

function inputProblem(call: Call, operation: Operation, { validatorOf }: Deployed): string | null {
  if (operation.calling !== "text" || operation.inputSchema === undefined) return null;
  try {
    return validatorOf(operation.inputSchema)(JSON.parse(call.input as string));
  } catch (thrown) {
    return messageOf(thrown);
  }
}

function checkOutput(
  ending: WorkerEnding & { kind: "succeeded" },
  operation: Operation,
  { validatorOf }: Deployed,
  run: RunState,
): WorkerEnding {
  // A core module may have exited while it was instantiated: what it burned was setup.
  if (run.phase !== "setup") run.phase = "post";
  if (operation.calling !== "text") {
    return outputSize(ending.output) > run.limits.outputBytes ? { kind: "over-budget", limit: "outputBytes" } : ending;
  }
  const parsed = parseJsonText(ending.output as string);
  if (parsed.kind !== "value") return { kind: "invalid-output", what: `The output ${parsed.text}` };
  try {
    const problem = operation.outputSchema === undefined ? null : validatorOf(operation.outputSchema)(parsed.value);
    return problem === null ? ending : { kind: "invalid-output", what: problem };
  } catch (thrown) {
    return { kind: "invalid-output", what: messageOf(thrown) };
  }
}
