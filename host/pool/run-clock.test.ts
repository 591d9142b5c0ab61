import { describe, expect, it } from "vitest";
import { RunClock } from "./run-clock.ts";

describe("RunClock", () => {
  it("tells the times of the run that the thread carries out, and of no other", () => {
    const shared = new SharedArrayBuffer(RunClock.BYTES);
    const [thread, main] = [new RunClock(shared), new RunClock(shared)];
    expect(main.timesOf(1)).toBeNull();
    thread.takeUp(1, 1_700_000_000_000.25);
    expect(main.timesOf(1)).toEqual({ takenUpAt: 1_700_000_000_000.25, enteredAt: null });
    thread.enter(1_700_000_000_001.5);
    expect(main.timesOf(1)).toEqual({ takenUpAt: 1_700_000_000_000.25, enteredAt: 1_700_000_000_001.5 });
    thread.takeUp(2, 1_700_000_000_002);
    expect(main.timesOf(1)).toBeNull();
    expect(main.timesOf(2)).toEqual({ takenUpAt: 1_700_000_000_002, enteredAt: null });
  });
});
