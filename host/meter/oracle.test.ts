import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type MeterOptions, SCHEDULE, type Schedule } from "./meter.ts";
import type { BurnOrder } from "./testing/burn.ts";
import { assembleText, type Guest, instantiateBytes } from "./testing/guest.ts";
import { type Execution, interpret } from "./testing/interpreter.ts";
import { burnOn, NEWER_NODES, type NewerNode, reasonToSkip } from "./testing/newer-nodes.ts";
import { leafCosts, staticCost } from "./testing/prices.ts";
import { type Program, toText } from "./testing/program.ts";
import { programs, programsWith } from "./testing/random-program.ts";

/** So dear that nearly each path is tested on the way and each call finds something to pay. */
const DEAR: Schedule = { ...SCHEDULE, plain: 300, access: 900, division: 4_000, call: 700, importedCall: 2_000 };

const MOST_COST = 300_000;
const FUEL = 100_000_000;

describe.each([
  ["at the default prices", SCHEDULE, MOST_COST],
  ["at high prices", DEAR, MOST_COST * 100],
  ["without leaves", { ...SCHEDULE, leaf: 0 }, MOST_COST],
])("a metered program %s, against an interpreter that counts every instruction", (_, schedule, mostCost) => {
  test("same result, same ending, same fuel, whatever the variant", async () => {
    await fc.assert(
      fc.asyncProperty(programs, fc.integer(), fc.integer({ min: -3, max: 3 }), async (program, first, second) => {
        const expected = interpret(program, [first, second], schedule, mostCost);
        fc.pre(expected.ending !== "unfinished");
        const bytes = await assembleText(toText(program));
        for (const exact of [false, true]) {
          const options = { callDepth: exact, canonicalNan: exact, schedule };
          expectSame(bytes, options, expected, [first, second]);
        }
      }),
      { numRuns: 200, seed: 1 },
    );
  });

  test("a budget below the cost always ends with the counter negative, one that suffices never does", async () => {
    await fc.assert(
      fc.asyncProperty(programs, fc.integer({ min: 0, max: 1_000 }), async (program, permille) => {
        const { ending, cost, results } = interpret(program, [3, 4], schedule, mostCost);
        fc.pre(ending === "returned" && cost > 0);
        const bytes = await assembleText(toText(program));
        const fuel = Math.floor((cost * permille) / 1_000);
        const guest = instantiateBytes(bytes, {
          options: { schedule },
          budget: { fuel },
          imports: { host: { note: increment } },
        });
        const { trapped, result } = guest.call("run", 3, 4);
        expect(guest.counters.fuel.value < 0n).toBe(fuel < cost);
        if (fuel >= cost) expect({ trapped, result }).toEqual({ trapped: false, result: results[0] });
      }),
      { numRuns: 100, seed: 2 },
    );
  });
});

describe("a metered program with exceptions", () => {
  test("same result, same ending, same fuel, where handlers are of the legacy kind", async () => {
    const endings = { returned: 0, trapped: 0, thrown: 0 };
    await fc.assert(
      fc.asyncProperty(programsWith("legacy"), fc.integer(), fc.nat({ max: 9 }), async (program, first, second) => {
        const expected = interpret(program, [first, second], SCHEDULE, MOST_COST);
        fc.pre(expected.ending !== "unfinished");
        endings[expected.ending]++;
        const bytes = await assembleText(toText(program));
        for (const exact of [false, true]) {
          expectSame(bytes, { callDepth: exact, canonicalNan: exact, schedule: SCHEDULE }, expected, [first, second]);
        }
      }),
      { numRuns: 300, seed: 5 },
    );
    expect(Math.min(...Object.values(endings))).toBeGreaterThan(20);
  });

  const onNodes = NEWER_NODES.flatMap((node) => (["legacy", "new"] as const).map((kind) => ({ node, kind })));
  describe.each(onNodes)("with handlers of the $kind kind on Node $node.version", ({ node, kind }) => {
    const reason = reasonToSkip(node);
    test.skipIf(reason !== undefined)(`does the same ${reason ?? ""}`, () => expectSameOn(node, kind));
  });
});

