const PAGE_BYTES = 4_096;
/** Zeroes are compared this many at a time: as many as stay in the nearest cache beside what they are compared with. */
const ZEROES = Buffer.alloc(4 * PAGE_BYTES);

/**
 * What a memory held, and the way back to it. Zeroes, of which most memories are full, are written only where the guest wrote: to
 * compare them costs less, and a page that nobody ever wrote to takes no memory of the machine.
 */
export class MemorySnapshot {
  readonly memory: WebAssembly.Memory;
  /** Length of the memory. It must not have grown when it is put back. */
  readonly size: number;
  /** Bytes that are kept here. */
  readonly keptBytes: number;
  readonly #pieces: readonly Piece[];
  #buffer: ArrayBuffer;
  /** Of the buffer, one for each piece. */
  #views: readonly Buffer[];

  constructor(memory: WebAssembly.Memory) {
    this.memory = memory;
    this.#buffer = memory.buffer;
    const bytes = Buffer.from(this.#buffer);
    this.size = bytes.length;
    this.#pieces = piecesOf(bytes);
    this.#views = viewsOf(this.#buffer, this.#pieces);
    this.keptBytes = this.#pieces.reduce((sum, { held, isZero }) => sum + (isZero ? 0 : held.length), 0);
  }

  putBack(): void {
    // A growth by no page gives the memory another buffer, and takes the old one's bytes away.
    if (this.memory.buffer !== this.#buffer) {
      this.#buffer = this.memory.buffer;
      this.#views = viewsOf(this.#buffer, this.#pieces);
    }
    for (const [index, { held, isZero }] of this.#pieces.entries()) {
      const view = this.#views[index]!;
      if (!isZero) view.set(held);
      else if (!view.equals(held)) view.fill(0);
    }
  }
}

/** A stretch of a memory and what it held. */
interface Piece {
  readonly start: number;
  readonly held: Buffer;
  /** Whether `held` is a part of `ZEROES`. */
  readonly isZero: boolean;
}

/** All of a memory: neighbouring pages of one kind together, zeroes up to as many as `ZEROES` has. */
function piecesOf(bytes: Buffer): Piece[] {
  const pieces: Piece[] = [];
  for (let start = 0, end = 0; start < bytes.length; start = end) {
    const isZero = isZeroPage(bytes, start);
    const most = isZero ? start + ZEROES.length : bytes.length;
    do end += PAGE_BYTES;
    while (end < Math.min(bytes.length, most) && isZeroPage(bytes, end) === isZero);
    const held = isZero ? ZEROES.subarray(0, end - start) : Buffer.from(bytes.subarray(start, end));
    pieces.push({ start, held, isZero });
  }
  return pieces;
}

function isZeroPage(bytes: Buffer, start: number): boolean {
  return bytes.compare(ZEROES, 0, PAGE_BYTES, start, start + PAGE_BYTES) === 0;
}

function viewsOf(buffer: ArrayBuffer, pieces: readonly Piece[]): Buffer[] {
  return pieces.map(({ start, held }) => Buffer.from(buffer, start, held.length));
}
