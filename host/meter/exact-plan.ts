/** What the exact variant needs to know of each function, by its place in the code section. */
export interface ExactPlan {
  /** Slots that its operands take at most, and its `v128` locals take besides their first. */
  readonly operandSlots: Uint32Array;
  /** Where a NaN is to be made canonical, ascending within a function: behind the instruction that makes it. */
  readonly positions: readonly number[];
  /** A `FLOAT` on top of the stack; or, from `RESULTS` on, all results of the type with the rest as its index. */
  readonly kinds: readonly number[];
  /** The first place of each function; one more entry than functions. */
  readonly firstSites: Uint32Array;
  /** Functions whose parameters come from the host, each with the locals that it reads: no other parameter can be looked at. */
  readonly entered: ReadonlyMap<number, ReadonlySet<number>>;
}

/** See `ExactPlan.kinds`. */
export const RESULTS = 8;
