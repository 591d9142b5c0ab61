import type { Limits } from "../manifest/manifest.ts";
import type { ComponentInstance } from "./instance.ts";
import type { RunInit, RunState } from "./run-state.ts";

const PAGE_BYTES = 65_536;
/** Putting back a larger memory costs more than a new instance. */
const LARGEST_KEPT_BYTES = 16 * 1024 * 1024;

/**
 * An instance that serves one run after another (tier `reset`): before each, its memory, its mutable globals and the counters are
 * put back to where they were after instantiation. The artifact's `reset` is the proof that nothing else of it changes.
 */
export class KeptInstance {
  readonly instance: ComponentInstance;
  readonly run: RunState;
  readonly #memory: WebAssembly.Memory | null;
  /** The memory without the zeroes at its end. */
  readonly #snapshot: Uint8Array;
  readonly #memoryBytes: number;
  readonly #values: readonly (number | bigint)[];

  private constructor(instance: ComponentInstance, run: RunState) {
    this.instance = instance;
    this.run = run;
    this.#memory = run.memories[0] ?? null;
    const bytes = bytesOf(this.#memory);
    this.#memoryBytes = bytes.length;
    this.#snapshot = bytes.slice(0, endOfContent(bytes));
    this.#values = instance.globals.map(({ value }) => value);
  }

  /** Takes the snapshot, between instantiation and call; null for an instance that cannot be put back, or is too large. */
  static of(instance: ComponentInstance, run: RunState): KeptInstance | null {
    if (!instance.isResettable || run.calledInSetup || run.memories.length > 1) return null;
    if (bytesOf(run.memories[0] ?? null).length > LARGEST_KEPT_BYTES) return null;
    return new KeptInstance(instance, run);
  }

  /** What it holds of the thread's memory. */
  get bytes(): number {
    return this.#memoryBytes + this.#snapshot.length;
  }

  /** Whether the call that it served leaves it such that it can be put back. */
  get isIntact(): boolean {
    return bytesOf(this.#memory).length === this.#memoryBytes;
  }

  /** Whether a run with these limits would have got through instantiation; if not, a new instance says how it ends. */
  admits(limits: Limits): boolean {
    return this.run.setupFuel <= limits.setupFuel;
  }

  /** Begins another run, up to the call: puts everything back. Ends the run when its limits do not allow what the instance holds. */
  begin(init: RunInit): void {
    const { setupFuel } = this.run;
    this.run.begin(init);
    this.run.hold(null, this.instance.tableElements);
    if (this.#memory !== null) {
      this.run.hold({ initial: this.#memoryBytes / PAGE_BYTES }, 0);
      this.run.memories.push(this.#memory);
      const bytes = bytesOf(this.#memory);
      bytes.set(this.#snapshot);
      bytes.fill(0, this.#snapshot.length);
    }
    for (const [index, global] of this.instance.globals.entries()) global.value = this.#values[index]!;
    this.run.beginCall(setupFuel);
  }
}

function bytesOf(memory: WebAssembly.Memory | null): Uint8Array {
  return memory === null ? new Uint8Array() : new Uint8Array(memory.buffer);
}

/** Behind the last byte that is not zero. */
function endOfContent(bytes: Uint8Array): number {
  const words = new Int32Array(bytes.buffer);
  let end = words.length;
  while (end > 0 && words[end - 1] === 0) end--;
  return end * Int32Array.BYTES_PER_ELEMENT;
}
