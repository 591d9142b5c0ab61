import { FIRST_RELAXED_SIMD, OP } from "./opcodes.ts";
import type { Schedule } from "./schedule.ts";

/** A schedule unfolded into one price for each opcode. Prices that depend on an operand are charged by injected functions. */
export interface Costs {
  readonly schedule: Schedule;
  /** By one-byte opcode; 0 for calls, throws, growth and the two prefixes, which the scan prices itself. */
  readonly plain: Int32Array;
  /** By opcode behind the SIMD prefix. */
  readonly simd: Int32Array;
}

export function unfoldCosts(schedule: Schedule): Costs {
  const plain = new Int32Array(256).fill(schedule.plain);
  const { unreachable, nop, block, loop, else: else_, end, drop } = OP;
  for (const opcode of [unreachable, nop, block, loop, else_, end, drop]) plain[opcode] = schedule.structural;
  for (const opcode of [OP.try, OP.catch, OP.catch_all, OP.delegate, OP.try_table]) plain[opcode] = schedule.structural;
  for (const opcode of [OP.call, OP.call_indirect, OP.return_call, OP.return_call_indirect]) plain[opcode] = 0;
  for (const opcode of [OP.call_ref, OP.return_call_ref, OP.throw, OP.rethrow, OP.throw_ref]) plain[opcode] = 0;
  for (const opcode of [OP.memory_grow, OP.bulk, OP.simd]) plain[opcode] = 0;
  plain.fill(schedule.access, 0x28, 0x3f);
  plain[OP.table_get] = schedule.access;
  plain[OP.table_set] = schedule.tableSet;
  for (const opcode of DIVISIONS) plain[opcode] = schedule.division;

  const simd = new Int32Array(FIRST_RELAXED_SIMD).fill(schedule.plain);
  simd.fill(schedule.access, 0, 12);
  simd.fill(schedule.access, 84, 94);
  for (const opcode of F32X4_DIVISIONS) simd[opcode] = schedule.division * 4;
  for (const opcode of F64X2_DIVISIONS) simd[opcode] = schedule.division * 2;
  return { schedule, plain, simd };
}

/** i32 and i64 div and rem, signed and unsigned; f32 and f64 sqrt and div. */
const DIVISIONS = [0x6d, 0x6e, 0x6f, 0x70, 0x7f, 0x80, 0x81, 0x82, 0x91, 0x95, 0x9f, 0xa3];

/** sqrt and div. */
const F32X4_DIVISIONS = [0xe3, 0xe7];
const F64X2_DIVISIONS = [0xef, 0xf3];
