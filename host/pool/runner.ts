import { messageOf } from "../errors/errors.ts";
import { EventGate } from "../events/events.ts";
import { createSchemaValidator, type JsonSchema, parseJsonText, type ValueCheck } from "../manifest/manifest.ts";
import { type Assembly, instantiate, prepare } from "./instance.ts";
import { MemoriesExhausted, type MemoryPool } from "./memory-pool.ts";
import { outputSize } from "./output-size.ts";
import type { Call, Deployment, Operation, Reply, WorkerEnding } from "./protocol.ts";
import { RunState } from "./run-state.ts";
import type { WorkerBridge } from "./worker-bridge.ts";

/** An artifact may have to be compiled again: longer than `compile.timeoutMs` can be, and a process's start. */
const DEPLOYMENT_TIMEOUT_MS = 700_000;

interface Ready {
  readonly deployment: Deployment;
  readonly assembly: Assembly;
  readonly validatorOf: (schema: JsonSchema) => ValueCheck;
}

/** Carries out calls on this thread, one at a time. It replies to every call and never throws. */
export class Runner {
  readonly #bridge: WorkerBridge;
  readonly #memories: MemoryPool;
  readonly #mostReady: number;
  /** The one unused longest goes first. */
  readonly #ready = new Map<string, Ready>();

  constructor(bridge: WorkerBridge, memories: MemoryPool, mostReady: number) {
    this.#bridge = bridge;
    this.#memories = memories;
    this.#mostReady = mostReady;
  }

  run(call: Call): Reply {
    // Loading the deployment, which the first run on a thread pays for, is setup and no time of the guest.
    const setupStart = performance.now();
    const startedAt = performance.timeOrigin + setupStart;
    this.#bridge.begin(call.epoch);
    const ready = this.#load(call.deployment);
    const { deployment } = ready;
    const operation = deployment.operations.find(({ name }) => name === call.operation)!;
    const run = new RunState({
      invocation: {
        runId: call.runId,
        capabilityId: deployment.capabilityId,
        capabilityVersion: deployment.capabilityVersion,
        operation: call.operation,
      },
      limits: call.limits,
      seed: call.seed,
      events: new EventGate(
        { subscribable: deployment.subscribable, declared: deployment.declaredEvents, validatorOf: ready.validatorOf },
        call.limits,
      ),
      bridge: this.#bridge,
      filesystem: deployment.filesystem,
    });
    let setupMs: number | null = null;
    this.#bridge.say({ kind: "clock", epoch: call.epoch, phase: "setup", at: startedAt });
    const entered = (): void => {
      setupMs = performance.now() - setupStart;
      this.#bridge.say({ kind: "clock", epoch: call.epoch, phase: "guest", at: startedAt + setupMs });
    };
    const ending = this.#carryOut(call, operation, ready, run, entered);
    return {
      kind: "reply",
      ending,
      usage: run.usage(),
      times: {
        startedAt,
        setupMs: setupMs ?? performance.now() - setupStart,
        guestMs: run.guestMs,
        hostMs: run.hostMs,
      },
    };
  }

  #carryOut(call: Call, operation: Operation, ready: Ready, run: RunState, entered: () => void): WorkerEnding {
    const invalid = inputProblem(call, operation, ready);
    if (invalid !== null) return { kind: "invalid-input", what: invalid };
    let instance: ReturnType<typeof instantiate> | undefined;
    try {
      instance = instantiate(
        ready.deployment.artifact,
        ready.assembly,
        ready.deployment.links,
        run,
        this.#memories,
        call.tier,
      );
      run.beginCall();
      entered();
      const args = operation.calling === "text" ? [call.input] : (call.input as readonly unknown[]);
      const returned = instance.call(operation, args);
      const ending = run.classify({ returned });
      return ending.kind === "succeeded" ? checkOutput(ending, operation, ready, run) : ending;
    } catch (thrown) {
      if (thrown instanceof MemoriesExhausted) return { kind: "lost", what: thrown.message };
      return run.classify({ thrown });
    } finally {
      run.finish();
      instance?.release();
    }
  }

  #load(key: string): Ready {
    const known = this.#ready.get(key);
    if (known !== undefined) {
      this.#ready.delete(key);
      this.#ready.set(key, known);
      return known;
    }
    const deployment = this.#bridge.ask({ kind: "need", deployment: key }, DEPLOYMENT_TIMEOUT_MS)?.deployment;
    if (deployment === undefined || "problem" in deployment)
      throw new Error(`the capability cannot be loaded: ${deployment?.problem ?? "there was no answer"}`);
    const validators = new Map<JsonSchema, ValueCheck>();
    // One Ajv a package, made when the first value is checked; compiling happens under the run's deadline.
    let ajv: ReturnType<typeof createSchemaValidator> | undefined;
    const validatorOf = (schema: JsonSchema): ValueCheck => {
      let validator = validators.get(schema);
      if (validator === undefined) {
        ajv ??= createSchemaValidator();
        validator = ajv.compile(schema);
        validators.set(schema, validator);
      }
      return validator;
    };
    const { linkage, key: artifactKey } = deployment.artifact;
    const ready: Ready = { deployment, assembly: prepare(linkage, artifactKey), validatorOf };
    this.#ready.set(key, ready);
    for (const oldest of this.#ready.keys()) {
      if (this.#ready.size <= this.#mostReady) break;
      this.#ready.delete(oldest);
    }
    return ready;
  }
}

function inputProblem(call: Call, operation: Operation, ready: Ready): string | null {
  if (operation.calling !== "text" || operation.inputSchema === undefined) return null;
  try {
    return ready.validatorOf(operation.inputSchema)(JSON.parse(call.input as string));
  } catch (thrown) {
    return messageOf(thrown);
  }
}

function checkOutput(
  ending: WorkerEnding & { kind: "succeeded" },
  operation: Operation,
  ready: Ready,
  run: RunState,
): WorkerEnding {
  run.phase = "post";
  if (operation.calling !== "text") {
    return outputSize(ending.output) > run.limits.outputBytes ? { kind: "over-budget", limit: "outputBytes" } : ending;
  }
  const parsed = parseJsonText(ending.output as string);
  if (parsed.kind !== "value") return { kind: "invalid-output", what: `The output ${parsed.text}` };
  try {
    const problem =
      operation.outputSchema === undefined ? null : ready.validatorOf(operation.outputSchema)(parsed.value);
    return problem === null ? ending : { kind: "invalid-output", what: problem };
  } catch (thrown) {
    return { kind: "invalid-output", what: messageOf(thrown) };
  }
}
