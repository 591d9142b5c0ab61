import fc from "fast-check";
import { expect, it } from "vitest";
import { type Place, WaitingLine } from "./waiting-line.ts";

it("WaitingLine serves the highest priority first, then who came first, whoever leaves in between", () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("join" as const), priority: fc.integer({ min: -2, max: 2 }) }),
    fc.record({ kind: fc.constant("leave" as const), index: fc.nat(30) }),
    fc.record({ kind: fc.constant("serve" as const) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const line = new WaitingLine<number>();
      let waiting: Place<number>[] = [];
      const gone: Place<number>[] = [];
      for (const [order, each] of steps.entries()) {
        if (each.kind === "join") {
          waiting.push(line.join(order, each.priority, order));
          waiting = waiting.toSorted((a, b) => b.priority - a.priority || a.order - b.order);
        } else {
          const place = each.kind === "serve" ? waiting[0] : waiting[each.index];
          if (place === undefined) continue;
          if (each.kind === "serve") expect(line.first).toBe(place);
          expect(line.leave(place)).toBe(true);
          waiting = waiting.filter((other) => other !== place);
          gone.push(place);
        }
        for (const place of gone) expect(line.leave(place)).toBe(false);
        expect(line.first).toBe(waiting[0] ?? null);
        expect(line.values()).toEqual(waiting.map(({ value }) => value));
      }
    }),
  );
});