async function expectSameOn(node: NewerNode, kind: "legacy" | "new"): Promise<void> {
  const parameters = [7, 2] as const;
  const cases: { program: Program; expected: Execution; order: BurnOrder }[] = [];
  for (const program of fc.sample(programsWith(kind), { numRuns: 300, seed: 6 })) {
    const expected = interpret(program, parameters, SCHEDULE, MOST_COST);
    if (expected.ending === "unfinished") continue;
    const bytes = Buffer.from(await assembleText(toText(program))).toString("base64");
    const isExact = cases.length % 2 === 1;
    const options = { callDepth: isExact, canonicalNan: isExact };
    cases.push({ program, expected, order: { bytes, options, calls: [["run", ...parameters]], fuel: FUEL } });
  }
  const reports = burnOn(
    node,
    cases.map(({ order }) => order),
  );
  const endings = { returned: 0, trapped: 0, thrown: 0, unfinished: 0 };
  for (const [index, { program, expected }] of cases.entries()) {
    const burnt = reports[index]!.calls[0];
    endings[expected.ending]++;
    const { ending, results, cost } = expected;
    const wanted = ending === "returned" ? { ending, result: results[0] } : { ending };
    expect(burnt, toText(program)).toMatchObject(ending === "trapped" ? wanted : { ...wanted, used: cost });
  }
  expect(Math.min(endings.returned, endings.thrown)).toBeGreaterThan(20);
}

test("leaves are found in what the programs are made of, and are what the interpreter says", async () => {
  let found = 0;
  await fc.assert(
    fc.asyncProperty(programs, async (program) => {
      const leaves = leafCosts(program, SCHEDULE).filter((cost) => cost !== undefined && cost > 0).length;
      const { report } = instantiateBytes(await assembleText(toText(program)), {
        imports: { host: { note: increment } },
      });
      expect(report.functions.leaf).toBe(leaves);
      found += leaves;
    }),
    { numRuns: 200, seed: 3 },
  );
  expect(found).toBeGreaterThan(80);
});

function expectSame(
  bytes: Uint8Array,
  options: MeterOptions & { readonly schedule: Schedule },
  expected: Execution,
  parameters: readonly number[],
): void {
  const noted: { argument: number; used: number }[] = [];
  const guest: Guest = instantiateBytes(bytes, {
    options,
    budget: { fuel: FUEL, depth: 1_000_000 },
    imports: { host: { note } },
  });
  function note(argument: number): number {
    noted.push({ argument, used: FUEL - Number(guest.counters.fuel.value) });
    return increment(argument);
  }
  const { trapped, result, used } = guest.call("run", ...parameters);

  expect({ trapped, result, arguments: noted.map(({ argument }) => argument) }).toEqual({
    trapped: expected.ending !== "returned",
    result: expected.ending === "returned" ? expected.results[0] : undefined,
    arguments: expected.notes.map(({ argument }) => argument),
  });
  for (const [index, { cost, frames }] of expected.notes.entries()) {
    // A single frame owes nothing; each frame above may owe 64 or, charged at entry, have paid for its rest.
    if (frames === 1) expect(noted[index]!.used).toBe(cost);
    else expect(cost - noted[index]!.used).toBeLessThanOrEqual((frames - 1) * 64);
  }
  if (!trapped) {
    expect(used).toBe(expected.cost);
    if (options.callDepth) expect(guest.counters.depth.value).toBe(1_000_000n);
    return;
  }
  if (expected.ending === "thrown") {
    // Whatever may throw has paid first.
    expect(used).toBe(expected.cost);
    return;
  }
  const ahead = expected.frames.reduce((sum, { body }) => sum + staticCost(body, options.schedule), 0);
  // The innermost frame may not have stored yet what its last call gave back.
  const held = guest.report.unwinds ? options.schedule.unwind : 0;
  expect(used).toBeLessThanOrEqual(expected.cost + ahead + held);
  const again = instantiateBytes(bytes, { options, imports: { host: { note: increment } } });
  expect(again.call("run", ...parameters).used).toBe(used);
}

function increment(argument: number): number {
  return (argument + 1) | 0;
}
