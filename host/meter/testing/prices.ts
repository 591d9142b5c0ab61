import type { Schedule } from "../meter.ts";
import type { Instruction } from "./program.ts";

/** What an instruction costs besides what depends on an operand. */
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
      return schedule.indirectCall;
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
