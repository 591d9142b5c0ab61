import { describe, expect, it } from "vitest";
import type { Limits } from "../manifest/manifest.ts";
import { checkRequestLimits } from "./request-limits.ts";

describe("checkRequestLimits()", () => {
  const check =
    (limits: Partial<Limits>, countsCallDepth = false) =>
    () =>
      checkRequestLimits(
        {
          runId: "r",
          providerId: "acme.rows@1.0.0",
          operation: "count",
          input: null,
          limits,
          deadline: null,
          fresh: false,
        },
        { countsCallDepth, coreModules: 3 },
      );

  it("refuses a depth of calls that the artifact does not count", () => {
    expect(check({ callDepth: 10 })).toThrow(
      expect.objectContaining({
        code: "AIRLOCK_INVOCATION_REQUEST_INVALID",
        message: expect.stringContaining("limits.callDepth is 10"),
      }),
    );
    expect(check({ callDepth: 10 }, true)).not.toThrow();
    expect(check({ callDepth: null })).not.toThrow();
  });

  it("refuses fewer core modules than there are", () => {
    expect(check({ coreModules: 2 })).toThrow(
      expect.objectContaining({
        code: "AIRLOCK_INVOCATION_REQUEST_INVALID",
        message: "Cannot run acme.rows@1.0.0: limits.coreModules is 2, the component has 3",
      }),
    );
    expect(check({ coreModules: 3, fuel: 1 })).not.toThrow();
  });
});
