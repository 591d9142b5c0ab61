import { beforeAll, describe, expect, test } from "vitest";
import { type BurnReport, burn } from "./testing/burn.ts";
import { PLENTY } from "./testing/engine.ts";
import { assembleText } from "./testing/guest.ts";
import { NEWER_CASES } from "./testing/newer-cases.ts";
import { burnOn, NEWER_NODES, reasonToSkip } from "./testing/newer-nodes.ts";

const VARIANTS = [
  { variant: "plain", options: {} },
  { variant: "exact", options: { callDepth: true, canonicalNan: true } },
];

async function order(text: string, more: object = {}) {
  return { bytes: Buffer.from(await assembleText(text)).toString("base64"), calls: [["run"]] as const, ...more };
}

describe.each(NEWER_NODES)("on Node $version", (node) => {
  const reason = reasonToSkip(node);

  describe.each(VARIANTS.flatMap((each) => NEWER_CASES.map((cases) => ({ ...each, ...cases }))))(
    "fuel used with $feature, $variant",
    ({ feature, since, cases, options }) => {
      let reports: BurnReport[] = [];
      beforeAll(async () => {
        if (reason === undefined)
          reports = burnOn(node, await Promise.all(cases.map(({ text }) => order(text, { options }))));
      });

      test.skipIf(reason !== undefined).each(cases.map((each, index) => ({ ...each, index })))("$what", (each) => {
        const { refused, calls } = reports[each.index]!;
        if (node.major < since && refused !== undefined) {
          // 22 has some of what 24 has, though not in the final form.
          expect(refused).toMatchObject({ code: "AIRLOCK_METER_UNSUPPORTED", feature, missingInEngine: true });
          return;
        }
        expect(refused).toBeUndefined();
        const { ending = "returned", used, result, noted } = each;
        expect(calls[0]).toMatchObject(result === undefined ? { ending, used } : { ending, used, result });
        if (noted !== undefined) expect(calls[0]!.notes).toEqual([{ argument: 5, used: noted }]);
        const left = [Number(PLENTY.pages) - (each.pages ?? 0), Number(PLENTY.elements) - (each.elements ?? 0)];
        expect(calls[0]!.left).toEqual([...left, each.refused ?? 0]);
      });
    },
  );

  test.skipIf(reason !== undefined)(
    "a cycle of return_call_ref, and a loop of call_ref, stop out of fuel",
    async () => {
      const cycle = `(module (type $unit (func)) (elem declare func $a) (func $a (export "run") ref.func $a return_call_ref $unit))`;
      const calls = `(module (type $unit (func)) (elem declare func $a)
      (func $a (export "run") ref.func $a call_ref $unit ref.func $a call_ref $unit))`;
      const reports = burnOn(node, [await order(cycle, { fuel: 10_000 }), await order(calls, { fuel: 100 })]);
      for (const [index, fuel] of [10_000, 100].entries()) {
        const [burnt] = reports[index]!.calls;
        expect(burnt!.ending).toBe("trapped");
        expect(burnt!.used).toBeGreaterThan(fuel);
        expect(burnt!.used).toBeLessThan(fuel + 100);
      }
    },
  );
});

describe("on the Node that runs the tests", () => {
  test.each(NEWER_CASES.flatMap(({ feature, cases }) => cases.map((each) => ({ feature, ...each }))))(
    "$feature, $what: metered, or named as missing",
    async ({ feature, text, used }) => {
      const [report] = burn([await order(text)]);
      if (report!.refused === undefined) expect(report!.calls[0]!.used).toBe(used);
      else expect(report!.refused).toMatchObject({ feature, missingInEngine: true });
    },
  );
});
