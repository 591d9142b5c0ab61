import type { WriteStream } from "node:tty";
import { type Paint, paint } from "./paint.ts";

type Output = Pick<WriteStream, "write"> & Partial<Pick<WriteStream, "isTTY" | "columns">> & NodeJS.WritableStream;

const DEFAULT_WIDTH = 80;

/**
 * Where a command writes: answers to stdout, everything about the way there to stderr. On a terminal it keeps one live line at
 * the bottom of stderr. A reader that has gone (EPIPE) is no error: what is left is dropped.
 */
export class Terminal {
  /** Colours for `print`. */
  readonly outPaint: Paint;
  /** Colours for `note` and `live`. */
  readonly notePaint: Paint;
  /** Whether a live line is possible. */
  readonly isLive: boolean;
  readonly #out: Output;
  readonly #err: Output;
  readonly #gone = new Set<Output>();
  #live = "";

  constructor(out: Output, err: Output, environment: NodeJS.ProcessEnv) {
    const colours = (environment["NO_COLOR"] ?? "") === "" && environment["TERM"] !== "dumb";
    this.outPaint = paint(colours && out.isTTY === true);
    this.notePaint = paint(colours && err.isTTY === true);
    this.isLive = err.isTTY === true && environment["TERM"] !== "dumb";
    this.#out = out;
    this.#err = err;
    for (const stream of new Set([out, err])) {
      stream.on("error", () => this.#gone.add(stream));
    }
  }

  /** A line of the answer. */
  print(line = ""): void {
    this.#write(this.#out, line);
  }

  /** A line about the way there. */
  note(line: string): void {
    this.#write(this.#err, line);
  }

  /** Shows `text` at the bottom until the next call; the empty text takes it away. */
  live(text: string): void {
    if (!this.isLive || (text === "" && this.#live === "")) return;
    // A terminal that does not know its width says 0.
    const width = this.#err.columns || DEFAULT_WIDTH;
    this.#live = text.slice(0, Math.max(1, width - 1));
    this.#raw(this.#err, `\r\u001b[K${this.#live}`);
  }

  /** Resolves when everything was handed to the readers, or they have gone. */
  async flush(): Promise<void> {
    this.live("");
    for (const stream of [this.#out, this.#err]) {
      if (!this.#gone.has(stream)) await new Promise<void>((resolve) => stream.write("", () => resolve()));
    }
  }

  #write(stream: Output, line: string): void {
    if (this.#live !== "") this.#raw(this.#err, "\r\u001b[K");
    this.#raw(stream, `${line}\n`);
    if (this.#live !== "") this.#raw(this.#err, this.#live);
  }

  #raw(stream: Output, text: string): void {
    if (!this.#gone.has(stream)) stream.write(text);
  }
}
