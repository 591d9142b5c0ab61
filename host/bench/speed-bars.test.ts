import { describe, expect, it } from "vitest";
import { figureAt, nested, speedBars, verdictOn } from "./speed-bars.ts";

describe("speed bars", () => {
  it("verdictOn() counts a figure at its bar as met, and one that is missing as missed", () => {
    const least = { limit: { kind: "at least", value: 0.6 } } as const;
    const most = { limit: { kind: "at most", value: 5 } } as const;
    expect([0.59, 0.6].map((figure) => verdictOn(least, figure))).toEqual(["missed", "met"]);
    expect([5, 5.01].map((figure) => verdictOn(most, figure))).toEqual(["met", "missed"]);
    expect(verdictOn(most, null)).toBe("missed");
    expect(verdictOn({ limit: null }, 7)).toBe("reported");
  });

  it("figureAt() finds a figure in objects and lists, and nothing in what is no number", () => {
    const json = { means: [1.1], invoke: { share: 0.5 }, name: "reset" };
    expect(
      ["means.0", "invoke.share", "name", "invoke.none", "none.share"].map((path) => figureAt(json, path)),
    ).toEqual([1.1, 0.5, null, null, null]);
    expect(figureAt(null, "invoke.share")).toBeNull();
  });

  it("nested() makes an object of each dot", () => {
    const figures = new Map([
      ["install.coldMs", 9],
      ["install.cachedMs", null],
      ["event.microseconds", 2],
    ]);
    expect(nested(figures)).toEqual({ install: { coldMs: 9, cachedMs: null }, event: { microseconds: 2 } });
  });

  it("speedBars() allows the meter more from Node 24 on", () => {
    const ofMeter = (node: string) => speedBars(node).find(({ key }) => key === "fuelOverhead.geomean")?.limit?.value;
    expect([ofMeter("v20.20.2"), ofMeter("v24.1.0")]).toEqual([1.1, 1.15]);
  });
});
