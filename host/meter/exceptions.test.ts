import { beforeAll, describe, expect, test } from "vitest";
import { meter, meterTogether, SCHEDULE } from "./meter.ts";
import { type BurnReport, burn } from "./testing/burn.ts";
import { aroundThrowing, LEGACY_CASES, NEW_CASES } from "./testing/exception-cases.ts";
import { around, CASES } from "./testing/fuel-cases.ts";
import { assembleText, instantiate } from "./testing/guest.ts";
import { SAMPLE } from "./testing/hostile-sample.ts";
import { burnOn, NEWER_NODES, reasonToSkip } from "./testing/newer-nodes.ts";

const IMPORTS = { host: { fail: () => fail("The host failed"), stop: () => {}, note: (value: number) => value + 1 } };

function fail(text: string): never {
  throw new Error(text);
}

/** Assembles `text` once, for a call of `run`. */
async function order(text: string, more: { fuel?: number; callDepth?: boolean } = {}) {
  const bytes = Buffer.from(await assembleText(text)).toString("base64");
  const { callDepth, ...rest } = more;
  return { bytes, calls: [["run"]] as const, ...rest, ...(callDepth ? { options: { callDepth } } : {}) };
}

describe.each([false, true])("fuel used by exceptions, with call depth %s", (callDepth) => {
  test.each(LEGACY_CASES)("%s", async (_, body, fuel) => {
    const guest = await instantiate(aroundThrowing(body), {
      imports: IMPORTS,
      options: { callDepth },
      budget: { depth: 1_000_000 },
    });
    expect(guest.call("run")).toEqual({ result: undefined, trapped: false, used: fuel });
    expect(guest.counters.depth.value).toBe(1_000_000n);
  });
});

describe.each(NEWER_NODES)("fuel used by exceptions, on Node $version", (node) => {
  const reason = reasonToSkip(node);

  test.skipIf(reason !== undefined)(`with and without exnref ${reason ?? ""}`, async () => {
    const cases = [...LEGACY_CASES, ...NEW_CASES];
    for (const callDepth of [false, true]) {
      const orders = await Promise.all(cases.map(([, body]) => order(aroundThrowing(body), { callDepth })));
      const reports = burnOn(node, orders);
      const used = reports.map(({ calls, refused }, index) => [cases[index]![0], refused ?? calls[0]!.used]);
      expect(used).toEqual(cases.map(([what, , fuel]) => [what, fuel]));
    }
  });
});

describe("a guest out of fuel does not go on in a handler", () => {
  const SPIN =
    '(module (import "host" "stop" (func $stop)) (import "host" "note" (func $note (param i32) (result i32))) (tag $t)';
  const HANDLERS: readonly (readonly [what: string, text: string])[] = [
    [
      "catch_all around a loop that spends all",
      `${SPIN} (func (export "run") try loop br 0 end catch_all i32.const 1 call $note drop end))`,
    ],
    [
      "catch_all around a call that spends all",
      `${SPIN} (func $spin loop br 0 end) (func (export "run") loop try call $spin catch_all i32.const 1 call $note drop end br 0 end))`,
    ],
    [
      "catch_all around a host that empties the tank and throws",
      `${SPIN} (func (export "run") loop try call $stop catch_all i32.const 1 drop br 1 end end i32.const 1 call $note drop))`,
    ],
    ["the same, two frames above", `${SPIN} (func $a call $stop) (func (export "run") try call $a catch_all end))`],
    ["a throw that costs more than is left", `${SPIN} (func (export "run") loop try throw $t catch_all end br 0 end))`],
  ];
  const NEW_HANDLERS: readonly (readonly [what: string, text: string])[] = [
    [
      "catch_all of try_table that leaves the function",
      `${SPIN} (func (export "run") try_table (catch_all 0) call $stop end))`,
    ],
    [
      "catch_all_ref behind a block",
      `${SPIN} (func (export "run") (result i32) block $h (result exnref) try_table (catch_all_ref $h) call $stop end i32.const 5 return end drop i32.const 1 call $note))`,
    ],
    ["catch_all on a loop", `${SPIN} (func (export "run") loop $l try_table (catch_all $l) call $stop end end))`],
  ];

  function expectStopped({ refused, calls }: BurnReport): void {
    expect(refused).toBeUndefined();
    expect(calls[0]).toMatchObject({ ending: "trapped", notes: [] });
    expect(calls[0]!.used).toBeGreaterThan(100_000);
  }

  test.each(HANDLERS)("%s", async (_, text) => {
    expectStopped(burn([await order(text, { fuel: 100_000 })])[0]!);
  });

  describe.each(NEWER_NODES)("on Node $version", (node) => {
    const reason = reasonToSkip(node);
    let reports: BurnReport[] = [];
    const cases = [...HANDLERS, ...NEW_HANDLERS];
    beforeAll(async () => {
      if (reason !== undefined) return;
      reports = burnOn(node, await Promise.all(cases.map(([, text]) => order(text, { fuel: 100_000 }))));
    });
    test.skipIf(reason !== undefined).each(cases.map(([what], index) => [what, index] as const))("%s", (_, index) => {
      expectStopped(reports[index]!);
    });
  });
});

