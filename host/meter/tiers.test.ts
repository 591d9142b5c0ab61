import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { MeterOptions } from "./meter.ts";
import type { BurnOrder, Burnt } from "./testing/burn.ts";
import { assembleText } from "./testing/guest.ts";
import { lookingAlong, MORE_NAN_ROUTES, NAN_ROUTES } from "./testing/nan-routes.ts";
import { NEWER_NODES, reasonToSkip, THIS_NODE } from "./testing/newer-nodes.ts";
import { floatPrograms } from "./testing/random-floats.ts";
import { burnOnTiers } from "./testing/tiers.ts";

const EXACT: MeterOptions = { callDepth: true, canonicalNan: true };

const LONG = "global.get $n i64.extend_i32_u";

/** The last version of Node whose optimising compiler computes 0/0 of constants, to another NaN than the processor. */
const LAST_TO_FOLD = 22;

/** Of 1 MB that V8 has for its stack by default; a slot is at most 8 bytes of it. */
const SANE_DEPTH = 100_000;

const nodes = [THIS_NODE, ...NEWER_NODES].map((node) => ({
  node,
  reason: node === THIS_NODE ? undefined : reasonToSkip(node),
}));

describe.each(nodes)("on the compilers of Node $node.version", ({ node, reason }) => {
  const testHere = test.skipIf(reason !== undefined);
  const skipped = reason ?? "";

  testHere(`a NaN looks different along each route, and the same in the exact variant ${skipped}`, async () => {
    const plain = await burnRoutes(NAN_ROUTES, {});
    const exact = await burnRoutes(NAN_ROUTES, EXACT);
    for (const [index, [what]] of NAN_ROUTES.entries()) {
      const seen = Object.values(exact).map((burnt) => burnt[index]!);
      for (const each of seen) expect.soft(each, what).toEqual(seen[0]);
      if (node.major > LAST_TO_FOLD) continue;
      const [liftoff, turbofan] = [plain["liftoff"]![index]!, plain["turbofan"]![index]!];
      expect.soft(liftoff.result, what).not.toBe(turbofan.result);
      expect.soft(liftoff.used, what).not.toBe(turbofan.used);
      // Canonical, it burns what the plain one does on the compiler that gave the same sign.
      expect.soft([liftoff.used, turbofan.used], what).toContain(seen[0]!.used);
    }
  });

  testHere(`whatever can make a NaN makes the canonical one in the exact variant ${skipped}`, async () => {
    const exact = await burnRoutes(MORE_NAN_ROUTES, EXACT);
    const canonical = [0x7ff8000000000000n, 0x7fc000007fc00000n, 0x7fc00000n, 0x000000007fc00000n];
    for (const burnt of Object.values(exact)) {
      for (const [index, [what]] of MORE_NAN_ROUTES.entries()) {
        expect.soft(canonical, what).toContain(BigInt(String(burnt[index]!.result).slice(0, -1)));
      }
    }
  });

  testHere(`random programs that look at bits are the same in the exact variant ${skipped}`, async () => {
    const texts = fc.sample(floatPrograms("at bits"), { numRuns: 80, seed: 11 });
    const plain = await burnAll(texts, {});
    const exact = await burnAll(texts, EXACT);
    const differing = texts.filter((_, index) => !areSame(plain, index)).length;
    expect(differing).toBeGreaterThan(node.major > LAST_TO_FOLD ? 0 : 10);
    expect(texts.filter((_, index) => !areSame(exact, index))).toEqual([]);
  });

  testHere(`random programs that look at numbers are the same in either variant ${skipped}`, async () => {
    const texts = fc.sample(floatPrograms("at numbers"), { numRuns: 60, seed: 12 });
    const tiers = [await burnAll(texts, {}), await burnAll(texts, EXACT)].flatMap((each) => Object.values(each));
    for (const tier of tiers) expect(tier).toEqual(tiers[0]);
  });

  testHere(`recursion ends at the same depth in the exact variant, at others without ${skipped}`, async () => {
    const modules = await Promise.all(RECURSIONS.map(async (text) => base64(await assembleText(text))));
    const plain = burnOnTiers(
      node,
      modules.map((bytes) => ({ bytes, calls: [["run", 100_000_000], ["depth"]] })),
    );
    const exact = burnOnTiers(
      node,
      modules.map((bytes, index) => {
        const most = Math.floor(SANE_DEPTH / FRAMES[index]!.slots);
        return { bytes, options: EXACT, depth: SANE_DEPTH, calls: [["run", most - 1], ["depth"], ["run", most]] };
      }),
    );
    for (const [index, { slots }] of FRAMES.entries()) {
      const { liftoff, turbofan } = plain;
      expect.soft(liftoff![index]![1]!.result, RECURSIONS[index]).not.toBe(turbofan![index]![1]!.result);
      for (const [inner, depth, outer] of Object.values(exact).map((tier) => tier[index]!)) {
        const depths = [inner!.ending, depth!.result, outer!.ending];
        expect.soft(depths, RECURSIONS[index]).toEqual(["returned", Math.floor(SANE_DEPTH / slots), "trapped"]);
      }
    }
  });

  async function burnRoutes(routes: typeof NAN_ROUTES, options: MeterOptions): Promise<Record<string, Burnt[]>> {
    const orders = await Promise.all(
      routes.map(async (route) => {
        const bytes = base64(await assembleText(lookingAlong(route)));
        return { bytes, options, calls: [["run"]] } satisfies BurnOrder;
      }),
    );
    return firstCalls(burnOnTiers(node, orders));
  }

  async function burnAll(texts: readonly string[], options: MeterOptions): Promise<Record<string, Burnt[]>> {
    const orders = await Promise.all(
      texts.map(async (text) => {
        const bytes = base64(await assembleText(text));
        return { bytes, options, calls: [["run", "5n"]] } satisfies BurnOrder;
      }),
    );
    return firstCalls(burnOnTiers(node, orders));
  }
});

