import { afterEach, expect, test, vi } from "vitest";
import { SYSTEM_CLOCK } from "./providers/providers.ts";
import { runRequest } from "./run-options.ts";

afterEach(() => vi.restoreAllMocks());

test("a deadline holds on a machine that slept, or whose clock was set", () => {
  const anHour = 3_600_000;
  for (const offset of [anHour, -anHour]) {
    vi.spyOn(Date, "now").mockReturnValue(SYSTEM_CLOCK.now() + offset);
    const { deadline } = runRequest("a@1.0.0", null, {}, { operation: "call", deadlineMs: 1_000 });
    expect(deadline! - SYSTEM_CLOCK.now()).toBeGreaterThan(0);
    expect(deadline! - SYSTEM_CLOCK.now()).toBeLessThanOrEqual(1_000);
  }
});
