import { expect, test } from "vitest";
import { Writer } from "../binary/binary.ts";
import { BULK_EFFECTS, PLAIN_EFFECTS, SIMD_EFFECTS, type StackEffects } from "./stack-effects.ts";
import { wasm } from "./testing/engine.ts";

/** What pushes a value of each type. */
const PUSHES: readonly (readonly number[])[] = [
  [0x41, 0],
  [0x42, 0],
  [0x43, 0, 0, 0, 0],
  [0x44, 0, 0, 0, 0, 0, 0, 0, 0],
  [0xfd, 0x0c, ...new Array<number>(16).fill(0)],
  [0xd0, 0x70],
];

/** Shorter ones first: a zero too many is `unreachable`, behind which anything is valid. */
const IMMEDIATES: readonly (readonly number[])[] = [
  [],
  [0],
  [1],
  [0, 0],
  [0, 0, 0],
  [0x70],
  [1, 0x7f],
  [0, 0, 0, 0],
  [0, 0, 0, 0, 0, 0, 0, 0],
  new Array<number>(16).fill(0),
];

/** Control instructions, which are followed one by one; `ref.func` and what only newer engines have are left out too. */
const PLAIN_OPCODES = Array.from({ length: 0xd2 }, (_, opcode) => opcode).filter((opcode) => opcode >= 0x1a);

test.each<readonly [string, StackEffects, readonly (readonly number[])[]]>([
  ["of one byte", PLAIN_EFFECTS, PLAIN_OPCODES.map((opcode) => [opcode])],
  ["of bulk operations", BULK_EFFECTS, Array.from({ length: 18 }, (_, opcode) => [0xfc, opcode])],
  ["of vectors", SIMD_EFFECTS, Array.from({ length: 256 }, (_, opcode) => [0xfd, ...new Writer().u32(opcode).view()])],
])("what each instruction %s takes and gives is what the engine says", (_, { pops, pushes }, heads) => {
  let known = 0;
  for (const [index, head] of heads.entries()) {
    const opcode = head.length === 1 ? head[0]! : index;
    const effect = effectOf(head);
    if (effect === undefined) continue;
    known++;
    expect([opcode.toString(16), pops[opcode], pushes[opcode]]).toEqual([opcode.toString(16), ...effect]);
  }
  expect(known).toBeGreaterThan(heads.length * 0.8);
});

/** The least number of operands with which the engine takes the instruction, and the number of its results. */
function effectOf(head: readonly number[]): readonly [pops: number, pushes: number] | undefined {
  for (let pops = 0; pops <= 3; pops++) {
    for (const operands of choices(pops)) {
      for (const immediate of IMMEDIATES) {
        for (const pushes of [0, 1]) {
          const drops = new Array<number>(pushes).fill(0x1a);
          // Each `nop` keeps a drop from being read as an immediate.
          const body = [...operands.flat(), ...head, ...immediate, 0x01, 0x01, ...drops];
          if (wasm.validate(moduleOf(body))) return [pops, pushes];
        }
      }
    }
  }
  return undefined;
}

function choices(count: number): (readonly number[])[][] {
  if (count === 0) return [[]];
  return choices(count - 1).flatMap((rest) => PUSHES.map((push) => [...rest, push]));
}

/** A module of one function with one local of type i32, and one of everything else. */
function moduleOf(body: readonly number[]): Uint8Array {
  return new Writer()
    .bytes([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])
    .bytes([1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0])
    .bytes([4, 4, 1, 0x70, 0, 1])
    .bytes([5, 3, 1, 0, 1])
    .bytes([6, 6, 1, 0x7f, 1, 0x41, 0, 0x0b])
    .bytes([9, 5, 1, 1, 0, 1, 0, 12, 1, 1])
    .section(10, (inner) => {
      inner
        .u32(1)
        .u32(body.length + 4)
        .bytes([1, 1, 0x7f])
        .bytes(body)
        .byte(0x0b);
    })
    .bytes([11, 3, 1, 1, 0])
    .view()
    .slice();
}
