import type { ContextTree } from "./context-tree.ts";
import type { FrameCounts } from "./fuel-profiler.ts";

/**
 * Makes the counts of a run that has ended add up to what it is said to have used. `contexts` and `frames` are those under
 * way, the innermost last, `fuel` is what the counter holds.
 *
 * A charge that made the counter negative counts only as far as there was fuel: the rest is taken back from the frames that
 * ran last. And where a trap came before a frame had paid for leaves that it called, those give back what they were given.
 */
export function settleProfile(
  tree: ContextTree,
  counts: FrameCounts,
  contexts: Int32Array,
  frames: Int32Array,
  fuel: number,
): void {
  if (fuel < 0) {
    take(tree.self, tree.length, [...contexts].reverse(), -fuel);
    take(counts.self, counts.self.length, [...frames].reverse(), -fuel);
  }
  for (const context of new Set(contexts)) coverLeaves(tree, counts, context);
  cover(tree.self, tree.length);
  cover(counts.self, counts.self.length);
  for (const [frame, self] of counts.self.entries()) counts.total[frame] = Math.max(counts.total[frame]!, self);
}

/** Takes `amount` from values that are above 0: from those at `first`, then from any. */
function take(values: Float64Array, length: number, first: Iterable<number>, amount: number): void {
  let left = amount;
  const from = (at: number): void => {
    const taken = Math.min(left, Math.max(0, values[at]!));
    values[at]! -= taken;
    left -= taken;
  };
  for (const at of first) from(at);
  for (let at = length - 1; at >= 0 && left > 0; at--) from(at);
}

/** Gives a context that is below 0 what the leaves within it were given. */
function coverLeaves(tree: ContextTree, counts: FrameCounts, context: number): void {
  const { self, frames, parents } = tree;
  for (let leaf = tree.length - 1; leaf > context && self[context]! < 0; leaf--) {
    let above = leaf;
    while (above > context && counts.leafCosts[frames[above]!]! > 0) above = parents[above]!;
    if (above !== context) continue;
    const given = Math.min(-self[context]!, Math.max(0, self[leaf]!));
    self[leaf]! -= given;
    self[context]! += given;
    counts.self[frames[leaf]!]! -= given;
    counts.total[frames[leaf]!]! -= given;
    counts.self[frames[context]!]! += given;
  }
}

/** What is still below 0 was folded or lost: any other gives it. */
function cover(values: Float64Array, length: number): void {
  for (let at = 0; at < length; at++) {
    const missing = -values[at]!;
    if (missing <= 0) continue;
    values[at] = 0;
    take(values, length, [], missing);
  }
}
