import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Stop } from "./stop.ts";

describe("Stop", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const now = (): number => performance.timeOrigin + performance.now();

  it("ends at the wall clock, which starts again when the guest is entered", () => {
    const stop = new Stop(new AbortController().signal, null);
    stop.startWall(now(), 100);
    vi.advanceTimersByTime(80);
    stop.startWall(now(), 100);
    vi.advanceTimersByTime(80);
    expect(stop.signal.aborted).toBe(false);
    vi.advanceTimersByTime(20);
    expect(stop.cause).toEqual({ kind: "past-deadline", limit: "wallMs" });
    stop.close();
  });

  it("keeps the first cause", () => {
    const caller = new AbortController();
    const stop = new Stop(caller.signal, Date.now() + 50);
    vi.advanceTimersByTime(50);
    caller.abort("too late");
    expect(stop.cause).toEqual({ kind: "past-deadline", limit: "deadlineMs" });
    stop.close();
  });

  it("says why the caller cancelled, also when it had done so before", () => {
    const stop = new Stop(AbortSignal.abort(new Error("gone")), null);
    expect(stop.cause).toEqual({ kind: "cancelled", reason: "gone" });
    expect(stop.signal.aborted).toBe(true);
  });

  it("leaves no timer behind, and a far deadline does not fire at once", () => {
    const stop = new Stop(new AbortController().signal, Date.now() + 2 ** 40);
    stop.startWall(now(), 1_000);
    vi.advanceTimersByTime(10);
    expect(stop.signal.aborted).toBe(false);
    stop.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});
