import { HostError } from "../errors/errors.ts";
import type { EntryPoint } from "./entry-point.ts";
import { type ProcessBounds, ThrowAwayProcess } from "./throw-away-process.ts";

/** The throw-away processes that are there: those at work, and one that may have been started ahead. */
export class Processes {
  readonly #entry: EntryPoint;
  readonly #bounds: ProcessBounds;
  readonly #spares: number;
  readonly #busy = new Set<ThrowAwayProcess>();
  #spare: ThrowAwayProcess | null = null;
  #closed = false;

  constructor(entry: EntryPoint, bounds: ProcessBounds, spares: number) {
    this.#entry = entry;
    this.#bounds = bounds;
    this.#spares = spares;
  }

  /** Throws AIRLOCK_HOST_CLOSED. */
  checkOpen(): void {
    if (this.#closed) throw new HostError("AIRLOCK_HOST_CLOSED", "Cannot compile: the host is closed");
  }

  /** The spare, or a new process; another spare is started as soon as this one is up. */
  take(): ThrowAwayProcess {
    this.checkOpen();
    const taken = this.#spare?.alive ? this.#spare : this.#start();
    this.#spare = null;
    this.#busy.add(taken);
    // Two starts at once would slow down the one that is waited for.
    void taken.started().then(() => {
      if (this.#spares > 0 && !this.#closed && this.#spare === null) this.#spare = this.#start();
    });
    return taken;
  }

  drop(child: ThrowAwayProcess): void {
    child.kill();
    this.#busy.delete(child);
  }

  close(): void {
    this.#closed = true;
    this.#spare?.kill();
    this.#spare = null;
    for (const child of this.#busy) child.kill();
    this.#busy.clear();
  }

  #start(): ThrowAwayProcess {
    return new ThrowAwayProcess(this.#entry, this.#bounds);
  }
}
