const TAKEN = 0;
const TAKEN_BACK = -1;

/**
 * Who has a posted call first: the thread, which takes it up, or the main thread, which takes it back. In memory that both
 * see, so that a call waits in front of its thread and still can be cancelled, or given to another one, without a race.
 */
export class Claims {
  /** Calls that may be on offer at a time. */
  static readonly MOST = 8;
  static readonly BYTES = Claims.MOST * Int32Array.BYTES_PER_ELEMENT;
  readonly #places: Int32Array;

  constructor(shared: SharedArrayBuffer) {
    this.#places = new Int32Array(shared);
  }

  /** Offers call `epoch`, a number above 0, of which the last `MOST` are told apart. */
  offer(epoch: number): void {
    Atomics.store(this.#places, epoch % Claims.MOST, epoch);
  }

  /** The thread takes the call up; false when it was taken back before. */
  take(epoch: number): boolean {
    return Atomics.compareExchange(this.#places, epoch % Claims.MOST, epoch, TAKEN) === epoch;
  }

  /** The main thread takes the call back; false when the thread has it. */
  takeBack(epoch: number): boolean {
    return Atomics.compareExchange(this.#places, epoch % Claims.MOST, epoch, TAKEN_BACK) === epoch;
  }
}
