/** Contexts that a tree holds: a profile of any run stays a few megabytes. */
const MOST_CONTEXTS = 65_536;
/** Contexts within contexts: no viewer shows more, and a deep recursion must not use up the tree. */
const MOST_DEPTH = 512;

/** Twice as many as there are contexts, so that a search ends soon. */
const SLOT_BITS = 17;
const SLOTS = 2 ** SLOT_BITS;

/**
 * A calling-context tree: a context is a frame as it is called in another context; context 0 is the outermost. Arrays of
 * numbers, of a size that no run can change.
 */
export class ContextTree {
  length = 1;
  readonly frames = new Int32Array(MOST_CONTEXTS);
  readonly parents = new Int32Array(MOST_CONTEXTS);
  readonly self = new Float64Array(MOST_CONTEXTS);
  readonly calls = new Float64Array(MOST_CONTEXTS);
  private readonly depths = new Uint16Array(MOST_CONTEXTS);
  /** Contexts by parent and frame; 0 is a free slot. */
  private readonly slots = new Int32Array(SLOTS);

  constructor() {
    this.parents[0] = -1;
  }

  /** The context of `frame` within `parent`; `parent` itself when there is no room for it. */
  child(parent: number, frame: number): number {
    const { slots, frames, parents } = this;
    let slot = (Math.imul(parent, 0x9e3779b1) + Math.imul(frame, 0x85ebca6b)) >>> (32 - SLOT_BITS);
    for (;;) {
      const found = slots[slot]!;
      if (found === 0) break;
      if (frames[found] === frame && parents[found] === parent) return found;
      slot = (slot + 1) & (SLOTS - 1);
    }
    const depth = this.depths[parent]! + 1;
    if (this.length === MOST_CONTEXTS || depth > MOST_DEPTH) return parent;
    const made = this.length++;
    slots[slot] = made;
    frames[made] = frame;
    parents[made] = parent;
    this.depths[made] = depth;
    return made;
  }
}
