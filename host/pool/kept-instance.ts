import type { Limits } from "../manifest/manifest.ts";
import { REFUSED } from "../meter/meter.ts";
import type { ComponentInstance } from "./instance.ts";
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
  readonly #memories: readonly KeptMemory[];
  readonly #values: readonly (number | bigint)[];
  readonly #putBack: () => void;
  /** Those of the run that made it. */
  readonly #limits: Limits;

  private constructor(instance: ComponentInstance, remember: () => () => void, run: RunState) {
    this.instance = instance;
    this.run = run;
    this.#memories = run.memories.map(keptMemory);
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
    return this.#memories.reduce((sum, { size, content }) => sum + size + content.length, 0);
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
    for (const { memory, size, content } of this.#memories) {
      run.hold({ initial: size / PAGE_BYTES }, 0);
      run.memories.push(memory);
      const bytes = new Uint8Array(memory.buffer);
      bytes.set(content);
      bytes.fill(0, content.length);
    }
    for (const [index, global] of instance.globals.entries()) global.value = this.#values[index]!;
    this.#putBack();
    run.beginCall(setupFuel);
  }
}

function most(limit: number | null): number {
  return limit ?? Number.POSITIVE_INFINITY;
}

interface KeptMemory {
  readonly memory: WebAssembly.Memory;
  readonly size: number;
  /** What it held, without the zeroes at its end. */
  readonly content: Uint8Array;
}

function keptMemory(memory: WebAssembly.Memory): KeptMemory {
  const words = new Int32Array(memory.buffer);
  let end = words.length;
  while (end > 0 && words[end - 1] === 0) end--;
  const content = new Uint8Array(memory.buffer).slice(0, end * Int32Array.BYTES_PER_ELEMENT);
  return { memory, size: memory.buffer.byteLength, content };
}
