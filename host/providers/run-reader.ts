import type { RunResult } from "./outcome.ts";
import type { RunEvent } from "./provider.ts";

/** Takes the events of a run in place of its iterator. */
export interface RunReader {
  /**
   * Takes one event, in order; `last` is the terminal event, and always finds room. Never throws. Null when the event was taken; else
   * it was not, and what is answered is how the run is to end.
   */
  push(event: RunEvent, last: boolean): RunResult | null;
  /** Null while there is room; else settles once there is, or once the run has ended. Never rejects. */
  room(): Promise<void> | null;
}
