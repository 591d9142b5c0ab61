import { Reader, splitSections } from "../binary/binary.ts";
import type { Costs } from "./costs.ts";
import { InstructionPrices } from "./instruction-prices.ts";
import { instructionsOf } from "./instructions.ts";
import { findLeaves } from "./leaves.ts";
import { type CoreModule, SECTION } from "./module.ts";
import { functionNames } from "./name-section.ts";
import { MODE, type Plan } from "./plan.ts";
import { pointsOf } from "./report.ts";

/** How a function is charged; `MeterReport.functions` says what each means. */
export type FunctionMode = keyof typeof MODE;

/** What was done to one function that the module defines. */
export interface FunctionReport {
  /** Its index, imported functions first. */
  readonly index: number;
  /** From the name section, which may say anything; null where it says nothing. */
  readonly name: string | null;
  readonly mode: FunctionMode;
  /**
   * The price of each of its instructions once, executed or not, and of its entry. Without what depends on an operand, and
   * without what runs in callees, leaves aside. For a leaf, this is what its callers pay besides the call.
   */
  readonly staticCost: number;
  /** Places where fuel is charged, and where it is tested. */
  readonly charges: number;
  readonly tests: number;
  /** Size of its body in the module and in the metered one. */
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** One report for each function that `module` defines, by index. `output` is that module metered by `plan`. */
export function reportFunctions(module: CoreModule, plan: Plan, costs: Costs, output: Uint8Array): FunctionReport[] {
  const prices = new InstructionPrices(module, costs, findLeaves(module, costs));
  const names = functionNames(module.bytes, module.sections);
  const sizes = bodySizes(output);
  return Array.from({ length: module.bodies.count }, (_, at): FunctionReport => {
    const index = module.importedFunctions + at;
    return {
      index,
      name: names.get(index) ?? null,
      mode: MODE_NAMES[plan.modes[at]!]!,
      staticCost: staticCost(module, at, prices),
      ...pointsOf(plan, at),
      bytesIn: module.bodies.ends[at]! - module.bodies.starts[at]!,
      bytesOut: sizes[at]!,
    };
  });
}

const MODE_NAMES = Object.keys(MODE) as FunctionMode[];

function staticCost(module: CoreModule, at: number, prices: InstructionPrices): number {
  let cost = prices.atEntry(at);
  for (const instruction of instructionsOf(module, at)) cost += prices.flat(instruction);
  return cost;
}

/** The size of each body of the code section. */
function bodySizes(bytes: Uint8Array): number[] {
  const section = splitSections(bytes).find(({ id }) => id === SECTION.code);
  if (section === undefined) return [];
  const reader = new Reader(bytes, section.start, section.end);
  return Array.from({ length: reader.count() }, () => reader.span().length);
}
