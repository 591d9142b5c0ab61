import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Stop } from "./stop.ts";

describe("Stop", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const now = (): number => performance.timeOrigin + performance.now();

  it("ends at the wall clock, which begins when its time is known", () => {
    const stop = new Stop(new AbortController().signal, null);
    let since: number | null = null;
    stop.watchWall(100, () => since);
    vi.advanceTimersByTime(80);
    since = now();
    vi.advanceTimersByTime(99);
    expect(stop.cause).toBeNull();
    vi.advanceTimersByTime(1);
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
    const acted: string[] = [];
    stop.onStop(() => acted.push("stopped"));
    expect(acted).toEqual(["stopped"]);
  });

  it("acts once, and tells whoever asked for a signal, before and after", () => {
    const caller = new AbortController();
    const stop = new Stop(caller.signal, null);
    let acted = 0;
    stop.onStop(() => acted++);
    const before = stop.abortSignal;
    expect(before.aborted).toBe(false);
    caller.abort("enough");
    expect(acted).toBe(1);
    expect(before.reason).toEqual({ kind: "cancelled", reason: "enough" });
    const late = new Stop(AbortSignal.abort("enough"), null);
    expect(late.abortSignal.aborted).toBe(true);
  });

  it("leaves no timer behind, and a far deadline does not fire at once", () => {
    const stop = new Stop(new AbortController().signal, Date.now() + 2 ** 40);
    stop.watchWall(1_000, now);
    vi.advanceTimersByTime(10);
    expect(stop.cause).toBeNull();
    stop.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});
