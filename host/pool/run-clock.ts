/** When a run was taken up by its thread, and when its guest was entered (null: not yet), in milliseconds since the epoch. */
export interface RunTimes {
  readonly takenUpAt: number;
  readonly enteredAt: number | null;
}

const FIELD = { run: 0, takenUpAt: 1, enteredAt: 2, count: 3 } as const;
const MICROSECONDS = 1_000;

/**
 * The times of the run that a thread carries out, in memory that the main thread reads when it needs them: two messages less
 * for each run.
 */
export class RunClock {
  static readonly BYTES = FIELD.count * BigInt64Array.BYTES_PER_ELEMENT;
  readonly #fields: BigInt64Array;

  constructor(shared: SharedArrayBuffer) {
    this.#fields = new BigInt64Array(shared);
  }

  /** The thread takes up run `epoch`, a number above 0. */
  takeUp(epoch: number, at: number): void {
    // Nobody may see the new times under the number of the run before.
    Atomics.store(this.#fields, FIELD.run, 0n);
    Atomics.store(this.#fields, FIELD.enteredAt, 0n);
    Atomics.store(this.#fields, FIELD.takenUpAt, microseconds(at));
    Atomics.store(this.#fields, FIELD.run, BigInt(epoch));
  }

  enter(at: number): void {
    Atomics.store(this.#fields, FIELD.enteredAt, microseconds(at));
  }

  /** The times of run `epoch`, or null when the thread has another one. */
  timesOf(epoch: number): RunTimes | null {
    const run = BigInt(epoch);
    if (Atomics.load(this.#fields, FIELD.run) !== run) return null;
    const takenUpAt = Atomics.load(this.#fields, FIELD.takenUpAt);
    const enteredAt = Atomics.load(this.#fields, FIELD.enteredAt);
    // The thread may have gone on meanwhile.
    if (Atomics.load(this.#fields, FIELD.run) !== run) return null;
    return { takenUpAt: milliseconds(takenUpAt), enteredAt: enteredAt === 0n ? null : milliseconds(enteredAt) };
  }
}

function microseconds(at: number): bigint {
  return BigInt(Math.round(at * MICROSECONDS));
}

function milliseconds(at: bigint): number {
  return Number(at) / MICROSECONDS;
}