/** What a function has before and after it calls itself, and the slots of its frame: the call takes 2 operands more. */
const FRAMES: readonly {
  readonly locals: string;
  readonly before: string;
  readonly after: string;
  readonly slots: number;
}[] = [
  { locals: "", before: "", after: "", slots: 8 + 1 + 2 },
  { locals: "(local i64)", before: `${LONG} local.set 1`, after: "local.get 1 drop", slots: 8 + 2 + 2 },
  {
    locals: `(local${" i64".repeat(100)})`,
    before: eachLocal(`${LONG} local.set`),
    after: eachLocal("local.get", "global.set $long"),
    slots: 8 + 101 + 2,
  },
  { locals: "", before: "global.get $n ".repeat(80), after: "global.set $n ".repeat(80), slots: 8 + 1 + 82 },
  {
    locals: "(local v128)",
    before: "global.get $n i32x4.splat local.set 1",
    after: "local.get 1 v128.any_true global.set $n",
    slots: 8 + 2 + 1 + 2 * 2,
  },
  {
    locals: "",
    before: "global.get $n i32x4.splat ".repeat(40),
    after: "v128.any_true global.set $n ".repeat(40),
    slots: 8 + 1 + 2 * 42,
  },
];

const RECURSIONS = FRAMES.map(
  ({ locals, before, after }) => `(module
    (global $n (mut i32) (i32.const 0)) (global $long (mut i64) (i64.const 0)) (global $depth (mut i32) (i32.const 0))
    (func (export "depth") (result i32) global.get $depth)
    (func $run (export "run") (param i32) ${locals}
      global.get $depth i32.const 1 i32.add global.set $depth
      local.get 0 i32.eqz br_if 0
      ${before} local.get 0 i32.const 1 i32.sub call $run ${after}))`,
);

function eachLocal(before: string, after = ""): string {
  return Array.from({ length: 100 }, (_, local) => `${before} ${local + 1} ${after}`).join(" ");
}

function firstCalls(tiers: ReturnType<typeof burnOnTiers>): Record<string, Burnt[]> {
  return Object.fromEntries(Object.entries(tiers).map(([tier, calls]) => [tier, calls.map(([first]) => first!)]));
}

function areSame(tiers: Record<string, Burnt[]>, index: number): boolean {
  const [first, ...others] = Object.values(tiers).map((burnt) => JSON.stringify(burnt[index]));
  return others.every((other) => other === first);
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}
