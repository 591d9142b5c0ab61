import { describe, expect, test } from "vitest";
import { fakeScope, Stopped } from "../tests/wasi/fake-scope.ts";
import { VirtualClock } from "./virtual-clock.ts";
import { wasiPoll } from "./wasi-poll.ts";

function made() {
  const scope = fakeScope();
  const clock = new VirtualClock(scope);
  const wasi = wasiPoll(scope, clock);
  const poll = wasi.interfaces["wasi:io/poll"]!["poll"] as (pollables: object[]) => Uint32Array;
  return { scope, clock, poll, pollable: wasi.pollable };
}

describe("wasi:io/poll", () => {
  test("poll() jumps to the first timer and says which are ready then", () => {
    const { clock, poll, pollable } = made();
    const ready = poll([pollable(9_000_000n), pollable(5_000_000n), pollable(5_000_000n)]);
    expect([...ready]).toEqual([1, 2]);
    expect(clock.now()).toBe(5_000_000n);
  });

  test("poll() does not wait when something is ready", () => {
    const { clock, poll, pollable } = made();
    expect([...poll([pollable(10n ** 12n), pollable(0n)])]).toEqual([1]);
    expect(clock.now()).toBeLessThan(10n ** 6n);
  });

  test("poll() of nothing traps, as WASI says", () => {
    const { poll } = made();
    expect(() => poll([])).toThrow(new Stopped({ kind: "trapped", what: "poll was called with nothing to wait for" }));
  });

  test("a handle counts until it is dropped, and only once", () => {
    const { scope, pollable } = made();
    const handle = pollable(0n) as Disposable;
    const open = scope.counters.handles;
    handle[Symbol.dispose]();
    handle[Symbol.dispose]();
    expect([open, scope.counters.handles]).toEqual([1, 0]);
  });
});
