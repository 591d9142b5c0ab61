import { Reader } from "../binary/binary.ts";
import type { Costs } from "./costs.ts";
import { Cursor } from "./cursor.ts";
import { type CoreModule, SECTION } from "./module.ts";
import {
  BULK,
  F32_IMMEDIATE,
  F64_IMMEDIATE,
  FIRST_RELAXED_SIMD,
  IMMEDIATES,
  LEB_IMMEDIATE,
  MEMORY_IMMEDIATE,
  NO_IMMEDIATE,
  OP,
  SIMD_IMMEDIATES,
  UNKNOWN,
} from "./opcodes.ts";

const NOT_A_LEAF = -1;

/**
 * The cost of each function of the code section that is a leaf, and -1 for the others. A leaf is not metered: who calls
 * it pays. It is neither exported nor the start function, has no loop, calls nothing but leaves directly, does no work
 * that is priced by an operand, and costs no more than the schedule's `leaf`. Its cost is that of all its instructions,
 * executed or not, and of the leaves that it calls.
 */
export function findLeaves(module: CoreModule, costs: Costs): Int32Array {
  const { count } = module.bodies;
  const leaves = new Int32Array(count).fill(NOT_A_LEAF);
  if (costs.schedule.leaf === 0) return leaves;
  const entered = new Set(functionEntries(module));
  const body = new SmallBody(module, costs);
  let open: Candidate[] = [];
  for (let index = 0; index < count; index++) {
    const own = entered.has(index) ? NOT_A_LEAF : body.costOf(index);
    if (own === NOT_A_LEAF) continue;
    if (body.callees.length === 0) leaves[index] = own;
    else open.push({ index, own, callees: body.callees });
  }
  // Each round finds the leaves above those of the round before; as each call costs at least 1, there are few.
  for (let before = -1; open.length !== before; ) {
    before = open.length;
    open = open.filter(({ index, own, callees }) => {
      if (callees.some((callee) => leaves[callee] === NOT_A_LEAF)) return true;
      const cost = callees.reduce((sum, callee) => sum + leaves[callee]!, own);
      if (cost <= costs.schedule.leaf) leaves[index] = cost;
      return false;
    });
  }
  return leaves;
}

/** A function that is a leaf if its callees are, by place in the code section. */
interface Candidate {
  readonly index: number;
  /** Its cost without that of its callees. */
  readonly own: number;
  readonly callees: readonly number[];
}

/** Reads one body after another, each no further than the cost of a leaf. */
class SmallBody {
  /** What the body read last calls, by place in the code section. */
  callees: number[] = [];
  private readonly module: CoreModule;
  private readonly costs: Costs;
  private readonly cursor: Cursor;

  constructor(module: CoreModule, costs: Costs) {
    this.module = module;
    this.costs = costs;
    this.cursor = new Cursor(module.bytes);
  }

  /** The cost of the body without that of its callees, or -1 when it is none of a leaf. */
  costOf(index: number): number {
    const { code, ends, locals } = this.module.bodies;
    const { freeLocals, extraLocal } = this.costs.schedule;
    this.callees = [];
    this.cursor.position = code[index]!;
    return this.sum(ends[index]!, Math.max(0, locals[index]! - freeLocals) * extraLocal);
  }

  private sum(end: number, atEntry: number): number {
    const { cursor } = this;
    const { bytes } = cursor;
    const { leaf } = this.costs.schedule;
    let cost = atEntry;
    while (cursor.position < end && cost <= leaf) {
      const opcode = bytes[cursor.position++]!;
      const immediate = IMMEDIATES[opcode]!;
      cost += this.costs.plain[opcode]!;
      if (immediate === NO_IMMEDIATE) continue;
      if (immediate === LEB_IMMEDIATE) skipLeb(cursor);
      else if (immediate === F32_IMMEDIATE) cursor.position += 4;
      else if (immediate === F64_IMMEDIATE) cursor.position += 8;
      else if (immediate === MEMORY_IMMEDIATE) {
        // The index of a further memory would follow.
        if ((bytes[cursor.position]! & 0x40) !== 0) return NOT_A_LEAF;
        skipLeb(cursor);
        skipLeb(cursor);
      } else {
        const more = this.special(opcode);
        if (more === NOT_A_LEAF) return NOT_A_LEAF;
        cost += more;
      }
    }
    return cost <= leaf ? cost : NOT_A_LEAF;
  }

  /** What the instruction costs besides its plain price; skips what follows it. What is not named here ends the search. */
  private special(opcode: number): number {
    const { cursor } = this;
    switch (opcode) {
      case OP.unreachable:
      case OP.else:
      case OP.end:
      case OP.return:
        return 0;
      case OP.block:
      case OP.if:
        cursor.blockType();
        return 0;
      case OP.br:
      case OP.br_if:
      case OP.global_get:
      case OP.global_set:
        cursor.u32();
        return 0;
      case OP.br_table:
        for (let left = cursor.u32() + 1; left > 0; left--) cursor.u32();
        return 0;
      case OP.select_typed:
        for (let left = cursor.u32(); left > 0; left--) cursor.valueType();
        return 0;
      case OP.call: {
        const callee = cursor.u32() - this.module.importedFunctions;
        if (callee < 0) return NOT_A_LEAF;
        this.callees.push(callee);
        return this.costs.schedule.call;
      }
      case OP.bulk:
        // Saturating conversions come first.
        return cursor.u32() < BULK.memory_init ? this.costs.schedule.plain : NOT_A_LEAF;
      case OP.simd: {
        const second = cursor.u32();
        const immediate = second < FIRST_RELAXED_SIMD ? SIMD_IMMEDIATES[second]! : UNKNOWN;
        if (immediate === UNKNOWN) return NOT_A_LEAF;
        cursor.skipVectorImmediate(immediate);
        return this.costs.simd[second]!;
      }
      default:
        return NOT_A_LEAF;
    }
  }
}

/** The functions through which others enter: those that are exported and the start function, by place in the section. */
export function* functionEntries(module: CoreModule): Generator<number> {
  for (const { id, start, end } of module.sections) {
    const reader = new Reader(module.bytes, start, end);
    if (id === SECTION.start) yield reader.u32() - module.importedFunctions;
    if (id !== SECTION.export) continue;
    for (let left = reader.u32(); left > 0; left--) {
      reader.span();
      const kind = reader.byte();
      const index = reader.u32();
      if (kind === 0) yield index - module.importedFunctions;
    }
  }
}

function skipLeb(cursor: Cursor): void {
  while (cursor.bytes[cursor.position++]! >= 0x80);
}
