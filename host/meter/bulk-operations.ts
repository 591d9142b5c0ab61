import type { ChargePath } from "./charge-path.ts";
import type { Cursor } from "./cursor.ts";
import { BULK, OP } from "./opcodes.ts";
import { INJECTED } from "./plan.ts";
import { POINT } from "./points.ts";
import { unsupportedInstruction } from "./refusal.ts";
import type { Schedule } from "./schedule.ts";

/** Bulk operations and growth: injected functions charge for the operand and test the counter before they happen. */
export class BulkOperations {
  /** Ids of the injected functions that are needed, over all functions. */
  readonly injected = new Set<number>();
  private readonly path: ChargePath;
  private readonly schedule: Schedule;
  private readonly cursor: Cursor;

  constructor(path: ChargePath, schedule: Schedule, cursor: Cursor) {
    this.path = path;
    this.schedule = schedule;
    this.cursor = cursor;
  }

  /** The `memory.grow` at `at`. */
  growMemory(at: number): void {
    this.cursor.u32();
    this.charge(at, POINT.growMemory, INJECTED.growMemory);
  }

  /** The instruction at `at` whose second opcode is at the cursor. */
  operation(at: number): void {
    const { cursor } = this;
    const opcode = cursor.u32();
    switch (opcode) {
      case BULK.memory_init:
      case BULK.memory_copy:
        cursor.u32();
        cursor.u32();
        this.charge(at, POINT.charge, INJECTED.chargeBytes);
        return;
      case BULK.memory_fill:
        cursor.u32();
        this.charge(at, POINT.charge, INJECTED.chargeBytes);
        return;
      case BULK.table_init:
      case BULK.table_copy:
        cursor.u32();
        cursor.u32();
        this.charge(at, POINT.charge, INJECTED.chargeElements);
        return;
      case BULK.table_fill:
        cursor.u32();
        this.charge(at, POINT.charge, INJECTED.chargeElements);
        return;
      case BULK.table_grow:
        this.charge(at, POINT.growTable, INJECTED.growTable + cursor.u32());
        return;
      case BULK.data_drop:
      case BULK.elem_drop:
      case BULK.table_size:
        cursor.u32();
        break;
      default:
        if (opcode > BULK.table_fill) throw unsupportedInstruction(at, OP.bulk, opcode);
    }
    this.path.pend += this.schedule.plain;
  }

  private charge(at: number, kind: number, injected: number): void {
    if (this.path.isDead) return;
    this.injected.add(injected);
    this.path.points.add(at, kind, injected);
    this.path.tested();
  }
}
