import { describe, expect, it } from "vitest";
import type { DoctorReport, GuestResult } from "../../doctor/doctor.ts";
import { guestLine, reportLines } from "./doctor-text.ts";
import { paint } from "./paint.ts";

const plain = paint(false);

describe("guestLine()", () => {
  it("says how a guest ended, and when it should have ended otherwise, how and why", () => {
    expect(guestLine(LOOP, plain)).toBe(`ok      ${"loop".padEnd(28)}  ${"out-of-fuel (fuel)".padEnd(34)}  12 ms`);
    const wrong = { ...LOOP, ok: false, got: { refused: "too_complex" }, note: "outcome is absent\u001b[2J" };
    expect(guestLine(wrong, plain).split("\n")).toEqual([
      `FAILED  ${"loop".padEnd(28)}  ${"refused: too_complex".padEnd(34)}  12 ms`,
      "        out-of-fuel (fuel) is wanted: outcome is absent\\u001b[2J",
    ]);
  });
});

describe("reportLines()", () => {
  it("names at most three guests that proved a promise, and says what is not proven", () => {
    const report: DoctorReport = {
      node: "v20.0.0",
      guests: [LOOP, { ...LOOP, name: "other", ok: false }],
      rows: [
        { kind: "limit", name: "fuel", provedBy: ["a", "b", "c", "d", "e"], ok: true },
        { kind: "limit", name: "wallMs", provedBy: [], ok: false },
        { kind: "ending", name: "ending:lost", provedBy: ["a"], ok: true },
      ],
      ok: false,
    };
    expect(reportLines(report, plain)).toEqual([
      "",
      "limits",
      "  fuel    proven by a, b, c and 2 more",
      "  wallMs  NOT PROVEN",
      "",
      "endings",
      "  ending:lost  proven by a",
      "",
      "1 of 2 guests ended otherwise, 1 of 3 promises are NOT PROVEN.",
      "Node v20.0.0",
    ]);
  });
});

const LOOP: GuestResult = {
  name: "loop",
  description: "Loops.",
  proves: "fuel",
  expected: { outcome: "out-of-fuel", limit: "fuel" },
  got: { outcome: "out-of-fuel", limit: "fuel" },
  ok: true,
  ms: 12,
  fuel: null,
  note: null,
};
