import { printable } from "./printable.ts";
import type { Terminal } from "./terminal.ts";
import { shownMs } from "./units.ts";

/** A step shorter than this is not worth a line, nor a time. */
const PATIENCE_MS = 1_000;
const REFRESH_MS = 100;
const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/**
 * Says what takes time. On a terminal a live line with the time so far; elsewhere one line for each step that is not through
 * after a while. Holds no process alive.
 */
export class Progress {
  readonly #terminal: Terminal;
  readonly #patienceMs: number;
  #text = "";
  #since = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `patienceMs`: how long a step may take before it has a line where there is no live one. */
  constructor(terminal: Terminal, patienceMs = PATIENCE_MS) {
    this.#terminal = terminal;
    this.#patienceMs = patienceMs;
  }

  /** The next step begins; the one before is through. */
  step(text: string): void {
    this.end();
    this.#text = printable(text);
    this.#since = performance.now();
    if (this.#terminal.isLive) {
      this.#timer = setInterval(() => this.#draw(), REFRESH_MS);
    } else {
      this.#timer = setTimeout(() => this.#terminal.note(`${this.#text} …`), this.#patienceMs);
    }
    this.#timer.unref();
  }

  /** Milliseconds of the step that is under way. */
  get stepMs(): number {
    return performance.now() - this.#since;
  }

  /** The last step is through. */
  end(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#terminal.live("");
  }

  #draw(): void {
    const ms = this.stepMs;
    const frame = FRAMES[Math.floor(ms / REFRESH_MS) % FRAMES.length];
    const time = ms < PATIENCE_MS ? "" : ` ${shownMs(ms)}`;
    this.#terminal.live(`${frame} ${this.#text}${time}`);
  }
}
