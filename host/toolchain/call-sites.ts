import { Reader } from "../binary/binary.ts";

/** The index of a called function: `start` and `end` delimit its bytes in the body. */
export interface CallSite {
  readonly start: number;
  readonly end: number;
  readonly target: number;
}

/**
 * Every direct call in a function body (locals first, as in the code section). Knows what LLVM emits for WASI by
 * default: no SIMD, no atomics, no exceptions. Throws for an opcode that it does not know, for it could not tell its
 * length.
 */
export function* callSites(body: Uint8Array): Generator<CallSite> {
  const reader = new Reader(body);
  for (let rest = reader.u32(); rest > 0; rest--) {
    reader.u32();
    reader.byte();
  }
  while (!reader.atEnd) {
    const opcode = reader.byte();
    if (opcode === 0x10 || opcode === 0x12) {
      const start = reader.position;
      const target = reader.u32();
      yield { start, end: reader.position, target };
    } else {
      skipImmediates(reader, opcode);
    }
  }
}

function skipImmediates(reader: Reader, opcode: number): void {
  switch (opcode) {
    case 0x1c: // select with types
      reader.skip(reader.u32());
      break;
    case 0x43: // f32.const
      reader.skip(4);
      break;
    case 0x44: // f64.const
      reader.skip(8);
      break;
    case 0x0e: // br_table
      skipNumbers(reader, reader.u32() + 1);
      break;
    case 0xfc:
      skipNumbers(reader, prefixedImmediates(reader, reader.u32()));
      break;
    default:
      skipNumbers(reader, immediates(reader, opcode));
  }
}

/** How many numbers follow an opcode. */
function immediates(reader: Reader, opcode: number): number {
  if (opcode >= 0x45 && opcode <= 0xc4) return 0; // arithmetic
  if (opcode >= 0x20 && opcode <= 0x26) return 1; // locals, globals, table.get, table.set
  if (opcode >= 0x28 && opcode <= 0x3e) return 2; // loads and stores
  if ([0x00, 0x01, 0x05, 0x0b, 0x0f, 0x1a, 0x1b, 0xd1].includes(opcode)) return 0; // nop, end, drop and the like
  if ([0x02, 0x03, 0x04, 0x0c, 0x0d, 0x3f, 0x40, 0x41, 0x42, 0xd0, 0xd2].includes(opcode)) return 1; // blocks, consts
  if (opcode === 0x11 || opcode === 0x13) return 2; // indirect calls
  return reader.fail(`Unknown opcode 0x${opcode.toString(16)}`);
}

/** How many numbers follow an opcode with the prefix 0xfc. */
function prefixedImmediates(reader: Reader, opcode: number): number {
  if (opcode <= 7) return 0; // saturating truncation
  if (opcode === 8 || opcode === 10 || opcode === 12 || opcode === 14) return 2; // init and copy
  if (opcode <= 17) return 1; // drop, fill, table.grow, table.size
  return reader.fail(`Unknown opcode 0xfc ${opcode}`);
}

/** LEB128 of any length: only where they end matters. */
function skipNumbers(reader: Reader, count: number): void {
  for (let rest = count; rest > 0; rest--) {
    while (reader.byte() >= 0x80);
  }
}
