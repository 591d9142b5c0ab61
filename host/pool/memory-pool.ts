import { BRIDGE_FIELDS } from "./protocol.ts";

/** A process holds about 13,000 Wasm memories, each with its guard regions; the rest is left to others in the process. */
const MOST_MEMORIES = 10_000;
/** Larger memories cost more to zero than to make. */
const LARGEST_POOLED_PAGES = 256;
const MOST_POOLED_PER_SHAPE = 8;

const PAGE_BYTES = 65_536;

/** No Wasm memory is to be had: the process holds as many as it may. */
export class MemoriesExhausted extends Error {}

/** Makes the memories of runs on one thread, and keeps zeroed ones for the next run of the same shape. */
export class MemoryPool {
  readonly #all: Int32Array;
  readonly #own: Int32Array;
  readonly #kept = new Map<string, WebAssembly.Memory[]>();
  readonly #registry = new FinalizationRegistry<void>(() => this.#count(-1));

  /** `all` counts the memories of the process, `own` those of this thread. */
  constructor(all: Int32Array, own: Int32Array) {
    this.#all = all;
    this.#own = own;
  }

  /** A memory full of zeroes. Throws MemoriesExhausted, or what V8 throws when it has no address space. */
  take(initial: number, maximum: number, recycled: boolean): WebAssembly.Memory {
    const kept = recycled ? this.#kept.get(`${initial}/${maximum}`)?.pop() : undefined;
    if (kept !== undefined) return kept;
    if (this.#count(1) > MOST_MEMORIES) {
      this.#count(-1);
      throw new MemoriesExhausted(`the process holds ${MOST_MEMORIES} Wasm memories`);
    }
    try {
      const memory = new WebAssembly.Memory({ initial, maximum });
      this.#registry.register(memory);
      return memory;
    } catch (thrown) {
      this.#count(-1);
      throw thrown;
    }
  }

  /** Takes a memory back that no instance will use again. One that grew, or is large, is left to the collector. */
  give(memory: WebAssembly.Memory, initial: number, maximum: number): void {
    if (initial > LARGEST_POOLED_PAGES || memory.buffer.byteLength !== initial * PAGE_BYTES) return;
    const shape = `${initial}/${maximum}`;
    const kept = this.#kept.get(shape) ?? [];
    this.#kept.set(shape, kept);
    if (kept.length >= MOST_POOLED_PER_SHAPE) return;
    new Uint8Array(memory.buffer).fill(0);
    kept.push(memory);
  }

  #count(more: number): number {
    Atomics.add(this.#own, BRIDGE_FIELDS.memories, more);
    return Atomics.add(this.#all, 0, more) + more;
  }
}
