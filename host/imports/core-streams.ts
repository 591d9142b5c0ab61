import { type CoreMemory, isInside } from "./core-memory.ts";
import { LineLog } from "./line-log.ts";
import { PRICES } from "./prices.ts";
import type { ImportEnding, ImportScope } from "./scope.ts";

/** The errno of WASI preview 1. */
export const ERRNO = { success: 0, badf: 8, fault: 21, inval: 28 } as const;

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
/** Bytes of one iovec: a pointer and a length. */
const VECTOR_BYTES = 8;
const MOST_U32 = 0xffff_ffff;
/**
 * Vectors that one read fills. They are noted before the first byte is written, which may land on the vectors themselves; a read that
 * gives less than was asked for is one that every caller must know.
 */
const MOST_FILLED = 1_024;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

interface Span {
  readonly at: number;
  readonly length: number;
}

/**
 * The three standard streams of a core module: its input, its output, and lines for the run's log. All that a call names is checked
 * before anything is read or written, and paid for before it is walked.
 */
export class CoreStreams {
  readonly #scope: ImportScope;
  readonly #memory: CoreMemory;
  #input: Uint8Array | null = null;
  #read = 0;
  #output = new Uint8Array(1_024);
  #written = 0;
  #log: LineLog;

  constructor(scope: ImportScope, memory: CoreMemory) {
    this.#scope = scope;
    this.#memory = memory;
    this.#log = new LineLog(scope, "error");
  }

  /** Begins another run: nothing is left of the one before. */
  clear(): void {
    this.#input = null;
    this.#read = 0;
    this.#written = 0;
    this.#log = new LineLog(this.#scope, "error");
  }

  /** `fd_read`: the next bytes of the input, none at its end. Gives an errno. */
  read(descriptor: number, vectors: number, count: number, readAt: number): number {
    if (descriptor >>> 0 !== STDIN) return ERRNO.badf;
    const memory = this.#memory();
    if (memory === null || this.#total(memory, vectors >>> 0, count >>> 0, readAt >>> 0) === null) return ERRNO.fault;
    const input = this.#inputBytes();
    const from = this.#read;
    for (const { at, length } of filled(memory, vectors >>> 0, count >>> 0, input.length - from)) {
      this.#scope.charge(length * PRICES.byte);
      memory.set(input.subarray(this.#read, this.#read + length), at);
      this.#read += length;
    }
    viewOf(memory).setUint32(readAt >>> 0, this.#read - from, true);
    return ERRNO.success;
  }

  /** `fd_write`: to the output, which ends the run past `outputBytes`, or to the log, which drops what is too much. Gives an errno. */
  write(descriptor: number, vectors: number, count: number, writtenAt: number): number {
    const to = descriptor >>> 0;
    if (to !== STDOUT && to !== STDERR) return ERRNO.badf;
    const memory = this.#memory();
    const total = memory === null ? null : this.#total(memory, vectors >>> 0, count >>> 0, writtenAt >>> 0);
    if (memory === null || total === null) return ERRNO.fault;
    if (total > MOST_U32) return ERRNO.inval;
    const spans = spansOf(viewOf(memory), vectors >>> 0, count >>> 0);
    if (to === STDOUT) this.#print(memory, spans, total);
    else this.#logBytes(memory, spans, total);
    viewOf(memory).setUint32(writtenAt >>> 0, total, true);
    return ERRNO.success;
  }

  /** How the run ends that has nothing more to write. */
  ending(): ImportEnding {
    try {
      return { kind: "succeeded", output: utf8.decode(this.#output.subarray(0, this.#written)) };
    } catch {
      return { kind: "invalid-output", what: "The output is not UTF-8" };
    }
  }

  /** Encoded when it is first read, and let go at the end: an instance that is kept would hold on to it. */
  #inputBytes(): Uint8Array {
    if (this.#input === null) {
      this.#input = Buffer.from(this.#scope.input);
      this.#scope.atEnd(() => {
        this.#input = null;
      });
    }
    return this.#input;
  }

  /** Bytes that the vectors name together; null where one of them, they themselves or the place of the result leave the memory. */
  #total(memory: Uint8Array, vectors: number, count: number, resultAt: number): number | null {
    if (!isInside(memory, vectors, count * VECTOR_BYTES) || !isInside(memory, resultAt, 4)) return null;
    this.#scope.charge(count * PRICES.vector);
    let total = 0;
    for (const { at, length } of spansOf(viewOf(memory), vectors, count)) {
      if (!isInside(memory, at, length)) return null;
      total += length;
    }
    return total;
  }

  #print(memory: Uint8Array, spans: Iterable<Span>, total: number): void {
    const { outputBytes } = this.#scope.limits;
    if (total > outputBytes - this.#written) this.#scope.stop({ kind: "over-budget", limit: "outputBytes" });
    this.#scope.charge(total * PRICES.byte);
    const needed = this.#written + total;
    if (needed > this.#output.length) {
      const larger = new Uint8Array(Math.min(outputBytes, Math.max(needed, this.#output.length * 2)));
      larger.set(this.#output.subarray(0, this.#written));
      this.#output = larger;
    }
    this.#written += gather(memory, spans, this.#output.subarray(this.#written));
  }

  #logBytes(memory: Uint8Array, spans: Iterable<Span>, total: number): void {
    const { counters, limits } = this.#scope;
    if (total > limits.logBytes - counters.logBytes) {
      counters.logDropped += total;
      return;
    }
    this.#scope.charge(total * PRICES.byte);
    const bytes = new Uint8Array(total);
    gather(memory, spans, bytes);
    this.#log.write(bytes);
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

function* spansOf(view: DataView, vectors: number, count: number): Generator<Span> {
  for (let index = 0; index < count; index++) {
    const entry = vectors + index * VECTOR_BYTES;
    yield { at: view.getUint32(entry, true), length: view.getUint32(entry + 4, true) };
  }
}

/** The parts of the memory that the next bytes of the input fill. */
function filled(memory: Uint8Array, vectors: number, count: number, available: number): readonly Span[] {
  const spans: Span[] = [];
  let left = available;
  for (const { at, length } of spansOf(viewOf(memory), vectors, count)) {
    if (left === 0 || spans.length === MOST_FILLED) break;
    if (length === 0) continue;
    const taken = Math.min(length, left);
    spans.push({ at, length: taken });
    left -= taken;
  }
  return spans;
}

/** Copies what the spans hold, one after another; gives how much that was. */
function gather(memory: Uint8Array, spans: Iterable<Span>, into: Uint8Array): number {
  let length = 0;
  for (const span of spans) {
    into.set(memory.subarray(span.at, span.at + span.length), length);
    length += span.length;
  }
  return length;
}
