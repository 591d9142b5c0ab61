import type { ChargePath } from "./charge-path.ts";
import type { Cursor } from "./cursor.ts";
import {
  F32_IMMEDIATE,
  IMMEDIATES,
  LEB_IMMEDIATE,
  MEMORY_IMMEDIATE,
  NAMES_MEMORY,
  NO_IMMEDIATE,
  SPECIAL,
} from "./opcodes.ts";

/**
 * Passes plain instructions and adds their prices (`plain`) to the path, up to `end`, to a place where a test is due or past
 * an opcode that is not plain, which it answers. Most instructions are plain and most of the scan is spent here: the loop
 * keeps its variables to itself, as nothing that it calls could change them.
 */
export function skipPlain(cursor: Cursor, path: ChargePath, plain: Int32Array, end: number): number | undefined {
  const { bytes } = cursor;
  const { due } = path;
  let { position } = cursor;
  let { pend } = path;
  let special: number | undefined;
  while (position < end) {
    const opcode = bytes[position++]!;
    const immediate = IMMEDIATES[opcode]!;
    if (immediate >= SPECIAL) {
      special = opcode;
      break;
    }
    pend += plain[opcode]!;
    if (immediate === LEB_IMMEDIATE) {
      while (bytes[position++]! >= 0x80);
    } else if (immediate === MEMORY_IMMEDIATE) {
      if ((bytes[position]! & NAMES_MEMORY) !== 0) while (bytes[position++]! >= 0x80);
      while (bytes[position++]! >= 0x80);
      while (bytes[position++]! >= 0x80);
    } else if (immediate !== NO_IMMEDIATE) {
      position += immediate === F32_IMMEDIATE ? 4 : 8;
    }
    if (pend > due) break;
  }
  path.pend = pend;
  cursor.position = position;
  return special;
}