describe("the stack that an exception unwinds", () => {
  const DEEP = `(module (import "host" "note" (func $note (param i32) (result i32))) (tag $t)
    (func $deep (param i32) (param $throws i32)
      local.get 0 i32.eqz if local.get $throws if throw $t end i32.const 1 call $note drop return end
      local.get 0 i32.const 1 i32.sub local.get $throws call $deep)
    (func (export "run") (param i32 i32) try local.get 0 local.get 1 call $deep catch_all end))`;
  const DEPTH = 1_000;
  const { unwind } = SCHEDULE;

  test("is paid for, frame by frame, and only by what is unwound", async () => {
    const guest = await instantiate(DEEP, { imports: IMPORTS });
    const thrown = guest.call("run", DEPTH, 1).used;
    const less = guest.call("run", DEPTH - 1, 1).used;
    const returned = guest.call("run", DEPTH, 0).used;
    expect(thrown - less).toBe(unwind + 8 + 3 + 4);
    expect(thrown - returned).toBe((DEPTH + 1) * unwind + 10_000 - 1 - 150 - 1);
  });

  test("is paid for before: fuel that does not suffice to unwind it ends the recursion", async () => {
    const fuel = DEPTH * unwind;
    const guest = await instantiate(DEEP, { imports: IMPORTS, budget: { fuel } });
    expect(guest.call("run", DEPTH, 0).trapped).toBe(true);
    expect(guest.counters.fuel.value).toBeLessThan(0n);
    expect(guest.call("run", 0, 0).trapped).toBe(true);
    guest.counters.fuel.value = BigInt(fuel);
    expect(guest.call("run", DEPTH / 2, 0)).toMatchObject({ trapped: false });
    expect(guest.counters.fuel.value).toBeGreaterThan(BigInt(fuel - 20_000));
  });

  test("is held while a call is under way, and the host sees it", async () => {
    const seen: bigint[] = [];
    const guest = await instantiate(DEEP, { imports: { host: { note } }, budget: { fuel: 1_000_000 } });
    function note(): number {
      seen.push(guest.counters.fuel.value);
      return 0;
    }
    const { used } = guest.call("run", 2, 0);
    // Four calls are under way; a return of 1 is still to come.
    expect(1_000_000 - Number(seen[0])).toBe(used - 1 + 4 * unwind);
  });

  test("gives its slots back to the counter of depth, each time it is caught", async () => {
    const text = aroundThrowing(`loop try i32.const 5 call $deep catch_all end
      local.get $i i32.const 1 i32.add local.tee $i i32.const 100 i32.lt_u br_if 0 end`);
    const budget = { depth: 100 };
    const guest = await instantiate(text, { imports: IMPORTS, options: { callDepth: true }, budget });
    expect(guest.call("run").trapped).toBe(false);
    expect(guest.counters.depth.value).toBe(100n);
  });

  test("is free where no exceptions pass, byte for byte", async () => {
    const texts = [SAMPLE, ...CASES.map(([, body]) => around(body))];
    for (const text of texts) {
      const bytes = await assembleText(text);
      expect(meter(bytes, { schedule: { ...SCHEDULE, unwind: 0 } }).bytes).toEqual(meter(bytes).bytes);
    }
  });
});

describe("a module that exceptions pass through", () => {
  const text = (tag: string) => `(module (import "host" "fail" (func $fail)) ${tag}
    (func $low call $fail) (func (export "run") i32.const 1 drop call $low i32.const 1 drop))`;

  test("pays at every call what it owes, where it has a tag or the options say so", async () => {
    const imports = IMPORTS;
    const used = async (tag: string, unwinds = false) => {
      const guest = await instantiate(text(tag), { imports, options: { unwinds } });
      expect(guest.report.unwinds).toBe(unwinds || tag !== "");
      return guest.call("run").used;
    };
    expect(await used("(tag)")).toBe(159 + 2 * 6_000);
    expect(await used("", true)).toBe(159 + 2 * 6_000);
    // At entry it paid for what it never ran.
    expect(await used("")).toBe(160);
  });

  test("is metered for that beside one that has exceptions, and only then", async () => {
    const [catching, plain] = await Promise.all([text("(tag)"), text("")].map(assembleText));
    const options = { callDepth: true };
    const alone = meterTogether([plain!, plain!], options);
    expect(alone).toEqual([meter(plain!, options), meter(plain!, options)]);
    expect(meterTogether([plain!, catching!], options)).toEqual([
      meter(plain!, { ...options, unwinds: true }),
      meter(catching!, options),
    ]);
  });

  test("counts each function by how it is charged", async () => {
    const guest = await instantiate(aroundThrowing("try call $thrower catch_all end"), { imports: IMPORTS });
    expect(guest.report.functions).toMatchObject({ defined: 6, guarded: 1, free: 0 });
  });

  test("imports, defines and exports tags as before", async () => {
    const owner = await instantiate('(module (tag (export "t") (param i32)) (func (export "f") loop end))');
    const user = `(module (import "o" "t" (tag $t (param i32))) (export "t" (tag $t))
      (func (export "run") (result i32) try (result i32) i32.const 6 throw $t catch $t end))`;
    const guest = await instantiate(user, { imports: { o: { t: owner.exports["t"] } } });
    expect(guest.call("run")).toEqual({ result: 6, trapped: false, used: 10_001 });
    expect(guest.exports["t"]).toBe(owner.exports["t"]);
  });
});
