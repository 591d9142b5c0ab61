import { describe, expect, it } from "vitest";
import { parseLimitPairs, parseQuantity, shownBytes, shownCount, shownLimit, shownMs } from "./units.ts";

describe("parseQuantity()", () => {
  it.each([
    ["2000000", "fuel", 2_000_000],
    ["2_000_000", "fuel", 2_000_000],
    ["2e9", "fuel", 2_000_000_000],
    ["1.5M", "fuel", 1_500_000],
    ["10k", "count", 10_000],
    ["64MiB", "bytes", 64 * 1024 * 1024],
    ["64 mib", "bytes", 64 * 1024 * 1024],
    ["0.1MB", "bytes", 100_000],
    ["65536", "bytes", 65_536],
    ["10s", "ms", 10_000],
    ["500ms", "ms", 500],
    ["2min", "ms", 120_000],
    ["-5", "fuel", -5],
    ["0.5", "count", 0.5],
  ] as const)("reads %s of %s as %d", (text, unit, value) => {
    expect(parseQuantity(text, unit, "x")).toBe(value);
  });

  it.each([
    ["", "fuel"],
    ["abc", "fuel"],
    ["0x10", "fuel"],
    ["1,000", "fuel"],
    ["1__0", "fuel"],
    ["Infinity", "fuel"],
    ["10s", "bytes"],
    ["10MiB", "ms"],
    ["10MiB", "fuel"],
    ["5 constructor", "ms"],
  ] as const)("refuses %j as %s", (text, unit) => {
    expect(() => parseQuantity(text, unit, "--limit x")).toThrow(
      expect.objectContaining({
        code: "AIRLOCK_CLI_USAGE",
        message: expect.stringMatching(/^--limit x is ".*": .* is wanted$/),
      }),
    );
  });
});

describe("parseLimitPairs()", () => {
  it("reads pairs with units, the last of a key counts", () => {
    expect(parseLimitPairs(["fuel=1e6", "memoryBytes=1MiB", "wallMs=10s", "fuel=2e6", "callDepth=none"])).toEqual({
      fuel: 2_000_000,
      memoryBytes: 1_048_576,
      wallMs: 10_000,
      callDepth: null,
    });
  });

  it.each([
    ["fule=1", 'limits has the unknown limit "fule": did you mean "fuel"?'],
    ["fuel=-1", "limits.fuel is -1: a whole number of fuel from 1 to 9007199254740991 is wanted"],
    ["fuel=1e300", "limits.fuel is 1e+300: a whole number of fuel from 1 to 9007199254740991 is wanted"],
    ["fuel=none", "limits.fuel is null: a whole number of fuel from 1 to 9007199254740991 is wanted"],
  ])("refuses %s in the words of the limits", (pair, message) => {
    expect(() => parseLimitPairs([pair])).toThrow(
      expect.objectContaining({ code: "AIRLOCK_INVOCATION_REQUEST_INVALID", message }),
    );
  });

  it.each(["fuel", "=3", ""])("refuses %j, which is no pair", (pair) => {
    expect(() => parseLimitPairs([pair])).toThrow(expect.objectContaining({ code: "AIRLOCK_CLI_USAGE" }));
  });

  it("takes no key of Object.prototype for a limit", () => {
    for (const key of ["__proto__", "constructor", "toString"]) {
      expect(() => parseLimitPairs([`${key}=1`])).toThrow(
        expect.objectContaining({ code: "AIRLOCK_INVOCATION_REQUEST_INVALID" }),
      );
    }
  });
});

describe("quantities for people", () => {
  it("have the unit that fits", () => {
    expect([0, 1, 1023, 1024, 1_572_864, 2 ** 30].map(shownBytes)).toEqual([
      "0 bytes",
      "1 byte",
      "1023 bytes",
      "1 KiB",
      "1.5 MiB",
      "1 GiB",
    ]);
    expect([0, 0.44, 12.6, 1_500, 600_000].map(shownMs)).toEqual(["0 ms", "0.4 ms", "13 ms", "1.5 s", "10 min"]);
    expect([0, 999, 1_000, 2_000_000_000].map(shownCount)).toEqual(["0", "999", "1,000", "2,000,000,000"]);
    expect(shownLimit("callDepth", null)).toBe("none");
    expect(shownLimit("memoryBytes", 65_536)).toBe("64 KiB");
  });
});
