import { type ClearPages, clearPagesOf } from "./clear-pages.ts";

const PAGE_BYTES = 4_096;
const ZERO_PAGE = Buffer.alloc(PAGE_BYTES);

/**
 * What a memory held, and the way back to it. Zeroes, of which most memories are full, are looked for and written only where the
 * guest wrote: that costs half of writing them, and a page that nobody ever wrote to takes no memory of the machine.
 */
export class MemorySnapshot {
  readonly memory: WebAssembly.Memory;
  /** Length of the memory. It must not have grown when it is put back. */
  readonly size: number;
  /** Bytes that are kept here. */
  readonly keptBytes: number;
  readonly #runs: readonly Run[];
  readonly #clear: ClearPages;

  constructor(memory: WebAssembly.Memory) {
    const bytes = Buffer.from(memory.buffer);
    this.memory = memory;
    this.size = bytes.length;
    this.#runs = runsOf(bytes);
    this.#clear = clearPagesOf(memory);
    this.keptBytes = this.#runs.reduce((sum, { content }) => sum + (content?.length ?? 0), 0);
  }

  putBack(): void {
    // Taken anew: a growth by no page gives the memory another buffer, and takes the old one's bytes away.
    const bytes = new Uint8Array(this.memory.buffer);
    for (const { start, end, content } of this.#runs) {
      if (content === null) this.#clear(start, end);
      else bytes.set(content, start);
    }
  }
}

/** Neighbouring pages that hold something, or, where `content` is null, nothing. */
interface Run {
  readonly start: number;
  readonly end: number;
  readonly content: Uint8Array | null;
}

/** Together all of the memory. */
function runsOf(bytes: Buffer): Run[] {
  const runs: Run[] = [];
  for (let start = 0, end = 0; start < bytes.length; start = end) {
    const isZero = isZeroPage(bytes, start);
    do end += PAGE_BYTES;
    while (end < bytes.length && isZeroPage(bytes, end) === isZero);
    runs.push({ start, end, content: isZero ? null : new Uint8Array(bytes.subarray(start, end)) });
  }
  return runs;
}

function isZeroPage(bytes: Buffer, start: number): boolean {
  return bytes.compare(ZERO_PAGE, 0, PAGE_BYTES, start, start + PAGE_BYTES) === 0;
}
