import fc from "fast-check";
import { expect, test } from "vitest";
import { createCounters, EXHAUSTED } from "../meter/meter.ts";
import { FuelCharge } from "./fuel-charge.ts";

test("take() leaves what a subtraction leaves, at each charge and at each size", () => {
  const units = fc.oneof(
    fc.nat(100),
    fc.double({ min: 0, max: 2 ** 53, noNaN: true }),
    fc.constantFrom(2 ** 32 - 1, 2 ** 32),
  );
  const given = fc.oneof(fc.bigInt({ min: 0n, max: 10_000n }), fc.bigInt({ min: EXHAUSTED, max: 2n ** 62n }));
  fc.assert(
    fc.property(given, fc.array(units, { minLength: 100, maxLength: 200 }), (fuel, charges) => {
      const counters = createCounters({ fuel, pages: 0, elements: 0 });
      const charge = new FuelCharge(counters.fuel);
      let left = fuel;
      for (const each of charges) {
        left -= BigInt(Math.ceil(each));
        expect(charge.take(each)).toBe(left >= 0n);
        expect(counters.fuel.value).toBe(left);
      }
    }),
  );
});

test("take() sees what others write into the counter", () => {
  const counters = createCounters({ fuel: 1_000, pages: 0, elements: 0 });
  const charge = new FuelCharge(counters.fuel);
  for (let each = 0; each < 100; each++) charge.take(1);
  counters.fuel.value = 7n;
  expect(charge.take(7)).toBe(true);
  counters.fuel.value = EXHAUSTED;
  expect(charge.take(1)).toBe(false);
  expect(() => charge.take(Number.NaN)).toThrow(RangeError);
});
