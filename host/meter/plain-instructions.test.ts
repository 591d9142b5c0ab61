import { expect, test } from "vitest";
import { ChargePath } from "./charge-path.ts";
import { Cursor } from "./cursor.ts";
import { skipPlain } from "./plain-instructions.ts";
import { Points } from "./points.ts";

const END = 0x0b;
const PRICES = new Int32Array(256).fill(3);

function pathAt(pend: number, bytes: readonly number[]): [Cursor, ChargePath] {
  const path = new ChargePath(new Points(16), 4);
  path.enter(pend, false);
  return [new Cursor(Uint8Array.from(bytes)), path];
}

test.each([
  ["without immediate", [0x6a]],
  ["i32.const", [0x41, 0x0b]],
  ["i32.const of three bytes", [0x41, 0x8b, 0x8b, 0x0b]],
  ["f32.const", [0x43, 0x80, 0x80, 0x80, 0x80]],
  ["f64.const", [0x44, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80]],
  ["i32.load", [0x28, 0x02, 0x0b]],
  ["i32.load of a far offset", [0x28, 0x02, 0x8b, 0x0b]],
  ["i32.load with an alignment that is longer than it must be", [0x28, 0x82, 0x80, 0x00, 0x8b, 0x0b]],
  ["i32.load of another memory", [0x28, 0x42, 0x0b, 0x0b]],
  ["i32.load of another memory, each number longer than it must be", [0x28, 0xc2, 0x00, 0x8b, 0x00, 0x8b, 0x00]],
])("skipPlain() ends behind an instruction with its immediates: %s", (_, instruction) => {
  const bytes = [...instruction, 0x1a, END];
  const [cursor, path] = pathAt(0, bytes);
  expect(skipPlain(cursor, path, PRICES, bytes.length)).toBe(END);
  expect([cursor.position, path.pend]).toEqual([bytes.length, 6]);
});

test("skipPlain() stops where a test is due, and at the end", () => {
  const bytes = [0x6a, 0x6a, 0x6a];
  const [cursor, path] = pathAt(0, bytes);
  path.due = 5;
  expect(skipPlain(cursor, path, PRICES, bytes.length)).toBeUndefined();
  expect([cursor.position, path.pend]).toEqual([2, 6]);
  path.due = 100;
  expect(skipPlain(cursor, path, PRICES, bytes.length)).toBeUndefined();
  expect([cursor.position, path.pend]).toEqual([3, 9]);
});
