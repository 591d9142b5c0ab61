import type { BenchProgress } from "../../index.ts";
import { printable } from "./printable.ts";
import type { Terminal } from "./terminal.ts";
import { shownMs } from "./units.ts";

const BAR_WIDTH = 24;
/** Where there is no live line, how long nothing is said. */
const PATIENCE_MS = 10_000;

/** How far a bench is: a bar on a terminal, elsewhere a line now and then. */
export class BenchProgressBar {
  readonly #terminal: Terminal;
  readonly #startedAt = performance.now();
  #saidAt = performance.now();

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  show({ done, total, text }: BenchProgress): void {
    const now = performance.now();
    const share = total === 0 ? 1 : done / total;
    const leftMs = done === 0 ? null : ((now - this.#startedAt) / done) * (total - done);
    const left = leftMs === null || done === total ? "" : `  ${shownMs(Math.ceil(leftMs / 1_000) * 1_000)} left`;
    const percent = `${Math.floor(share * 100)} %`;
    const shown = printable(text);
    if (this.#terminal.isLive) this.#terminal.live(`${barOf(share)} ${percent.padStart(5)}  ${shown}${left}`);
    else if (done < total && now - this.#saidAt >= PATIENCE_MS) {
      this.#saidAt = now;
      this.#terminal.note(`${percent}  ${shown}${left}`);
    }
  }

  end(): void {
    this.#terminal.live("");
  }
}

function barOf(share: number): string {
  const full = Math.round(share * BAR_WIDTH);
  return "█".repeat(full) + "░".repeat(BAR_WIDTH - full);
}
