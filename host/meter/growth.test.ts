import { describe, expect, test } from "vitest";
import { createCounters, REFUSED } from "./meter.ts";
import { instantiate, PLENTY, wasm } from "./testing/guest.ts";

const MEMORY = `(module (memory (export "m") 1 100)
  (func (export "grow") (param i32) (result i32) local.get 0 memory.grow)
  (func (export "size") (result i32) memory.size)
  (func (export "fill") (param i32) i32.const 0 i32.const 0 local.get 0 memory.fill)
  (func (export "copy") (param i32) i32.const 0 i32.const 0 local.get 0 memory.copy))`;

const TABLES = `(module (table $a 1 50 funcref) (table $b 2 externref)
  (func (export "growA") (param i32) (result i32) ref.null func local.get 0 table.grow $a)
  (func (export "growB") (param externref i32) (result i32) local.get 0 local.get 1 table.grow $b)
  (func (export "getB") (param i32) (result externref) local.get 0 table.get $b)
  (func (export "fill") (param i32) i32.const 0 ref.null extern local.get 0 table.fill $b))`;

describe("memory.grow", () => {
  test("takes the pages it got from the counter, and answers the old size", async () => {
    const guest = await instantiate(MEMORY, { budget: { pages: 10 } });
    expect(guest.call("grow", 4)).toEqual({ result: 1, trapped: false, used: 1 + 50_000 + 4 * 16_384 });
    expect(guest.call("grow", 0).result).toBe(5);
    expect([guest.counters.pages.value, guest.counters.refused.value]).toEqual([6n, REFUSED.none]);
  });

  test("past the pages left answers -1, is flagged as ours, and takes no pages", async () => {
    const guest = await instantiate(MEMORY, { budget: { pages: 10 } });
    expect(guest.call("grow", 11)).toMatchObject({ result: -1, trapped: false });
    expect([guest.counters.pages.value, guest.counters.refused.value]).toEqual([10n, REFUSED.memory]);
    expect(guest.call("grow", 10).result).toBe(1);
    expect(guest.call("size").result).toBe(11);
  });

  test("past the module's own maximum answers -1 and is not flagged", async () => {
    const guest = await instantiate(MEMORY, { budget: { pages: 1_000 } });
    expect(guest.call("grow", 100).result).toBe(-1);
    expect([guest.counters.pages.value, guest.counters.refused.value]).toEqual([1_000n, REFUSED.none]);
    const poor = await instantiate(MEMORY, { budget: { pages: 10 } });
    expect(poor.call("grow", 100).result).toBe(-1);
    expect(poor.counters.refused.value).toBe(REFUSED.none);
  });

  test("past the clamp answers -1 and is flagged as ours", async () => {
    const guest = await instantiate(MEMORY, { options: { memoryMaxPages: 20 } });
    expect(guest.call("grow", 20).result).toBe(-1);
    expect(guest.counters.refused.value).toBe(REFUSED.memory);
    expect(guest.report.memory).toEqual([{ imported: false, initialPages: 1, maximumPages: 20 }]);
  });

  test("traps at our limit where the options ask for it", async () => {
    const guest = await instantiate(MEMORY, { options: { trapOnRefusedGrowth: true }, budget: { pages: 3 } });
    expect(guest.call("grow", 4).trapped).toBe(true);
    expect(guest.counters.refused.value).toBe(REFUSED.memory);
    expect(guest.counters.fuel.value).toBeGreaterThan(0n);
  });

  test("traps at the module's own maximum as well where the options ask for it, and says whose it was", async () => {
    const options = { trapOnRefusedGrowth: true };
    const rich = await instantiate(MEMORY, { options, budget: { pages: 1_000 } });
    expect(rich.call("grow", 99).result).toBe(1);
    expect(rich.call("grow", 1).trapped).toBe(true);
    expect(rich.counters.refused.value).toBe(REFUSED.own);
    const poor = await instantiate(MEMORY, { options, budget: { pages: 10 } });
    expect(poor.call("grow", 100).trapped).toBe(true);
    expect([poor.counters.pages.value, poor.counters.refused.value]).toEqual([10n, REFUSED.own]);
  });

  test("that traps at our limit does so before it is paid for, however much is asked for", async () => {
    const text = `(module (memory 1)
      (func (export "grow") (param i32) (result i32) local.get 0 memory.grow))`;
    for (const asked of [4, 1_000, 65_536, -1]) {
      const options = { trapOnRefusedGrowth: true };
      const guest = await instantiate(text, { options, budget: { pages: 3, fuel: 60_000 } });
      expect(guest.call("grow", asked).trapped, String(asked)).toBe(true);
      expect(guest.counters.refused.value, String(asked)).toBe(REFUSED.memory);
      expect(guest.counters.fuel.value > 0n, String(asked)).toBe(true);
      expect(guest.call("grow", 1).trapped).toBe(true);
      expect(guest.counters.fuel.value < 0n).toBe(true);
    }
  });

  test("of a memory of another module traps too where the options ask for it", async () => {
    const memory = new wasm.Memory({ initial: 1, maximum: 2 });
    const text = `(module (memory (import "o" "m") 1)
      (func (export "grow") (param i32) (result i32) local.get 0 memory.grow))`;
    const guest = await instantiate(text, { options: { trapOnRefusedGrowth: true }, imports: { o: { m: memory } } });
    expect(guest.call("grow", 1).result).toBe(1);
    expect(guest.call("grow", 1).trapped).toBe(true);
    expect(guest.counters.refused.value).toBe(REFUSED.own);
  });

  test("of an absurd number of pages is priced as such, unsigned", async () => {
    const guest = await instantiate(MEMORY);
    expect(guest.call("grow", -1)).toEqual({ trapped: true, used: 1 + 50_000 + 0xffff_ffff * 16_384 });
    expect(guest.call("size").result).toBe(1);
  });

  test("is charged before it happens", async () => {
    const guest = await instantiate(MEMORY, { budget: { fuel: 60_000 } });
    expect(guest.call("grow", 1).trapped).toBe(true);
    expect((guest.exports["m"] as { buffer: ArrayBuffer }).buffer.byteLength).toBe(65_536);
    expect(guest.counters.pages.value).toBe(1_000n);
  });
});

