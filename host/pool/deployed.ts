import { createSchemaValidator, type JsonSchema, type ValueCheck } from "../manifest/manifest.ts";
import { type Assembly, type ComponentInstance, instantiate, prepare } from "./instance.ts";
import type { KeptInstance } from "./kept-instance.ts";
import type { MemoryPool } from "./memory-pool.ts";
import type { Deployment, Tier } from "./protocol.ts";
import type { RunState } from "./run-state.ts";

/** A deployment as a thread keeps it: what is made of it once, and the instance that may serve again. */
export class Deployed {
  readonly deployment: Deployment;
  readonly #assembly: Assembly;
  readonly #memories: MemoryPool;
  readonly #validators = new Map<JsonSchema, ValueCheck>();
  #ajv: ReturnType<typeof createSchemaValidator> | null = null;
  #kept: KeptInstance | null = null;

  constructor(deployment: Deployment, memories: MemoryPool) {
    const { linkage, key } = deployment.artifact;
    this.deployment = deployment;
    this.#assembly = prepare(linkage, key);
    this.#memories = memories;
  }

  /** One Ajv a package, made when the first value is checked; compiling happens under the run's deadline. */
  readonly validatorOf = (schema: JsonSchema): ValueCheck => {
    let validator = this.#validators.get(schema);
    if (validator === undefined) {
      this.#ajv ??= createSchemaValidator();
      validator = this.#ajv.compile(schema);
      this.#validators.set(schema, validator);
    }
    return validator;
  };

  instantiate(run: RunState, tier: Tier): ComponentInstance {
    const { artifact, links } = this.deployment;
    return instantiate(artifact, this.#assembly, links, run, this.#memories, tier);
  }

  /** What the kept instance holds of the thread's memory. */
  get keptBytes(): number {
    return this.#kept?.bytes ?? 0;
  }

  /** The kept instance, which from here on is the caller's alone. */
  takeKept(): KeptInstance | null {
    const kept = this.#kept;
    this.#kept = null;
    return kept;
  }

  /** Keeps an instance for the next run. */
  keep(instance: KeptInstance): void {
    this.dropKept();
    this.#kept = instance;
  }

  dropKept(): void {
    this.takeKept()?.instance.release();
  }
}
