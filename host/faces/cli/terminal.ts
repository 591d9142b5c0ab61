import type { WriteStream } from "node:tty";
import { type Paint, paint } from "./paint.ts";
import { printableText } from "./printable.ts";

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
  /** Whether streamed text stands in the last line of stdout. */
  #open = false;
  /** The first half of a character whose second is still to come. */
  #half = "";

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
    this.#endStreamed();
    this.#write(this.#out, line);
  }

  /** A piece of the answer that others follow, made safe to show. There must be no live line; the next line begins on its own. */
  stream(text: string): void {
    const whole = this.#half + text;
    const last = whole.charCodeAt(whole.length - 1);
    this.#half = last >= 0xd800 && last <= 0xdbff ? whole.slice(-1) : "";
    this.#streamed(whole.slice(0, whole.length - this.#half.length));
  }

  /** A line about the way there. */
  note(line: string): void {
    // Where both are one terminal the line would follow on the text.
    if (this.#out.isTTY === true && this.#err.isTTY === true) this.#endStreamed();
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

  #streamed(text: string): void {
    if (text === "") return;
    this.#raw(this.#out, printableText(text));
    this.#open = !text.endsWith("\n");
  }

  #endStreamed(): void {
    this.#streamed(this.#half);
    this.#half = "";
    if (this.#open) this.#raw(this.#out, "\n");
    this.#open = false;
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
