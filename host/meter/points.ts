/**
 * What is injected at a place of a body. "Counter" is the global `fuel`, "local" the copy of it in a cached
 * function; a guarded function has no copy, and the counter stands for it.
 */
export const POINT = {
  /** Subtract `value` (it may be negative) from the local. */
  pay: 0,
  /** Leave for the trap when the local is negative; `value` is the label depth of the block to leave. */
  test: 1,
  /** Copy the local into the counter. */
  store: 2,
  /** Copy the counter into the local. */
  load: 3,
  /** Copy the local minus `value` into the counter: an `unreachable` follows. */
  trap: 4,
  /** The `return` that stands here; `value` is the label depth of the function. */
  return: 5,
  /** A tail call follows: the frame ends. */
  leave: 6,
  /** Call injected function `value`, which charges for the operand on top of the stack and gives it back. */
  charge: 7,
  /** Call injected function `value` in place of the `memory.grow` that stands here. */
  growMemory: 8,
  /** The same for `table.grow`. */
  growTable: 9,
  /** The index of a global that the module defines stands here; `value` is that index. */
  global: 10,
  /** The last `end` of the function stands here; `value` is 1 when exceptions may arrive behind it. */
  exit: 11,
} as const;

/** The points of all functions, one after another; arrays of numbers, so that a module of megabytes makes no objects. */
export class Points {
  positions: Uint32Array;
  kinds: Uint8Array;
  values: Int32Array;
  length = 0;

  constructor(capacity: number) {
    this.positions = new Uint32Array(capacity);
    this.kinds = new Uint8Array(capacity);
    this.values = new Int32Array(capacity);
  }

  add(position: number, kind: number, value: number): void {
    const index = this.length++;
    if (index === this.kinds.length) this.grow();
    this.positions[index] = position;
    this.kinds[index] = kind;
    this.values[index] = value;
  }

  private grow(): void {
    const capacity = this.kinds.length * 2;
    const { positions, kinds, values } = this;
    this.positions = new Uint32Array(capacity);
    this.kinds = new Uint8Array(capacity);
    this.values = new Int32Array(capacity);
    this.positions.set(positions);
    this.kinds.set(kinds);
    this.values.set(values);
  }
}
