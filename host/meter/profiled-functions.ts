import { Reader } from "../binary/binary.ts";
import { type CoreModule, SECTION } from "./module.ts";
import { functionNames } from "./name-section.ts";
import { MODE, type Plan } from "./plan.ts";

/** A function of a profile build, as its profiler must know it. */
export interface ProfiledFunction {
  /** Its index, imported functions first. */
  readonly index: number;
  /** From the name section or else an export; the guest decides what it says. Null where neither says anything. */
  readonly name: string | null;
  /** What its caller pays for it, when it is a leaf; else 0. */
  readonly leafCost: number;
}

/** Names come from the guest, and an artifact is kept. */
const MOST_NAME_LENGTH = 200;

/** The functions that the module defines, by index. */
export function profiledFunctions(module: CoreModule, plan: Plan): readonly ProfiledFunction[] {
  const names = functionNames(module.bytes, module.sections);
  const exported = exportNames(module);
  return Array.from({ length: module.bodies.count }, (_, at): ProfiledFunction => {
    const index = module.importedFunctions + at;
    const name = names.get(index) || exported.get(index) || null;
    return {
      index,
      name: name === null ? null : name.slice(0, MOST_NAME_LENGTH),
      leafCost: plan.modes[at] === MODE.leaf ? plan.leaves[at]! : 0,
    };
  });
}

/** The first name under which each function is exported. */
function exportNames(module: CoreModule): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  for (const { id, start, end } of module.sections) {
    if (id !== SECTION.export) continue;
    const reader = new Reader(module.bytes, start, end);
    for (let left = reader.u32(); left > 0; left--) {
      const name = reader.name();
      const kind = reader.byte();
      const index = reader.u32();
      if (kind === 0 && !found.has(index)) found.set(index, name);
    }
  }
  return found;
}