describe("table.grow", () => {
  test("takes elements from the counter and keeps its operand, for either type of element", async () => {
    const guest = await instantiate(TABLES, { budget: { elements: 10 } });
    const thing = { it: 1 };
    expect(guest.call("growA", 3)).toEqual({ result: 1, trapped: false, used: 2 + 5_000 + 384 });
    expect(guest.call("growB", thing, 2)).toMatchObject({ result: 2 });
    expect(guest.call("getB", 3).result).toBe(thing);
    expect([guest.counters.elements.value, guest.counters.refused.value]).toEqual([5n, REFUSED.none]);
  });

  test("past the elements left answers -1 and is flagged; past its own maximum it is not", async () => {
    const guest = await instantiate(TABLES, { budget: { elements: 10 } });
    expect(guest.call("growA", 60).result).toBe(-1);
    expect(guest.counters.refused.value).toBe(REFUSED.none);
    expect(guest.call("growA", 11).result).toBe(-1);
    expect([guest.counters.elements.value, guest.counters.refused.value]).toEqual([10n, REFUSED.table]);
  });

  test("traps at either limit where the options ask for it", async () => {
    const options = { trapOnRefusedGrowth: true };
    const ours = await instantiate(TABLES, { options, budget: { elements: 10 } });
    expect(ours.call("growA", 11).trapped).toBe(true);
    expect([ours.counters.elements.value, ours.counters.refused.value]).toEqual([10n, REFUSED.table]);
    const own = await instantiate(TABLES, { options, budget: { elements: 100 } });
    expect(own.call("growA", 49).result).toBe(1);
    expect(own.call("growA", 1).trapped).toBe(true);
    expect(own.counters.refused.value).toBe(REFUSED.own);
  });

  test("of an absurd number of elements is priced as such, unsigned", async () => {
    const guest = await instantiate(TABLES);
    expect(guest.call("growB", null, -1)).toEqual({ trapped: true, used: 2 + 5_000 + 0xffff_ffff * 128 });
  });
});

describe("bulk operations", () => {
  test("of 4 GiB are never a negative charge", async () => {
    const memory = await instantiate(MEMORY);
    const tables = await instantiate(TABLES);
    expect(memory.call("fill", -1)).toEqual({ trapped: true, used: 3 + 64 + 0xffff_ffff });
    expect(memory.call("copy", 0x8000_0000)).toEqual({ trapped: true, used: 3 + 64 + 0x8000_0000 });
    expect(tables.call("fill", -1)).toEqual({ trapped: true, used: 3 + 64 + 0xffff_ffff * 128 });
  });

  test("out of bounds are charged, trap, and leave the counter positive when it suffices", async () => {
    const guest = await instantiate(MEMORY);
    expect(guest.call("fill", 100_000)).toEqual({ trapped: true, used: 3 + 64 + 100_000 });
    expect(guest.counters.fuel.value).toBeGreaterThan(0n);
  });

  test("within a cached function use the counter and leave the local right", async () => {
    const text = `(module (memory 2) (func (export "run") (param i32)
      loop i32.const 0 i32.const 1 i32.const 1000 memory.fill
      local.get 0 i32.const 1 i32.sub local.tee 0 br_if 0 end))`;
    expect((await instantiate(text)).call("run", 7).used).toBe(7 * (3 + 1_064 + 5));
  });
});

