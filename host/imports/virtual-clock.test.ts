import { describe, expect, test } from "vitest";
import { fakeScope } from "../tests/wasi/fake-scope.ts";
import { VirtualClock } from "./virtual-clock.ts";

describe("VirtualClock", () => {
  test("begins at zero and advances a nanosecond with each unit of fuel", () => {
    const scope = fakeScope();
    const clock = new VirtualClock(scope);
    const readings = [clock.now()];
    scope.burn(1_500);
    readings.push(clock.now());
    expect(readings).toEqual([0n, 1_500n]);
  });

  test("jumpTo() goes ahead and never back", () => {
    const clock = new VirtualClock(fakeScope());
    clock.jumpTo(clock.after(1_000n));
    clock.jumpTo(10n);
    expect(clock.now()).toBe(1_000n);
  });

  test("does not go back when the call begins with its own fuel", () => {
    const scope = fakeScope();
    let setup = 5_000n;
    const clock = new VirtualClock({ ...scope, fuelAtStart: () => scope.fuelLeft() + setup });
    const before = clock.now();
    setup = 0n;
    expect([before, clock.now()]).toEqual([5_000n, 5_000n]);
  });

  test("stops at the last instant that WASI can name", () => {
    const scope = fakeScope();
    const clock = new VirtualClock(scope);
    clock.jumpTo(clock.after(2n ** 64n - 1n));
    scope.burn(10);
    expect([clock.now(), clock.after(1n)]).toEqual([2n ** 64n - 1n, 2n ** 64n - 1n]);
  });
});
