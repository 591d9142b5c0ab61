/** Bytes that are not what the format says. `offset` counts from the start of the whole buffer. */
export class MalformedWasm extends Error {
  readonly offset: number;

  constructor(what: string, offset: number) {
    super(`${what} at offset ${offset}`);
    this.name = "MalformedWasm";
    this.offset = offset;
  }
}

/** One section of a core module or a component; `start` and `end` delimit its content, `header` is where its id stands. */
export interface Section {
  readonly id: number;
  readonly header: number;
  readonly start: number;
  readonly end: number;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A cursor over a range of bytes that never leaves it. */
export class Reader {
  readonly bytes: Uint8Array;
  readonly end: number;
  position: number;

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.bytes = bytes;
    this.position = start;
    this.end = end;
  }

  get atEnd(): boolean {
    return this.position >= this.end;
  }

  fail(what: string, offset = this.position): never {
    throw new MalformedWasm(what, offset);
  }

  byte(): number {
    if (this.position >= this.end) this.fail("Unexpected end");
    return this.bytes[this.position++]!;
  }

  /** Unsigned LEB128 of at most 32 bits. */
  u32(): number {
    const start = this.position;
    let result = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      // The fifth byte holds four bits; a set continuation bit or more bits would be over-long.
      if (shift === 28 && byte > 0x0f) this.fail("Over-long u32", start);
      result += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return result;
    }
  }

  /** Signed LEB128 of at most 33 bits, as block types and component value types use. */
  s33(): number {
    const start = this.position;
    let result = 0;
    for (let shift = 0; ; shift += 7) {
      if (shift > 28) this.fail("Over-long s33", start);
      const byte = this.byte();
      result += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return byte & 0x40 ? result - 2 ** (shift + 7) : result;
    }
  }

  /** A count of items of at least `itemBytes` bytes each: refused at once when the range cannot hold that many. */
  count(itemBytes = 1): number {
    const start = this.position;
    const count = this.u32();
    if (count * itemBytes > this.end - this.position) this.fail(`Count ${count} larger than what follows`, start);
    return count;
  }

  /** A length-prefixed range of bytes, as a view. */
  span(): Uint8Array {
    const length = this.count();
    const from = this.position;
    this.position += length;
    return this.bytes.subarray(from, this.position);
  }

  /** A length-prefixed UTF-8 name; bytes that are not UTF-8 are an error, a byte order mark is kept. */
  name(): string {
    const start = this.position;
    const span = this.span();
    try {
      return utf8.decode(span);
    } catch {
      this.fail("Name that is not UTF-8", start);
    }
  }

  skip(count: number): void {
    if (count > this.end - this.position) this.fail("Unexpected end");
    this.position += count;
  }
}

/** The sections that follow the eight-byte preamble, in their order. Checks sizes, not contents. */
export function splitSections(bytes: Uint8Array, start = 8, end = bytes.length): Section[] {
  const reader = new Reader(bytes, start, end);
  const sections: Section[] = [];
  while (!reader.atEnd) {
    const header = reader.position;
    const id = reader.byte();
    const size = reader.u32();
    const from = reader.position;
    if (size > end - from) reader.fail(`Section ${id} of ${size} bytes is longer than what follows`, header);
    reader.position = from + size;
    sections.push({ id, header, start: from, end: from + size });
  }
  return sections;
}
