import type { Costs } from "./costs.ts";
import type { PlacedInstruction } from "./instructions.ts";
import type { CoreModule } from "./module.ts";
import { BULK, OP } from "./opcodes.ts";
import { throwPrice } from "./schedule.ts";

/** What instructions of a module cost, one by one. `leaves` is what `findLeaves` answers. */
export class InstructionPrices {
  private readonly module: CoreModule;
  private readonly costs: Costs;
  private readonly leaves: Int32Array;

  constructor(module: CoreModule, costs: Costs, leaves: Int32Array) {
    this.module = module;
    this.costs = costs;
    this.leaves = leaves;
  }

  /** What entering the function at `index` of the code section costs besides the call. */
  atEntry(index: number): number {
    const { freeLocals, extraLocal } = this.costs.schedule;
    return Math.max(0, this.module.bodies.locals[index]! - freeLocals) * extraLocal;
  }

  /** The price whatever the operand. A call of a leaf costs what the leaf does. */
  flat({ opcode, operand, tries }: PlacedInstruction): number {
    const { schedule, plain, simd } = this.costs;
    switch (opcode) {
      case OP.call:
      case OP.return_call: {
        const defined = operand - this.module.importedFunctions;
        return defined < 0 ? schedule.importedCall : schedule.call + Math.max(0, this.leaves[defined]!);
      }
      case OP.call_indirect:
      case OP.return_call_indirect:
      case OP.call_ref:
      case OP.return_call_ref:
        return schedule.indirectCall + schedule.leaf;
      case OP.throw:
      case OP.rethrow:
      case OP.throw_ref:
        return throwPrice(schedule, tries);
      case OP.memory_grow:
        return schedule.memoryGrow;
      case OP.bulk:
        return this.flatOfBulk(operand);
      case OP.simd:
        return simd[operand]!;
      default:
        return plain[opcode]!;
    }
  }

  /** The price for each byte, page or element of the length on top of the stack; 0 where nothing depends on it. */
  perUnit({ opcode, operand }: PlacedInstruction): number {
    const { schedule } = this.costs;
    if (opcode === OP.memory_grow) return schedule.memoryGrowPage;
    if (opcode !== OP.bulk) return 0;
    switch (operand) {
      case BULK.memory_init:
      case BULK.memory_copy:
      case BULK.memory_fill:
        return schedule.memoryBulkByte;
      case BULK.table_init:
      case BULK.table_copy:
      case BULK.table_fill:
        return schedule.tableBulkElement;
      case BULK.table_grow:
        return schedule.tableGrowElement;
      default:
        return 0;
    }
  }

  private flatOfBulk(second: number): number {
    const { schedule } = this.costs;
    switch (second) {
      case BULK.memory_init:
      case BULK.memory_copy:
      case BULK.memory_fill:
        return schedule.memoryBulk;
      case BULK.table_init:
      case BULK.table_copy:
      case BULK.table_fill:
        return schedule.tableBulk;
      case BULK.table_grow:
        return schedule.tableGrow;
      default:
        return schedule.plain;
    }
  }
}
