import { Reader, type Section } from "../binary/binary.ts";
import type { Findings } from "./findings.ts";

/**
 * The sections after the preamble, one at a time, each paid for: a file can hold as many empty ones as it has bytes for,
 * and a list of them would not fit into memory.
 */
export function* sectionsOf(bytes: Uint8Array, start: number, end: number, findings: Findings): Generator<Section> {
  const reader = new Reader(bytes, start + 8, end);
  while (!reader.atEnd) {
    findings.spend(reader);
    const header = reader.position;
    const id = reader.byte();
    const size = reader.u32();
    const from = reader.position;
    if (size > end - from) reader.fail(`Section ${id} of ${size} bytes is longer than what follows`, header);
    reader.position = from + size;
    yield { id, header, start: from, end: from + size };
  }
}

/** A section must end where its size says, or this decoder and the transpiler's may read different names. */
export function expectEnd(reader: Reader, section: Section): void {
  if (!reader.atEnd) reader.fail(`Section ${section.id} is longer than its content`);
}
