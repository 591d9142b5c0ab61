// What follows an instruction's opcode, for instructions that the scan treats alike.
export const NO_IMMEDIATE = 0;
/** One LEB128 of any size. */
export const LEB_IMMEDIATE = 1;
/** Alignment, the memory where the alignment says so, and offset. */
export const MEMORY_IMMEDIATE = 2;
/** Bit of an alignment: the index of a memory follows it. */
export const NAMES_MEMORY = 0x40;
/** Four bytes. */
export const F32_IMMEDIATE = 3;
/** Eight bytes. */
export const F64_IMMEDIATE = 4;
/** Instructions that the scan looks at one by one. */
export const SPECIAL = 5;
/** Not an instruction of the features that are metered. */
export const UNKNOWN = 6;

export const OP = {
  unreachable: 0x00,
  nop: 0x01,
  block: 0x02,
  loop: 0x03,
  if: 0x04,
  else: 0x05,
  try: 0x06,
  catch: 0x07,
  throw: 0x08,
  rethrow: 0x09,
  throw_ref: 0x0a,
  end: 0x0b,
  br: 0x0c,
  br_if: 0x0d,
  br_table: 0x0e,
  return: 0x0f,
  call: 0x10,
  call_indirect: 0x11,
  return_call: 0x12,
  return_call_indirect: 0x13,
  call_ref: 0x14,
  return_call_ref: 0x15,
  delegate: 0x18,
  catch_all: 0x19,
  drop: 0x1a,
  select: 0x1b,
  select_typed: 0x1c,
  try_table: 0x1f,
  local_get: 0x20,
  local_set: 0x21,
  local_tee: 0x22,
  global_get: 0x23,
  global_set: 0x24,
  table_get: 0x25,
  table_set: 0x26,
  memory_size: 0x3f,
  memory_grow: 0x40,
  i32_const: 0x41,
  i64_const: 0x42,
  f32_const: 0x43,
  f64_const: 0x44,
  i32_eq: 0x46,
  i64_eq: 0x51,
  i64_lt_s: 0x53,
  i64_lt_u: 0x54,
  i64_gt_s: 0x55,
  i64_le_s: 0x57,
  i32_add: 0x6a,
  i32_mul: 0x6c,
  i64_add: 0x7c,
  i64_sub: 0x7d,
  i64_mul: 0x7e,
  i64_extend_i32_u: 0xad,
  ref_null: 0xd0,
  ref_func: 0xd2,
  ref_as_non_null: 0xd4,
  br_on_null: 0xd5,
  br_on_non_null: 0xd6,
  bulk: 0xfc,
  simd: 0xfd,
} as const;

/** Second opcodes behind `OP.bulk`; those below `memory_init` are saturating conversions. */
export const BULK = {
  memory_init: 8,
  data_drop: 9,
  memory_copy: 10,
  memory_fill: 11,
  table_init: 12,
  elem_drop: 13,
  table_copy: 14,
  table_grow: 15,
  table_size: 16,
  table_fill: 17,
} as const;

/** First opcode of relaxed SIMD behind `OP.simd`. */
export const FIRST_RELAXED_SIMD = 0x100;

/** `v128.const` and `i8x16.shuffle` are followed by sixteen bytes. */
export const SIMD_SIXTEEN_BYTES = 7;
/** One byte. */
export const SIMD_LANE = 8;
/** Alignment, offset and one byte. */
export const SIMD_MEMORY_LANE = 9;

/** What follows each one-byte opcode. */
export const IMMEDIATES: Uint8Array = immediates();

/** What follows each opcode behind `OP.simd` below `FIRST_RELAXED_SIMD`; unassigned ones are `UNKNOWN`. */
export const SIMD_IMMEDIATES: Uint8Array = simdImmediates();

function immediates(): Uint8Array {
  const table = new Uint8Array(256).fill(UNKNOWN);
  table.fill(NO_IMMEDIATE, 0x45, 0xc5);
  table.fill(MEMORY_IMMEDIATE, 0x28, 0x3f);
  for (const opcode of [OP.nop, OP.drop, 0x1b, 0xd1, OP.ref_as_non_null]) table[opcode] = NO_IMMEDIATE;
  for (const opcode of [0x20, 0x21, 0x22, 0x25, 0x26, 0x3f, 0x41, 0x42, 0xd2]) table[opcode] = LEB_IMMEDIATE;
  table[OP.f32_const] = F32_IMMEDIATE;
  table[OP.f64_const] = F64_IMMEDIATE;
  const { unreachable, block, loop, if: if_, else: else_, end, br, br_if, br_table, return: return_ } = OP;
  for (const opcode of [unreachable, block, loop, if_, else_, end, br, br_if, br_table, return_])
    table[opcode] = SPECIAL;
  for (const opcode of [OP.call, OP.call_indirect, OP.return_call, OP.return_call_indirect]) table[opcode] = SPECIAL;
  for (const opcode of [OP.select_typed, OP.global_get, OP.global_set, OP.memory_grow]) table[opcode] = SPECIAL;
  for (const opcode of [OP.ref_null, OP.bulk, OP.simd, OP.br_on_null, OP.br_on_non_null]) table[opcode] = SPECIAL;
  for (const opcode of [OP.call_ref, OP.return_call_ref, OP.throw, OP.rethrow, OP.throw_ref]) table[opcode] = SPECIAL;
  for (const opcode of [OP.try, OP.catch, OP.catch_all, OP.delegate, OP.try_table]) table[opcode] = SPECIAL;
  return table;
}

function simdImmediates(): Uint8Array {
  const table = new Uint8Array(FIRST_RELAXED_SIMD).fill(NO_IMMEDIATE);
  table.fill(MEMORY_IMMEDIATE, 0, 12);
  table.fill(MEMORY_IMMEDIATE, 92, 94);
  table.fill(SIMD_SIXTEEN_BYTES, 12, 14);
  table.fill(SIMD_LANE, 21, 35);
  table.fill(SIMD_MEMORY_LANE, 84, 92);
  const unassigned = [0x9a, 0xa2, 0xa5, 0xa6, 0xaf, 0xb0, 0xb2, 0xb3, 0xb4, 0xbb, 0xc2, 0xc5, 0xc6, 0xcf, 0xd0];
  for (const opcode of [...unassigned, 0xd2, 0xd3, 0xd4, 0xe2, 0xee]) table[opcode] = UNKNOWN;
  return table;
}
