import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Claims } from "./claims.ts";

describe("Claims", () => {
  it("gives each call to one side only, whoever asks first and however often", () => {
    const step = fc.record({ by: fc.constantFrom("thread", "main"), epoch: fc.integer({ min: 1, max: 40 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const claims = new Claims(new SharedArrayBuffer(Claims.BYTES));
        const owner = new Map<number, string>();
        let offered = 0;
        for (const { by, epoch } of steps) {
          const settled = [...owner.keys()].length;
          if (offered - settled < Claims.MOST && offered < 40) claims.offer(++offered);
          // Only what is on offer is asked for: calls are settled in about their order.
          const asked = Math.max(1, Math.min(epoch, offered));
          if (offered - asked >= Claims.MOST) continue;
          const got = by === "thread" ? claims.take(asked) : claims.takeBack(asked);
          expect(got).toBe(!owner.has(asked));
          owner.set(asked, owner.get(asked) ?? by);
        }
      }),
    );
  });
});
