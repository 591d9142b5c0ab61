import { RunEnd } from "./run-end.ts";

const LINE_FEED = 0x0a;
const FIRST_BYTES = 1024;

/** Bytes that come in any pieces -> lines of text, without their ends. Holds one line at most, and that one bounded. */
export class LineSplitter {
  readonly #maxLineBytes: number;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  #held: Buffer = Buffer.alloc(0);
  #length = 0;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** The lines that these bytes complete. Throws a RunEnd for a line that is too long or is not UTF-8. */
  *push(bytes: Uint8Array): Generator<string, void, void> {
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
      yield this.#line(bytes.subarray(start, end));
      start = end + 1;
    }
    if (start < bytes.length) this.#hold(bytes.subarray(start));
  }

  /** What came after the last line's end. A character that was cut in two is replaced. */
  rest(): string {
    return new TextDecoder().decode(this.#held.subarray(0, this.#length));
  }

  #line(last: Uint8Array): string {
    let line = last;
    if (this.#length > 0) {
      this.#hold(last);
      line = this.#held.subarray(0, this.#length);
    } else {
      this.#check(last.length);
    }
    this.#length = 0;
    try {
      return this.#decoder.decode(line);
    } catch {
      throw RunEnd.failed("The server sent a line that is no UTF-8");
    }
  }

  /** Copies: a piece may be a small part of a large buffer, and pieces may be as small as one byte. */
  #hold(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    this.#check(length);
    if (length > this.#held.length) {
      const roomier = Buffer.alloc(Math.min(this.#maxLineBytes, Math.max(FIRST_BYTES, this.#held.length * 2, length)));
      this.#held.copy(roomier, 0, 0, this.#length);
      this.#held = roomier;
    }
    this.#held.set(bytes, this.#length);
    this.#length = length;
  }

  #check(length: number): void {
    if (length <= this.#maxLineBytes) return;
    throw RunEnd.failed(`The server sent a line of more than ${this.#maxLineBytes} bytes, which maxLineBytes allows`);
  }
}
