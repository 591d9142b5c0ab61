import type { ChargePath } from "./charge-path.ts";
import type { Cursor } from "./cursor.ts";
import type { CoreModule, Limits } from "./module.ts";
import { BULK, OP } from "./opcodes.ts";
import { growthId, INJECTED } from "./plan.ts";
import { POINT } from "./points.ts";
import { unsupportedInstruction } from "./refusal.ts";
import type { Schedule } from "./schedule.ts";

/** Those that change a table or a segment. */
const LASTING: ReadonlyMap<number, string> = new Map([
  [BULK.memory_init, "memory.init"],
  [BULK.data_drop, "data.drop"],
  [BULK.table_init, "table.init"],
  [BULK.elem_drop, "elem.drop"],
  [BULK.table_copy, "table.copy"],
  [BULK.table_grow, "table.grow"],
  [BULK.table_fill, "table.fill"],
]);

/** Bulk operations and growth: injected functions charge for the operand and test the counter before they happen. */
export class BulkOperations {
  /** Ids of the injected functions that are needed, over all functions. */
  readonly injected = new Set<number>();
  /** The first instruction of the module that changes a table or drops a segment, by its name. */
  lasting: string | null = null;
  private readonly path: ChargePath;
  private readonly schedule: Schedule;
  private readonly module: CoreModule;
  private readonly cursor: Cursor;

  constructor(path: ChargePath, schedule: Schedule, module: CoreModule, cursor: Cursor) {
    this.module = module;
    this.path = path;
    this.schedule = schedule;
    this.cursor = cursor;
  }

  /** The `memory.grow` at `at`. */
  growMemory(at: number): void {
    this.charge(at, POINT.growMemory, growthId("memory", this.cursor.u32()));
  }

  /** The instruction at `at` whose second opcode is at the cursor. The length of `init` has 32 bits, whatever the target. */
  operation(at: number): void {
    const { cursor } = this;
    const { memories, tables } = this.module;
    const opcode = cursor.u32();
    this.lasting ??= LASTING.get(opcode) ?? null;
    switch (opcode) {
      case BULK.memory_init:
        cursor.u32();
        cursor.u32();
        this.charge(at, POINT.charge, INJECTED.chargeBytes);
        return;
      case BULK.memory_copy:
        this.charge(at, POINT.charge, this.areWide(memories, 2) ? INJECTED.chargeBytes64 : INJECTED.chargeBytes);
        return;
      case BULK.memory_fill:
        this.charge(at, POINT.charge, this.areWide(memories, 1) ? INJECTED.chargeBytes64 : INJECTED.chargeBytes);
        return;
      case BULK.table_init:
        cursor.u32();
        cursor.u32();
        this.charge(at, POINT.charge, INJECTED.chargeElements);
        return;
      case BULK.table_copy:
        this.charge(at, POINT.charge, this.areWide(tables, 2) ? INJECTED.chargeElements64 : INJECTED.chargeElements);
        return;
      case BULK.table_fill:
        this.charge(at, POINT.charge, this.areWide(tables, 1) ? INJECTED.chargeElements64 : INJECTED.chargeElements);
        return;
      case BULK.table_grow:
        this.charge(at, POINT.growTable, growthId("table", cursor.u32()));
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

  /** Whether the next `count` indices name what has 64-bit addresses: a length is as narrow as the narrowest. */
  private areWide(limits: readonly Limits[], count: number): boolean {
    let areWide = true;
    for (let left = count; left > 0; left--) areWide = limits[this.cursor.u32()]!.is64 && areWide;
    return areWide;
  }

  private charge(at: number, kind: number, injected: number): void {
    if (this.path.isDead) return;
    this.injected.add(injected);
    this.path.points.add(at, kind, injected);
    this.path.tested();
  }
}
