/** Opcodes of instructions with the same operands, results and immediates, by first and last. */
const ALIKE: readonly (readonly (readonly [first: number, last: number])[])[] = [
  // i32: of two, comparing, of one; then i64.
  [[0x6a, 0x78]],
  [[0x46, 0x4f]],
  [
    [0x45, 0x45],
    [0x67, 0x69],
    [0xc0, 0xc1],
  ],
  [[0x7c, 0x8a]],
  [[0x51, 0x5a]],
  [
    [0x79, 0x7b],
    [0xc2, 0xc4],
  ],
  // f32: comparing, of one, of two; then f64.
  [[0x5b, 0x60]],
  [[0x8b, 0x91]],
  [[0x92, 0x98]],
  [[0x61, 0x66]],
  [[0x99, 0x9f]],
  [[0xa0, 0xa6]],
  // Loads of i32 and i64, stores of i32 and i64. What the alignment forbids does not validate.
  [
    [0x28, 0x28],
    [0x2c, 0x2f],
  ],
  [
    [0x29, 0x29],
    [0x30, 0x35],
  ],
  [
    [0x36, 0x36],
    [0x3a, 0x3b],
  ],
  [
    [0x37, 0x37],
    [0x3c, 0x3e],
  ],
];

const GROUPS = ALIKE.map((ranges) =>
  ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, index) => first + index)),
);

/** The opcodes that may stand where `opcode` does, it included; undefined when it has none like it. */
export function alikeOpcodes(opcode: number): readonly number[] | undefined {
  return GROUPS.find((group) => group.includes(opcode));
}
