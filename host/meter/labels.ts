/** Kinds of labels. */
export const LABEL = { function: 0, block: 1, loop: 2, if: 3, else: 4, try: 5 } as const;

/** How a label has been reached so far. */
export const REACHED = {
  not: 0,
  /** By the untaken edge of its `if`, which an `else` would end. */
  implicitly: 1,
  yes: 2,
} as const;

/**
 * The labels that are open at a place of a body, innermost last, as arrays of numbers. `owed` is the one value that
 * every path has not yet paid where it reaches the label (-1: not known yet), `total` the cost of the first such path
 * from the start of the function, `run` the highest cost of one since the last test, `isStored` 1 while every such path
 * came with the counter equal to its copy.
 */
export class Labels {
  readonly kind: Uint8Array;
  readonly isDead: Uint8Array;
  readonly reached: Uint8Array;
  /** 1 when a `try_table` sends exceptions here. */
  readonly catches: Uint8Array;
  readonly ordinal: Int32Array;
  readonly owed: Int32Array;
  readonly total: Float64Array;
  readonly run: Int32Array;
  readonly isStored: Uint8Array;
  /** The state at an `if`, which its `else` starts with. */
  readonly ifPend: Int32Array;
  readonly ifTotal: Float64Array;
  readonly ifRun: Int32Array;
  readonly ifIsStored: Uint8Array;

  constructor(capacity: number) {
    this.kind = new Uint8Array(capacity);
    this.isDead = new Uint8Array(capacity);
    this.reached = new Uint8Array(capacity);
    this.catches = new Uint8Array(capacity);
    this.ordinal = new Int32Array(capacity);
    this.owed = new Int32Array(capacity);
    this.total = new Float64Array(capacity);
    this.run = new Int32Array(capacity);
    this.isStored = new Uint8Array(capacity);
    this.ifPend = new Int32Array(capacity);
    this.ifTotal = new Float64Array(capacity);
    this.ifRun = new Int32Array(capacity);
    this.ifIsStored = new Uint8Array(capacity);
  }
}
