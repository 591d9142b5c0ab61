import type { ChargePath } from "./charge-path.ts";
import type { Cursor } from "./cursor.ts";
import {
  F32_IMMEDIATE,
  F64_IMMEDIATE,
  IMMEDIATES,
  LEB_IMMEDIATE,
  MEMORY_IMMEDIATE,
  NAMES_MEMORY,
  NO_IMMEDIATE,
  OP,
} from "./opcodes.ts";

/** Lengths of what follows an opcode when each LEB128 in it is one byte long, as most are. */
const LEB = 1;
const MEMORY = 2;
const NOT_PLAIN = 255;
const LENGTHS = IMMEDIATES.map(lengthOf);
// Plain to meter, but the scan notes that there is one.
LENGTHS[OP.table_set] = NOT_PLAIN;

/**
 * Passes plain instructions and adds their prices (`plain`) to the path, up to `end`, to a place where a test is due or past
 * an opcode that is not plain, which it answers. Most instructions are plain and most of the scan is spent here: the loop
 * keeps its variables to itself, as nothing that it calls could change them, and branches little.
 */
export function skipPlain(cursor: Cursor, path: ChargePath, plain: Int32Array, end: number): number | undefined {
  const { bytes } = cursor;
  const { due } = path;
  let { position } = cursor;
  let { pend } = path;
  let special: number | undefined;
  while (position < end) {
    const opcode = bytes[position++]!;
    const length = LENGTHS[opcode]!;
    if (length === NOT_PLAIN) {
      special = opcode;
      break;
    }
    pend += plain[opcode]!;
    if (length === MEMORY && bytes[position]! >= NAMES_MEMORY) {
      if ((bytes[position]! & NAMES_MEMORY) !== 0) while (bytes[position++]! >= 0x80);
      while (bytes[position++]! >= 0x80);
      while (bytes[position++]! >= 0x80);
    } else {
      position += length;
      // A LEB128 that goes on.
      if (bytes[position - 1]! >= 0x80 && (length === LEB || length === MEMORY)) while (bytes[position++]! >= 0x80);
    }
    if (pend > due) break;
  }
  path.pend = pend;
  cursor.position = position;
  return special;
}

function lengthOf(immediate: number): number {
  switch (immediate) {
    case NO_IMMEDIATE:
      return 0;
    case LEB_IMMEDIATE:
      return LEB;
    case MEMORY_IMMEDIATE:
      return MEMORY;
    case F32_IMMEDIATE:
      return 4;
    case F64_IMMEDIATE:
      return 8;
    default:
      return NOT_PLAIN;
  }
}
