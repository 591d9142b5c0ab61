import { BULK, FIRST_RELAXED_SIMD } from "./opcodes.ts";

/**
 * Operands as far as a NaN is concerned: floats by shape, `any` of them, a `number` that is no NaN, and `none` for what
 * is no float or one of which every bit is the guest's own.
 */
export const FLOAT = { none: 0, f32: 1, f64: 2, f32x4: 3, f64x2: 4, any: 5, number: 6 } as const;

/** What instructions of one space of opcodes do to the operands. Those that are looked at one by one have no entry. */
export interface StackEffects {
  readonly pops: Uint8Array;
  readonly pushes: Uint8Array;
  /** The shape of the result where it may be a NaN of bits that the engine chooses; `FLOAT.number` where it is none. */
  readonly makes: Uint8Array;
  /** The shape of those operands of which the result depends on whether they are NaN and never on which. */
  readonly isBlindTo: Uint8Array;
}

type Range = readonly [first: number, last: number];

const PLAIN_SHAPES = {
  "0 1": [[0x20], [0x3f], [0x41, 0x44], [0xd0], [0xd2]],
  "1 0": [[0x1a], [0x21]],
  "1 1": [[0x22], [0x25], [0x28, 0x35], [0x40], [0xd1], [0xd4]],
  "2 0": [[0x26], [0x36, 0x3e]],
  "3 1": [[0x1b, 0x1c]],
} as const;

const UNARY: readonly (readonly number[])[] = [
  [0x45],
  [0x50],
  [0x67, 0x69],
  [0x79, 0x7b],
  [0x8b, 0x91],
  [0x99, 0x9f],
  [0xa7, 0xc4],
];

/** One-byte opcodes. */
export const PLAIN_EFFECTS: StackEffects = plainEffects();

/** Opcodes behind `OP.bulk`. */
export const BULK_EFFECTS: StackEffects = bulkEffects();

/** How many indices follow each opcode behind `OP.bulk`. */
export const BULK_INDICES = [0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1];

/** Opcodes behind `OP.simd`. */
export const SIMD_EFFECTS: StackEffects = simdEffects();

function plainEffects(): StackEffects {
  const effects = emptyEffects(256);
  setShape(effects, 2, 1, [0x46, 0xa6]);
  for (const range of UNARY) setShape(effects, 1, 1, range);
  for (const [shape, ranges] of Object.entries(PLAIN_SHAPES)) {
    const [pops, pushes] = shape.split(" ").map(Number) as [number, number];
    for (const range of ranges) setShape(effects, pops, pushes, range);
  }
  // A global is read and written like a local.
  setShape(effects, 0, 1, [0x23]);
  setShape(effects, 1, 0, [0x24]);
  const { makes, isBlindTo } = effects;
  // ceil floor trunc nearest sqrt add sub mul div min max; abs, neg and copysign are of bits.
  mark([makes, isBlindTo], FLOAT.f32, [0x8d, 0x97]);
  mark([makes, isBlindTo], FLOAT.f64, [0x9b, 0xa5]);
  // Comparisons and conversions to integers.
  for (const range of [
    [0x5b, 0x60],
    [0xa8, 0xa9],
    [0xae, 0xaf],
  ])
    mark([isBlindTo], FLOAT.f32, range);
  for (const range of [
    [0x61, 0x66],
    [0xaa, 0xab],
    [0xb0, 0xb1],
  ])
    mark([isBlindTo], FLOAT.f64, range);
  // Conversions from integers.
  for (const range of [
    [0xb2, 0xb5],
    [0xb7, 0xba],
  ])
    mark([makes], FLOAT.number, range);
  // f32.demote_f64 and f64.promote_f32.
  makes[0xb6] = FLOAT.f32;
  isBlindTo[0xb6] = FLOAT.f64;
  makes[0xbb] = FLOAT.f64;
  isBlindTo[0xbb] = FLOAT.f32;
  isBlindTo[0x1a] = FLOAT.any;
  return effects;
}

function bulkEffects(): StackEffects {
  const effects = emptyEffects(256);
  setShape(effects, 1, 1, [0, 7]);
  setShape(effects, 3, 0, [BULK.memory_init, BULK.table_fill]);
  for (const drop of [BULK.data_drop, BULK.elem_drop]) setShape(effects, 0, 0, [drop]);
  setShape(effects, 2, 1, [BULK.table_grow]);
  setShape(effects, 0, 1, [BULK.table_size]);
  for (const range of [
    [0, 1],
    [4, 5],
  ])
    mark([effects.isBlindTo], FLOAT.f32, range);
  for (const range of [
    [2, 3],
    [6, 7],
  ])
    mark([effects.isBlindTo], FLOAT.f64, range);
  return effects;
}

function simdEffects(): StackEffects {
  const effects = emptyEffects(FIRST_RELAXED_SIMD);
  const unary = [
    [0x00, 0x0a], [0x0f, 0x16], [0x18, 0x19], [0x1b], [0x1d], [0x1f], [0x21], [0x4d], [0x53], [0x5c, 0x64],
    [0x67, 0x6a], [0x74, 0x75], [0x7a], [0x7c, 0x81], [0x83, 0x84], [0x87, 0x8a], [0x94], [0xa0, 0xa4],
    [0xa7, 0xaa], [0xc0, 0xc4], [0xc7, 0xca], [0xe0, 0xe3], [0xec, 0xef], [0xf8, 0xff],
  ]; // biome-ignore format: a table
  setShape(effects, 2, 1, [0, 0xff]);
  for (const range of unary) setShape(effects, 1, 1, range);
  setShape(effects, 2, 0, [0x0b]);
  setShape(effects, 0, 1, [0x0c]);
  setShape(effects, 3, 1, [0x52]);
  setShape(effects, 2, 0, [0x58, 0x5b]);
  const { makes, isBlindTo } = effects;
  // Rounding, then sqrt, then add sub mul div min max; pmin and pmax give one of the operands as it is.
  for (const range of [[0x67, 0x6a], [0xe3], [0xe4, 0xe9]]) mark([makes, isBlindTo], FLOAT.f32x4, range);
  for (const range of [[0x74, 0x75], [0x7a], [0x94], [0xef], [0xf0, 0xf5]])
    mark([makes, isBlindTo], FLOAT.f64x2, range);
  for (const range of [
    [0x41, 0x46],
    [0xf8, 0xf9],
  ])
    mark([isBlindTo], FLOAT.f32x4, range);
  for (const range of [
    [0x47, 0x4c],
    [0xfc, 0xfd],
  ])
    mark([isBlindTo], FLOAT.f64x2, range);
  // f32x4.demote_f64x2_zero and f64x2.promote_low_f32x4.
  makes[0x5e] = FLOAT.f32x4;
  isBlindTo[0x5e] = FLOAT.f64x2;
  makes[0x5f] = FLOAT.f64x2;
  isBlindTo[0x5f] = FLOAT.f32x4;
  return effects;
}

function emptyEffects(size: number): StackEffects {
  const table = (): Uint8Array => new Uint8Array(size);
  return { pops: table(), pushes: table(), makes: table(), isBlindTo: table() };
}

function setShape({ pops, pushes }: StackEffects, popped: number, pushed: number, range: readonly number[]): void {
  mark([pops], popped, range);
  mark([pushes], pushed, range);
}

function mark(tables: readonly Uint8Array[], value: number, range: readonly number[]): void {
  const [first, last = first] = range as Range;
  for (const table of tables) table.fill(value, first, last + 1);
}
