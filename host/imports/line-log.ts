import { BYTES_PER_LINE } from "./budget.ts";
import { PRICES } from "./prices.ts";
import type { ImportScope } from "./scope.ts";
import type { ByteSink } from "./wasi-streams.ts";

const LONGEST_LINE = 4_096;
const LINE_BREAK = 0x0a;

/** Turns what a guest writes to its standard output or error into lines of the run's log, under `logBytes`. */
export class LineLog implements ByteSink {
  readonly #scope: ImportScope;
  readonly #level: "info" | "error";
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #line = "";
  #willEnd = false;

  constructor(scope: ImportScope, level: "info" | "error") {
    this.#scope = scope;
    this.#level = level;
  }

  /** A write that does not fit in `logBytes` is dropped whole, and counted. It never fails. */
  write(bytes: Uint8Array): void {
    const { counters, limits } = this.#scope;
    const size = bytes.byteLength + lineBreaks(bytes) * BYTES_PER_LINE;
    if (counters.logBytes + size > limits.logBytes) {
      counters.logDropped += size;
      return;
    }
    counters.logBytes += size;
    this.#scope.charge(bytes.byteLength * PRICES.byte);
    if (!this.#willEnd) {
      this.#willEnd = true;
      this.#scope.atEnd(() => this.#end());
    }
    const [rest, ...lines] = this.#decoder.decode(bytes, { stream: true }).split("\n");
    this.#line += rest;
    for (const line of lines) {
      this.#scope.charge(PRICES.local);
      this.#send();
      this.#line = line;
    }
    if (this.#line.length > LONGEST_LINE) this.#send();
  }

  /** Programs write a line in pieces, so what has no line break yet waits for the rest, at the latest for the end. */
  #end(): void {
    this.#line += this.#decoder.decode();
    if (this.#line !== "") this.#send();
  }

  #send(): void {
    this.#scope.log(this.#level, this.#line);
    this.#line = "";
  }
}

function lineBreaks(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_BREAK); at !== -1; at = bytes.indexOf(LINE_BREAK, at + 1)) count++;
  return count;
}
