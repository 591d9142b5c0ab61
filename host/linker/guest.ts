import type { Handles } from "./handles.ts";

/** What the linker asks of the run that an instance belongs to. */
export interface LinkHooks {
  /** Wrap the core functions that an export enters, that allocate and that free a result. */
  entry(core: CoreFunction): CoreFunction;
  realloc(core: CoreFunction): CoreFunction;
  postReturn(core: CoreFunction): CoreFunction;
  /** Pays for bytes that are about to be copied out of the guest, and counts what the host then holds; throws when that is not to be had. */
  payLift(bytes: number, held?: number): void;
  /** What was paid for has been handed on, and is no longer held. */
  handedOn(): void;
  /** Counts handles that are opened or closed; ends the run when there are too many. */
  countHandles(more: number): void;
  /** Records that the guest broke the canonical ABI, and leaves it. */
  trap(what: string): never;
}

/** A value as core Wasm has it: i32, f32 and f64 are numbers, i64 is a bigint. */
export type CoreValue = number | bigint;
export type CoreFunction = (...args: readonly CoreValue[]) => unknown;

/** Lengths in bytes above this trap: https://github.com/WebAssembly/component-model/blob/main/design/mvp/CanonicalABI.md#loading */
const LONGEST_BYTES = 2 ** 28 - 1;

/** A guest's memory and allocator, as values cross. Views are taken anew after whatever may have grown the memory. */
export class Guest {
  readonly hooks: LinkHooks;
  readonly handles: Handles;
  readonly #memory: WebAssembly.Memory | null;
  readonly #realloc: CoreFunction | null;
  #buffer: ArrayBuffer = NO_MEMORY;
  view = new DataView(NO_MEMORY);
  bytes: Buffer<ArrayBuffer> = Buffer.from(NO_MEMORY);

  constructor(hooks: LinkHooks, handles: Handles, memory: WebAssembly.Memory | null, realloc: CoreFunction | null) {
    this.hooks = hooks;
    this.handles = handles;
    this.#memory = memory;
    this.#realloc = realloc;
  }

  /** To be called after the guest ran. */
  refresh(): void {
    // A memory that grows, be it by nothing, detaches its buffer, which leaves the view without length.
    if (this.bytes.length > 0) return;
    const buffer = this.#memory?.buffer ?? NO_MEMORY;
    if (buffer === this.#buffer) return;
    this.#buffer = buffer;
    this.view = new DataView(buffer);
    this.bytes = Buffer.from(buffer);
  }

  /** Traps unless `size` bytes at a pointer lie in the memory, aligned. */
  check(at: number, size: number, align: number): void {
    if (at % align !== 0) this.hooks.trap(`a pointer of the guest is not aligned: ${at} to ${align} bytes`);
    if (at + size > this.bytes.length)
      this.hooks.trap(`a pointer of the guest leaves its memory: ${size} bytes at ${at} of ${this.bytes.length}`);
  }

  /** Checks a list or a string that is about to be read, then pays for it. */
  checkSpan(at: number, size: number, align: number, price: number): void {
    this.check(at, size, align);
    if (size > LONGEST_BYTES) this.hooks.trap(`a list or string of the guest is too long: ${size} bytes`);
    if (price > 0) this.hooks.payLift(price);
  }

  /** Room in the guest, from its own allocator, whose answer is not trusted. */
  allocate(align: number, size: number): number {
    if (size > LONGEST_BYTES) this.hooks.trap(`a value for the guest is too long: ${size} bytes`);
    if (this.#realloc === null) this.hooks.trap("the guest has no allocator for what it is handed");
    const at = Number(this.#realloc(0, 0, align, size)) >>> 0;
    this.refresh();
    this.check(at, size, align);
    return at;
  }
}

const NO_MEMORY = new ArrayBuffer(0);
