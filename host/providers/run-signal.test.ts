import { describe, expect, it } from "vitest";
import type { RunSignal } from "./provider.ts";
import { abortSignalOf, StopSignal } from "./run-signal.ts";

describe("abortSignalOf()", () => {
  it("is the same however often it is asked, and aborts with the run", () => {
    const stop = new StopSignal();
    const signal = abortSignalOf(stop);
    expect(abortSignalOf(stop)).toBe(signal);
    expect(signal.aborted).toBe(false);
    stop.abort("past wallMs", "TimeoutError");
    stop.abort("again", "AbortError");
    expect(signal.reason).toMatchObject({ name: "TimeoutError", message: "past wallMs" });
    expect(stop.reason).toBe("past wallMs");
  });

  it("is aborted from the beginning for a run that was ended before", () => {
    const stop = new StopSignal();
    stop.abort("enough", "AbortError");
    expect(abortSignalOf(stop).reason).toMatchObject({ name: "AbortError", message: "enough" });
    let called = false;
    stop.addEventListener("abort", () => {
      called = true;
    });
    expect(called).toBe(false);
  });

  it("hands a platform's signal through, and follows any other", () => {
    const { signal } = new AbortController();
    expect(abortSignalOf(signal)).toBe(signal);
    const stop = new StopSignal();
    const foreign: RunSignal = {
      get aborted() {
        return stop.aborted;
      },
      get reason() {
        return stop.reason;
      },
      addEventListener: (type, listener) => stop.addEventListener(type, listener),
      removeEventListener: (type, listener) => stop.removeEventListener(type, listener),
    };
    const followed = abortSignalOf(foreign);
    expect(followed.aborted).toBe(false);
    stop.abort("gone", "AbortError");
    expect(followed.reason).toMatchObject({ message: "gone" });
    expect(abortSignalOf(foreign).aborted).toBe(true);
  });
});
