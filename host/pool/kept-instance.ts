import type { Limits } from "../manifest/manifest.ts";
import { REFUSED } from "../meter/meter.ts";
import type { ComponentInstance } from "./instance.ts";
import { MemorySnapshot } from "./memory-snapshot.ts";
import type { RunInit } from "./run-init.ts";
import type { RunState } from "./run-state.ts";

const PAGE_BYTES = 65_536;
/** Putting back more memory costs more than a new instance. */
const MOST_KEPT_BYTES = 16 * 1024 * 1024;
/** What instantiation can meet besides `setupFuel`. A growth that it refuses, the guest sees. */
const MET_IN_SETUP = ["memoryBytes", "tableElements", "memories", "handles", "callDepth"] as const;

/**
 * An instance that serves one run after another (tier `reset`): before each, its memories, its mutable globals, its handles and the
 * counters are put back to where they were after instantiation. The artifact's `reset` is the proof that nothing else of it changes.
 */
export class KeptInstance {
  readonly instance: ComponentInstance;
  readonly run: RunState;
  readonly #memories: readonly MemorySnapshot[];
  readonly #values: readonly (number | bigint)[];
  readonly #putBack: () => void;
  /** Those of the run that made it. */
  readonly #limits: Limits;

  private constructor(instance: ComponentInstance, remember: () => () => void, run: RunState) {
    this.instance = instance;
    this.run = run;
    this.#memories = run.memories.map((memory) => new MemorySnapshot(memory));
    this.#values = instance.globals.map(({ value }) => value);
    this.#putBack = remember();
    this.#limits = run.limits;
  }

  /** Takes the snapshot, between instantiation and call; null for an instance that cannot be put back, or is too large. */
  static of(instance: ComponentInstance, run: RunState): KeptInstance | null {
    const { remember } = instance;
    if (remember === null || run.calledInSetup || run.meter.refused.value !== REFUSED.none) return null;
    const bytes = run.memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
    return bytes > MOST_KEPT_BYTES ? null : new KeptInstance(instance, remember, run);
  }

  /** What it holds of the thread's memory. */
  get bytes(): number {
    return this.#memories.reduce((sum, { size, keptBytes }) => sum + size + keptBytes, 0);
  }

  /** Whether the call that it served leaves it such that it can be put back: no memory has grown. */
  get isIntact(): boolean {
    return this.#memories.every(({ memory, size }) => memory.buffer.byteLength === size);
  }

  /** Whether instantiation would have gone the same way for a run with these limits; if not, a new instance says how. */
  admits(limits: Limits): boolean {
    if (this.run.setupFuel > limits.setupFuel) return false;
    return MET_IN_SETUP.every((limit) => most(limits[limit]) >= most(this.#limits[limit]));
  }

  /** Begins another run, up to the call: puts everything back. */
  begin(init: RunInit): void {
    const { run, instance } = this;
    const { setupFuel } = run;
    run.begin(init);
    run.hold(null, instance.tableElements);
    for (const snapshot of this.#memories) {
      run.hold({ initial: snapshot.size / PAGE_BYTES }, 0);
      run.memories.push(snapshot.memory);
      snapshot.putBack();
    }
    for (const [index, global] of instance.globals.entries()) global.value = this.#values[index]!;
    this.#putBack();
    run.beginCall(setupFuel);
  }
}

function most(limit: number | null): number {
  return limit ?? Number.POSITIVE_INFINITY;
}
