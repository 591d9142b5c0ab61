const encoder = new TextEncoder();

/** A growing buffer that writes Wasm's binary format. */
export class Writer {
  private buffer: Uint8Array;
  private used = 0;

  constructor(capacity = 256) {
    this.buffer = new Uint8Array(capacity);
  }

  get length(): number {
    return this.used;
  }

  /** The bytes so far, as a view that later writes may invalidate. */
  view(): Uint8Array {
    return this.buffer.subarray(0, this.used);
  }

  byte(value: number): this {
    this.reserve(1);
    this.buffer[this.used++] = value;
    return this;
  }

  bytes(values: ArrayLike<number>): this {
    this.reserve(values.length);
    this.buffer.set(values, this.used);
    this.used += values.length;
    return this;
  }

  /** The bytes of `source` from `start` up to `end`. */
  copy(source: Uint8Array, start: number, end: number): this {
    const length = end - start;
    this.reserve(length);
    const { buffer, used } = this;
    // Below some tens of bytes a loop beats the call into the engine and the view it needs.
    if (length > 48) buffer.set(source.subarray(start, end), used);
    else for (let index = 0; index < length; index++) buffer[used + index] = source[start + index]!;
    this.used = used + length;
    return this;
  }

  /** Starts over; the memory is kept. */
  clear(): this {
    this.used = 0;
    return this;
  }

  u32(value: number): this {
    this.reserve(5);
    let rest = value >>> 0;
    while (rest >= 0x80) {
      this.buffer[this.used++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.buffer[this.used++] = rest;
    return this;
  }

  /** Signed LEB128 of an integer that fits 32 bits. */
  s32(value: number): this {
    this.reserve(5);
    let rest = value | 0;
    while (rest < -64 || rest > 63) {
      this.buffer[this.used++] = (rest & 0x7f) | 0x80;
      rest >>= 7;
    }
    this.buffer[this.used++] = rest & 0x7f;
    return this;
  }

  /** Signed LEB128 of an integer that fits 53 bits. */
  signed(value: number): this {
    this.reserve(8);
    let rest = value;
    for (;;) {
      const low = ((rest % 128) + 128) % 128;
      rest = (rest - low) / 128;
      if ((rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0)) {
        this.buffer[this.used++] = low;
        return this;
      }
      this.buffer[this.used++] = low | 0x80;
    }
  }

  name(text: string): this {
    const encoded = encoder.encode(text);
    return this.u32(encoded.length).bytes(encoded);
  }

  /** One section: its id, its size, and what `content` writes. */
  section(id: number, content: (inner: Writer) => void): this {
    const inner = new Writer(1024);
    content(inner);
    return this.byte(id).u32(inner.length).bytes(inner.view());
  }

  private reserve(more: number): void {
    if (this.used + more <= this.buffer.length) return;
    const grown = new Uint8Array(Math.max(this.buffer.length * 2, this.used + more));
    grown.set(this.buffer.subarray(0, this.used));
    this.buffer = grown;
  }
}
