import type { Schedule } from "../meter.ts";
import { type Instruction, type Program, SIGNATURES } from "./program.ts";

/** What an instruction costs besides what depends on an operand or on the callee. */
export function priceOf(instruction: Instruction, schedule: Schedule): number {
  switch (instruction.op) {
    case "block":
    case "loop":
    case "try":
    case "try_delegate":
    case "try_table":
    case "try_ref":
    case "nop":
    case "drop":
    case "unreachable":
      return schedule.structural;
    case "throw":
    case "rethrow":
      return schedule.throw;
    case "load8_u":
    case "store8":
      return schedule.access;
    case "div_u":
    case "rem_s":
      return schedule.division;
    case "call":
      return instruction.callee === 0 ? schedule.importedCall : schedule.call;
    case "call_indirect":
      return schedule.indirectCall + schedule.leaf;
    case "memory.fill":
      return schedule.memoryBulk;
    case "memory.grow":
      return schedule.memoryGrow;
    default:
      return schedule.plain;
  }
}

/** The cost of every instruction of a body, executed or not. */
export function staticCost(body: readonly Instruction[], schedule: Schedule): number {
  let cost = 0;
  for (const instruction of body) {
    cost += priceOf(instruction, schedule);
    if (instruction.op === "try_ref") cost += schedule.plain + schedule.throw;
    if ("body" in instruction) cost += staticCost(instruction.body, schedule);
    if ("otherwise" in instruction && instruction.otherwise !== undefined)
      cost += staticCost(instruction.otherwise, schedule);
    if (instruction.op === "try") for (const clause of instruction.catches) cost += staticCost(clause.body, schedule);
  }
  return cost;
}

/**
 * What a call of each function costs besides the price of the call, when the function itself is then free; undefined for
 * functions that pay on their own. By the words of `Schedule.leaf`.
 */
export function leafCosts({ functions }: Program, schedule: Schedule): (number | undefined)[] {
  const costOf = (index: number, within: readonly number[]): number | undefined => {
    const { body, locals, signature } = functions[index]!;
    if (schedule.leaf === 0 || index === 0 || within.includes(index)) return undefined;
    const { parameters } = SIGNATURES[signature]!;
    let cost = staticCost(body, schedule);
    cost += Math.max(0, parameters + locals - schedule.freeLocals) * schedule.extraLocal;
    for (const instruction of flatten(body)) {
      if (/^(?:loop|call_indirect|memory\..*|try.*|throw|rethrow)$/.test(instruction.op)) return undefined;
      if (instruction.op !== "call") continue;
      const callee = instruction.callee === 0 ? undefined : costOf(instruction.callee - 1, [...within, index]);
      if (callee === undefined) return undefined;
      cost += callee;
    }
    return cost <= schedule.leaf ? cost : undefined;
  };
  return functions.map((_, index) => costOf(index, []));
}

function flatten(body: readonly Instruction[]): Instruction[] {
  return body.flatMap((instruction) => [
    instruction,
    ...("body" in instruction ? flatten(instruction.body) : []),
    ...("otherwise" in instruction ? flatten(instruction.otherwise ?? []) : []),
  ]);
}