describe("counters", () => {
  test("are shared by the modules that are given them", async () => {
    const counters = createCounters({ fuel: 1_000_000, pages: 10, elements: 8 });
    const first = await instantiate(MEMORY, { counters });
    const second = await instantiate(MEMORY, { counters });
    expect(first.call("grow", 6).result).toBe(1);
    expect(second.call("grow", 6).result).toBe(-1);
    expect(second.call("grow", 4).result).toBe(1);
    expect(counters.pages.value).toBe(0n);
    counters.fuel.value = 80n;
    first.call("fill", 10);
    expect(second.call("fill", 10).trapped).toBe(true);
  });

  test("of pages hold for a memory that another module exports", async () => {
    const counters = createCounters({ ...PLENTY, pages: 5 });
    const owner = await instantiate(MEMORY, { counters });
    const user = `(module (memory (import "o" "m") 1 100)
      (func (export "grow") (param i32) (result i32) local.get 0 memory.grow))`;
    const guest = await instantiate(user, { counters, imports: { o: { m: owner.exports["m"] } } });
    expect(guest.call("grow", 5).result).toBe(1);
    expect(owner.call("grow", 1).result).toBe(-1);
    expect(counters.refused.value).toBe(REFUSED.memory);
  });

  test("are imported only where they are needed", async () => {
    const names = async (text: string) => (await instantiate(text)).report.imports.map(({ name }) => name);
    expect(await names("(module (memory 1) (table 1 funcref))")).toEqual([]);
    expect(await names("(module (func))")).toEqual([]);
    expect(await names('(module (memory 1) (func (export "f") (drop (memory.size))))')).toEqual(["fuel"]);
    expect(await names(MEMORY)).toEqual(["fuel", "pages", "refused"]);
    expect(await names(TABLES)).toEqual(["fuel", "elements", "refused"]);
  });
});

describe("importMemory", () => {
  const text = `(module (import "host" "note" (func $note)) (memory (export "m") 2 9)
    (data (i32.const 70000) "hello") (global $g (mut i32) (i32.const 3))
    (func (export "run") (result i32) i32.const 70001 i32.load8_u)
    (func (export "grow") (param i32) (result i32) local.get 0 memory.grow))`;
  const imports = { host: { note: () => {} } };

  test("takes the memory from the host, with its data, exports and growth", async () => {
    const memory = new wasm.Memory({ initial: 2, maximum: 9 });
    const guest = await instantiate(text, { options: { importMemory: true }, imports, memory });
    expect(guest.report.imports.at(-1)).toEqual({
      module: "$airlock",
      name: "memory",
      kind: "memory",
      initialPages: 2,
      maximumPages: 9,
    });
    expect(guest.report.memory).toEqual([{ imported: false, initialPages: 2, maximumPages: 9 }]);
    expect(guest.call("run").result).toBe("e".charCodeAt(0));
    expect(guest.exports["m"]).toBe(memory);
    expect(guest.call("grow", 3).result).toBe(2);
    expect(guest.call("grow", 8).result).toBe(-1);
    expect(memory.buffer.byteLength).toBe(5 * 65_536);
  });

  test("burns the same fuel", async () => {
    const memory = new wasm.Memory({ initial: 2, maximum: 9 });
    const imported = await instantiate(text, { options: { importMemory: true }, imports, memory });
    const own = await instantiate(text, { imports });
    for (const guest of [imported, own]) expect(guest.call("run").used).toBe(3);
    expect(imported.report.scheduleId).toBe(own.report.scheduleId);
  });

  test("leaves a module that imports its memory, or has none, as it is", async () => {
    const options = { importMemory: true };
    const memory = new wasm.Memory({ initial: 1, maximum: 2 });
    const guest = await instantiate('(module (memory (import "o" "m") 1 2))', {
      options,
      imports: { o: { m: memory } },
    });
    expect(guest.report).toMatchObject({
      imports: [],
      memory: [{ imported: true, initialPages: 1, maximumPages: 2 }],
    });
    expect((await instantiate("(module)", { options })).report.imports).toEqual([]);
  });
});
