import { Cursor } from "./cursor.ts";
import type { CoreModule } from "./module.ts";
import {
  F32_IMMEDIATE,
  F64_IMMEDIATE,
  FIRST_RELAXED_SIMD,
  IMMEDIATES,
  LEB_IMMEDIATE,
  MEMORY_IMMEDIATE,
  NAMES_MEMORY,
  NO_IMMEDIATE,
  OP,
  SIMD_IMMEDIATES,
  UNKNOWN,
} from "./opcodes.ts";
import { unsupportedInstruction } from "./refusal.ts";

/** An instruction of a body. */
export interface PlacedInstruction {
  /** Where its opcode stands, and where its immediates end. */
  readonly at: number;
  readonly end: number;
  readonly opcode: number;
  /** The opcode behind a prefix; else the first index, depth or count that follows; else 0. */
  readonly operand: number;
  /** How many bodies of a `try` or `try_table` stand around it. */
  readonly tries: number;
}

/**
 * The instructions of the body at `index` of the code section, one object each: for what looks at few bodies, or need not be
 * fast (`BodyScan` is). The module is one that `WebAssembly.validate` accepted.
 */
export function* instructionsOf(module: CoreModule, index: number): Generator<PlacedInstruction> {
  const cursor = new Cursor(module.bytes);
  cursor.position = module.bodies.code[index]!;
  const bodyEnd = module.bodies.ends[index]!;
  const labels: boolean[] = [];
  let tries = 0;
  while (cursor.position < bodyEnd) {
    const at = cursor.position;
    const opcode = cursor.byte();
    const operand = skipImmediates(cursor, opcode, at);
    yield { at, end: cursor.position, opcode, operand, tries };
    if (ENDS.has(opcode) && labels.pop()) tries--;
    if (OPENS.has(opcode)) labels.push(opcode === OP.try || opcode === OP.try_table);
    else if (opcode === OP.catch || opcode === OP.catch_all) labels.push(false);
    if (OPENS.has(opcode) && labels.at(-1)) tries++;
  }
}

const OPENS: ReadonlySet<number> = new Set([OP.block, OP.loop, OP.if, OP.try, OP.try_table]);
/** What ends a label, or the body of a `try`. */
const ENDS: ReadonlySet<number> = new Set([OP.end, OP.delegate, OP.catch, OP.catch_all]);

function skipImmediates(cursor: Cursor, opcode: number, at: number): number {
  switch (IMMEDIATES[opcode]) {
    case NO_IMMEDIATE:
      return 0;
    case LEB_IMMEDIATE:
      return cursor.u32();
    case MEMORY_IMMEDIATE:
      if ((cursor.u32() & NAMES_MEMORY) !== 0) cursor.u32();
      cursor.skipLeb();
      return 0;
    case F32_IMMEDIATE:
      cursor.position += 4;
      return 0;
    case F64_IMMEDIATE:
      cursor.position += 8;
      return 0;
    default:
      return skipSpecial(cursor, opcode, at);
  }
}

function skipSpecial(cursor: Cursor, opcode: number, at: number): number {
  switch (opcode) {
    case OP.unreachable:
    case OP.else:
    case OP.end:
    case OP.return:
    case OP.catch_all:
    case OP.throw_ref:
      return 0;
    case OP.block:
    case OP.loop:
    case OP.if:
    case OP.try:
      cursor.blockType();
      return 0;
    case OP.br:
    case OP.br_if:
    case OP.br_on_null:
    case OP.br_on_non_null:
    case OP.call:
    case OP.return_call:
    case OP.call_ref:
    case OP.return_call_ref:
    case OP.global_get:
    case OP.global_set:
    case OP.memory_grow:
    case OP.catch:
    case OP.delegate:
    case OP.throw:
    case OP.rethrow:
      return cursor.u32();
    case OP.call_indirect:
    case OP.return_call_indirect: {
      const type = cursor.u32();
      cursor.u32();
      return type;
    }
    case OP.br_table: {
      const count = cursor.u32();
      for (let left = count + 1; left > 0; left--) cursor.u32();
      return count;
    }
    case OP.select_typed: {
      const count = cursor.u32();
      for (let left = count; left > 0; left--) cursor.valueType();
      return count;
    }
    case OP.ref_null:
      cursor.heapType();
      return 0;
    case OP.try_table:
      return skipTryTable(cursor);
    case OP.bulk:
      return skipBulk(cursor, at);
    case OP.simd: {
      const second = cursor.u32();
      const immediate = second < FIRST_RELAXED_SIMD ? SIMD_IMMEDIATES[second]! : UNKNOWN;
      if (immediate === UNKNOWN) throw unsupportedInstruction(at, opcode, second);
      cursor.skipVectorImmediate(immediate);
      return second;
    }
    default:
      throw unsupportedInstruction(at, opcode, undefined);
  }
}

/** Clauses of the first two kinds name a tag. */
function skipTryTable(cursor: Cursor): number {
  cursor.blockType();
  const count = cursor.u32();
  for (let left = count; left > 0; left--) {
    if (cursor.byte() < 2) cursor.u32();
    cursor.u32();
  }
  return count;
}

/** How many indices follow each opcode behind `OP.bulk` from `BULK.memory_init` on. */
const BULK_INDICES = [2, 1, 2, 1, 2, 1, 2, 1, 1, 1];
const SATURATING_CONVERSIONS = 8;

function skipBulk(cursor: Cursor, at: number): number {
  const second = cursor.u32();
  if (second < SATURATING_CONVERSIONS) return second;
  const indices = BULK_INDICES[second - SATURATING_CONVERSIONS];
  if (indices === undefined) throw unsupportedInstruction(at, OP.bulk, second);
  for (let left = indices; left > 0; left--) cursor.u32();
  return second;
}
