import type { Catch, Clause, Instruction } from "./program.ts";

/** Which instructions for exceptions a program has; engines let the two kinds meet, with rules of their own. */
export type Exceptions = "none" | "legacy" | "new";

/** What the making of a function offers to the making of its exceptions. */
export interface Maker {
  pick(count: number): number;
  value(): Instruction[];
  statements(most: number): Instruction[];
  /** Makes code within one more label. `results` is -1 for a label that no branch may aim at. */
  within(results: number, make: () => Instruction[], isCatch?: boolean): Instruction[];
  /** The open labels, innermost last. */
  readonly targets: readonly { readonly results: number; readonly isCatch: boolean }[];
}

/** Tag 0 carries nothing, tag 1 one i32. */
const TAGS = 2;

export function exceptionStatement(maker: Maker, exceptions: Exceptions): Instruction[] {
  const kind = maker.pick(exceptions === "legacy" ? 6 : 5);
  if (kind < 2) return throwing(maker);
  if (exceptions === "new") return kind === 2 ? [tryRef(maker)] : [tryTable(maker)];
  if (kind === 2) return rethrow(maker);
  return kind === 3 ? [tryDelegate(maker)] : [tryCatch(maker)];
}

/** Mostly under a condition, so that not every path ends there. */
function throwing(maker: Maker): Instruction[] {
  const tag = maker.pick(TAGS);
  const make = (): Instruction[] => [...(tag === 1 ? maker.value() : []), { op: "throw", tag }];
  if (maker.pick(4) === 0) return make();
  return [...maker.value(), { op: "if", results: 0, body: maker.within(0, make), otherwise: undefined }];
}

function rethrow(maker: Maker): Instruction[] {
  const depths = depthsOf(maker, ({ isCatch }) => isCatch);
  if (depths.length === 0) return [{ op: "nop" }];
  const index = maker.pick(depths.length);
  const condition = maker.value();
  // Within the `if` every label is one further away.
  const body: Instruction[] = [{ op: "rethrow", depth: depths[index]! + 1 }];
  return [...condition, { op: "if", results: 0, body, otherwise: undefined }];
}

function tryDelegate(maker: Maker): Instruction {
  const depth = maker.pick(maker.targets.length);
  return { op: "try_delegate", body: maker.within(0, () => maker.statements(4)), depth };
}

function tryCatch(maker: Maker): Instruction {
  const body = maker.within(0, () => maker.statements(4));
  const catches: Catch[] = [];
  for (let tag = 0; tag < TAGS; tag++) if (maker.pick(2) === 0) catches.push({ tag, body: handler(maker, tag) });
  if (catches.length === 0 || maker.pick(2) === 0) catches.push({ tag: undefined, body: handler(maker, undefined) });
  return { op: "try", body, catches };
}

function handler(maker: Maker, tag: number | undefined): Instruction[] {
  const drops: Instruction[] = tag === 1 ? [{ op: "drop" }] : [];
  return maker.within(0, () => [...drops, ...maker.statements(3)], true);
}

function tryTable(maker: Maker): Instruction {
  const clauses: Clause[] = [];
  for (let left = 1 + maker.pick(3); left > 0; left--) {
    const tag = maker.pick(TAGS + 1);
    const depths = depthsOf(maker, ({ results }) => results === (tag === 1 ? 1 : 0));
    if (depths.length > 0) {
      clauses.push({ tag: tag === TAGS ? undefined : tag, depth: depths[maker.pick(depths.length)]! });
    }
  }
  return { op: "try_table", body: maker.within(0, () => maker.statements(4)), clauses };
}

/** Two labels around the `try_table`: one for what follows, one that gets the exception. */
function tryRef(maker: Maker): Instruction {
  const tag = maker.pick(TAGS + 1);
  const body = maker.within(0, () => maker.within(-1, () => maker.within(0, () => maker.statements(4))));
  return { op: "try_ref", body, tag: tag === TAGS ? undefined : tag, rethrows: maker.pick(2) === 0 };
}

function depthsOf(maker: Maker, isWanted: (target: Maker["targets"][number]) => boolean): number[] {
  return maker.targets.map((_, depth) => depth).filter((depth) => isWanted(maker.targets.at(-1 - depth)!));
}
