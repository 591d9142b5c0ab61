import { describe, expect, it } from "vitest";
import { difference } from "./observed.ts";

describe("difference()", () => {
  const seen = { outcome: "trapped", phase: "lift", message: "a pointer leaves its memory", logDropped: 0 } as const;

  it("compares only what is expected, whole values, and the message in part", () => {
    expect(difference({ outcome: "trapped" }, seen)).toBeNull();
    expect(difference({ outcome: "trapped", phase: "lift", message: "leaves its" }, seen)).toBeNull();
    expect(
      difference({ outcome: "succeeded", output: { a: [1] } }, { outcome: "succeeded", output: { a: [1] } }),
    ).toBeNull();
  });

  it("says in one line what is and what is wanted, with what the host said", () => {
    expect(difference({ outcome: "succeeded", output: 1 }, seen)).toBe(
      'outcome is "trapped", "succeeded" is wanted; output is absent, 1 is wanted (a pointer leaves its memory)',
    );
    expect(difference({ refused: "too_large" }, { refused: "too_complex" })).toBe(
      'refused is "too_complex", "too_large" is wanted',
    );
  });
});
