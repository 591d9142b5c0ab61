import { createHash } from "node:crypto";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHost, type Host, type Outcome, type PackageInMemory } from "../../index.ts";
import { parseManifest } from "../../manifest/manifest.ts";
import { answeringDesk, workbench } from "./workbench.ts";

/** A component around core definitions; its `run` takes a number and gives one. */
async function guest(id: string, core: string): Promise<PackageInMemory> {
  const component = await parse(`(component
    (core module $m ${core}) (core instance $m (instantiate $m))
    (func (export "run") (param "x" u32) (result u32) (canon lift (core func $m "run"))))`);
  return packaged(id, component);
}

function packaged(id: string, component: Uint8Array, imports: readonly string[] = []): PackageInMemory {
  const sha256 = createHash("sha256").update(component).digest("hex");
  const manifest = { id, version: "1.0.0", component: "component.wasm", sha256, imports };
  return { manifest: parseManifest(JSON.stringify(manifest), id), component };
}

const COUNT = "(i32.store (i32.const 64) (i32.add (i32.load (i32.const 64)) (i32.const 1))) (i32.load (i32.const 64))";

/** What a reset would not undo. Each gives another number in a second run on the same instance. */
const VIOLATIONS: readonly (readonly [what: string, core: string])[] = [
  [
    "table.set",
    `(table 1 funcref) (elem declare func $f) (func $f)
     (func (export "run") (param i32) (result i32) (ref.is_null (table.get (i32.const 0)))
       (table.set (i32.const 0) (ref.func $f)))`,
  ],
  [
    "table.grow",
    `(table 1 9 funcref) (func (export "run") (param i32) (result i32)
       (drop (table.grow (ref.null func) (i32.const 1))) (table.size))`,
  ],
  [
    "table.fill",
    `(table 1 funcref) (elem declare func $f) (func $f)
     (func (export "run") (param i32) (result i32) (ref.is_null (table.get (i32.const 0)))
       (table.fill (i32.const 0) (ref.func $f) (i32.const 1)))`,
  ],
  [
    "table.copy",
    `(table 2 funcref) (elem (i32.const 1) func $f) (func $f)
     (func (export "run") (param i32) (result i32) (ref.is_null (table.get (i32.const 0)))
       (table.copy (i32.const 0) (i32.const 1) (i32.const 1)))`,
  ],
  [
    "table.init",
    `(table 1 funcref) (elem $e func $f) (func $f)
     (func (export "run") (param i32) (result i32) (ref.is_null (table.get (i32.const 0)))
       (table.init $e (i32.const 0) (i32.const 0) (i32.const 1)))`,
  ],
  [
    "a mutable global of a reference",
    `(global $g (mut funcref) (ref.null func)) (elem declare func $f) (func $f)
     (func (export "run") (param i32) (result i32) (ref.is_null (global.get $g)) (global.set $g (ref.func $f)))`,
  ],
  [
    "a mutable global of a float",
    `(global $g (mut f64) (f64.const 0))
     (func (export "run") (param i32) (result i32)
       (global.set $g (f64.add (global.get $g) (f64.const 1))) (i32.trunc_f64_u (global.get $g)))`,
  ],
  [
    "a mutable global of a vector",
    `(global $g (mut v128) (v128.const i64x2 0 0))
     (func (export "run") (param i32) (result i32)
       (global.set $g (i32x4.add (global.get $g) (v128.const i32x4 1 1 1 1))) (i32x4.extract_lane 0 (global.get $g)))`,
  ],
  [
    "growth of its memory in the call",
    `(memory 1 9) (func (export "run") (param i32) (result i32)
       (drop (memory.grow (i32.const 1))) (memory.size))`,
  ],
  ["more memory than is worth putting back", `(memory 257) (func (export "run") (param i32) (result i32) ${COUNT})`],
  [
    "exceptions",
    `(memory 1) (tag $t) (func (export "run") (param i32) (result i32) try throw $t catch $t end ${COUNT})`,
  ],
];

/** These a second run would trap on, as the segment is gone. */
const DROPS: readonly (readonly [what: string, core: string])[] = [
  [
    "data.drop and memory.init",
    `(memory 1) (data $d "a") (func (export "run") (param i32) (result i32)
       (memory.init $d (i32.const 0) (i32.const 0) (i32.const 1)) (data.drop $d) (i32.load8_u (i32.const 0)))`,
  ],
  [
    "elem.drop",
    `(table 1 funcref) (elem $e func $f) (func $f) (func (export "run") (param i32) (result i32)
       (table.init $e (i32.const 0) (i32.const 0) (i32.const 1)) (elem.drop $e) (table.size))`,
  ],
];

describe("tier reset", () => {
  let host: Host;
  let fresh: Host;

  beforeAll(async () => {
    // One thread each, so that every run meets what the one before has left.
    const options = { threads: 1, imports: answeringDesk };
    host = await createHost(options);
    fresh = await createHost({ ...options, tier: "fresh" });
    for (const each of [host, fresh]) await each.install(await workbench());
  });
  afterAll(() => Promise.all([host.close(), fresh.close()]));

  const run = (id: string, input: unknown, options = {}) => host.run(id, input, options).outcome;
  const tierOf = ({ evidence }: Outcome): string | undefined => evidence?.tier;

  it("serves run after run with one instance, which each of them finds as new", async () => {
    const outcomes = [];
    for (let left = 5; left > 0; left--) outcomes.push(await run("test.workbench", {}, { operation: "visits" }));
    expect(outcomes.map((each) => each.kind === "succeeded" && each.output)).toEqual([101, 101, 101, 101, 101]);
    expect(outcomes.map(tierOf).slice(1)).toEqual(["reset", "reset", "reset", "reset"]);
  });

  it.each([...VIOLATIONS, ...DROPS])("falls back for %s, and nothing shows in the next run", async (what, core) => {
    const id = `test.${createHash("sha256").update(what).digest("hex").slice(0, 8)}`;
    for (const each of [host, fresh]) await each.install(await guest(id, core));
    const wanted = await fresh.run(id, { x: 1 }).outcome;
    expect(wanted.kind).toBe("succeeded");
    for (let left = 3; left > 0; left--) {
      const outcome = await run(id, { x: 1 });
      expect(tierOf(outcome)).toBe("recycled");
      expect(essence(outcome)).toEqual(essence(wanted));
    }
  });

  it("falls back for an import that is called during instantiation", async () => {
    const component = await parse(`(component
      (import "airlock:capability/context@1.0.0" (instance $context (export "fuel-left" (func (result u64)))))
      (core func $left (canon lower (func $context "fuel-left")))
      (core module $m (import "c" "left" (func $left (result i64))) (memory 1) (start $s)
        (func $s (i64.store (i32.const 0) (call $left)))
        (func (export "run") (param i32) (result i32) ${COUNT}))
      (core instance $m (instantiate $m (with "c" (instance (export "left" (func $left))))))
      (func (export "run") (param "x" u32) (result u32) (canon lift (core func $m "run"))))`);
    await host.install(packaged("test.start", component, ["airlock:capability/context@1.0.0"]));
    for (let left = 3; left > 0; left--) {
      const outcome = await run("test.start", { x: 1 });
      expect(outcome).toMatchObject({ kind: "succeeded", output: 1, evidence: { tier: "recycled" } });
    }
  });

  it("falls back for an import whose answers depend on those before", async () => {
    const component = await parse(`(component
      (import "wasi:random/random@0.2.0" (instance $random (export "get-random-u64" (func (result u64)))))
      (core func $next (canon lower (func $random "get-random-u64")))
      (core module $m (import "r" "next" (func $next (result i64)))
        (func (export "run") (param i32) (result i32) (i32.wrap_i64 (call $next))))
      (core instance $m (instantiate $m (with "r" (instance (export "next" (func $next))))))
      (func (export "run") (param "x" u32) (result u32) (canon lift (core func $m "run"))))`);
    for (const each of [host, fresh])
      await each.install(packaged("test.random", component, ["wasi:random/random@0.2.0"]));
    const wanted = await fresh.run("test.random", { x: 1 }).outcome;
    for (let left = 3; left > 0; left--) {
      const outcome = await run("test.random", { x: 1 });
      expect(outcome).toMatchObject({ kind: "succeeded", evidence: { tier: "recycled" } });
      expect(essence(outcome)).toEqual(essence(wanted));
    }
  });

  it("falls back for a module that is instantiated twice", async () => {
    const component = await parse(`(component
      (core module $m (memory 1) (func (export "run") (param i32) (result i32) ${COUNT}))
      (core instance $a (instantiate $m)) (core instance $b (instantiate $m))
      (func (export "run") (param "x" u32) (result u32) (canon lift (core func $b "run"))))`);
    await host.install(packaged("test.twice", component));
    for (let left = 3; left > 0; left--)
      expect(await run("test.twice", { x: 1 })).toMatchObject({ output: 1, evidence: { tier: "recycled" } });
  });

  it.each([
    ["trap", { operation: "trap" }],
    ["out-of-fuel", { operation: "spin", limits: { fuel: 10_000 } }],
    ["past-deadline", { operation: "spin", limits: { fuel: 50_000_000_000, wallMs: 500 } }],
    ["a host function that fails", { operation: "ask", input: { question: "throw" } }],
  ])(
    "never keeps an instance after %s",
    async (_, { input = {}, ...options }: { input?: object; operation: string }) => {
      await run("test.workbench", {}, { operation: "visits" });
      expect((await run("test.workbench", input, options)).kind).not.toBe("succeeded");
      const next = await run("test.workbench", {}, { operation: "visits" });
      expect(next).toMatchObject({ output: 101, evidence: { tier: "recycled" } });
      expect(tierOf(await run("test.workbench", {}, { operation: "visits" }))).toBe("reset");
    },
  );

  it("holds the limits of each run for an instance that is there already", async () => {
    for (const each of [host, fresh])
      await each.install(
        await guest("test.large", `(memory 2) (func (export "run") (param i32) (result i32) ${COUNT})`),
      );
    for (const tier of ["recycled", "reset"]) expect(tierOf(await run("test.large", { x: 1 }))).toBe(tier);
    const limits = { memoryBytes: 65_536 };
    const [here, there] = await Promise.all(
      [host, fresh].map((each) => each.run("test.large", { x: 1 }, { limits }).outcome),
    );
    expect(here).toMatchObject({ kind: "out-of-memory", phase: "setup", limit: "memoryBytes" });
    expect(essence(here!)).toEqual(essence(there!));
    const grow = { operation: "grow", limits: { memoryBytes: 2 * 65_536 } };
    expect(await run("test.workbench", { pages: 1 }, grow)).toMatchObject({ output: 1 });
    expect(await run("test.workbench", { pages: 2 }, grow)).toMatchObject({ output: -1 });
  });

  it.each([
    ["makes no growth of instantiation look refused, or granted, as it was for another", 9, 2 * 65_536, undefined],
    ["makes no growth of instantiation look granted, or refused, as it was for another", 10, undefined, 2 * 65_536],
  ])("%s", async (_, most, before, after) => {
    const id = `test.grows-${most}`;
    const core = `(memory 1 ${most}) (start $s) (func $s (drop (memory.grow (i32.const 3))))
      (func (export "run") (param i32) (result i32) (if (local.get 0) (then unreachable)) (memory.size))`;
    for (const each of [host, fresh]) await each.install(await guest(id, core));
    for (const memoryBytes of [before, before, after, after]) {
      const options = memoryBytes === undefined ? {} : { limits: { memoryBytes } };
      for (const x of [0, 1]) {
        const wanted = await fresh.run(id, { x }, options).outcome;
        expect(essence(await run(id, { x }, options))).toEqual(essence(wanted));
      }
    }
  });

  it("serves no run whose limits instantiation would not have met", async () => {
    const core = `(start $s) (func $down (param i32)
        (if (local.get 0) (then (call $down (i32.sub (local.get 0) (i32.const 1))))))
      (func $s (call $down (i32.const 50))) (func (export "run") (param i32) (result i32) (i32.const 1))`;
    const limited = await createHost({ threads: 1, limits: { defaults: { callDepth: 1_000 } } });
    try {
      await limited.install(await guest("test.deep-start", core));
      const tiers = [];
      for (let left = 2; left > 0; left--) tiers.push(tierOf(await limited.run("test.deep-start", { x: 1 }).outcome));
      expect(tiers).toEqual(["recycled", "reset"]);
      const outcome = await limited.run("test.deep-start", { x: 1 }, { limits: { callDepth: 20 } }).outcome;
      expect(outcome).toMatchObject({ kind: "out-of-stack", phase: "setup", limit: "callDepth" });
    } finally {
      await limited.close();
    }
  });

  it("handles of a component that never drops any are gone with the run", async () => {
    // `x` other than 0 makes a resource of it and gives its handle; 0 looks at handle 1, which a run before may have made.
    const component = await parse(`(component
      (component $maker
        (type $thing (resource (rep i32)))
        (core func $new (canon resource.new $thing))
        (core module $m
          (import "t" "new" (func $new (param i32) (result i32)))
          (func (export "make") (param i32) (result i32) (call $new (local.get 0)))
          (func (export "peek") (param i32) (result i32) (local.get 0)))
        (core instance $m (instantiate $m (with "t" (instance (export "new" (func $new))))))
        (export $thing' "thing" (type $thing))
        (func (export "make") (param "rep" u32) (result (own $thing')) (canon lift (core func $m "make")))
        (func (export "peek") (param "it" (borrow $thing')) (result u32) (canon lift (core func $m "peek"))))
      (instance $made (instantiate $maker))
      (component $user
        (import "made" (instance $made
          (export "thing" (type $thing (sub resource)))
          (export "make" (func (param "rep" u32) (result (own $thing))))
          (export "peek" (func (param "it" (borrow $thing)) (result u32)))))
        (core func $make (canon lower (func $made "make"))) (core func $peek (canon lower (func $made "peek")))
        (core module $m
          (import "t" "make" (func $make (param i32) (result i32)))
          (import "t" "peek" (func $peek (param i32) (result i32)))
          (func (export "run") (param i32) (result i32)
            (if (result i32) (local.get 0) (then (call $make (local.get 0))) (else (call $peek (i32.const 1))))))
        (core instance $m (instantiate $m (with "t" (instance (export "make" (func $make)) (export "peek" (func $peek))))))
        (func (export "run") (param "x" u32) (result u32) (canon lift (core func $m "run"))))
      (instance $used (instantiate $user (with "made" (instance $made))))
      (alias export $used "run" (func $run)) (export "run" (func $run)))`);
    await host.install(packaged("test.handles", component));
    for (const tier of ["recycled", "reset", "reset"])
      expect(await run("test.handles", { x: 0x5ec2e7 })).toMatchObject({ output: 1, evidence: { tier } });
    expect(await run("test.handles", { x: 0 })).toMatchObject({ kind: "trapped", evidence: { tier: "reset" } });
  });

  it("handles that instantiation opens are there again and count for every run", async () => {
    const component = await parse(`(component
      (type $r (resource (rep i32)))
      (core func $new (canon resource.new $r)) (core func $rep (canon resource.rep $r)) (core func $drop (canon resource.drop $r))
      (core module $m
        (import "r" "new" (func $new (param i32) (result i32))) (import "r" "rep" (func $rep (param i32) (result i32)))
        (import "r" "drop" (func $drop (param i32))) (start $s)
        (func $s (drop (call $new (i32.const 40))))
        (func (export "run") (param i32) (result i32) (local $sum i32)
          (local.set $sum (i32.add (call $rep (i32.const 1)) (call $new (local.get 0))))
          (if (local.get 0) (then (drop (call $new (i32.const 7)))))
          (call $drop (i32.const 1))
          (local.get $sum)))
      (core instance $m (instantiate $m (with "r"
        (instance (export "new" (func $new)) (export "rep" (func $rep)) (export "drop" (func $drop))))))
      (func (export "run") (param "x" u32) (result u32) (canon lift (core func $m "run"))))`);
    await host.install(packaged("test.open", component));
    const limits = { handles: 2 };
    for (const tier of ["recycled", "reset", "reset"])
      expect(await run("test.open", { x: 0 }, { limits })).toMatchObject({ output: 42, evidence: { tier } });
    expect(await run("test.open", { x: 1 }, { limits })).toMatchObject({
      kind: "over-budget",
      limit: "handles",
      evidence: { tier: "reset" },
    });
  });

  it("a secret that a run has planted is nowhere in the next one", async () => {
    const secret = 0x5ec2e7;
    // `x` other than 0 is planted; with 0 all that there is is searched, and what is found is counted.
    const core = `(memory 2) (global $small (mut i32) (i32.const 0)) (global $large (mut i64) (i64.const 0))
      (data (i32.const 128) "data of the module")
      (func (export "run") (param i32) (result i32) (local $at i32) (local $found i32)
        (if (local.get 0) (then
          (global.set $small (local.get 0)) (global.set $large (i64.extend_i32_u (local.get 0)))
          (loop $plant
            (i32.store (local.get $at) (local.get 0))
            (local.set $at (i32.add (local.get $at) (i32.const 4)))
            (br_if $plant (i32.lt_u (local.get $at) (i32.const 131072))))
          (return (i32.const 0))))
        (local.set $found (i32.add (i32.eq (global.get $small) (i32.const ${secret}))
          (i64.eq (global.get $large) (i64.const ${secret}))))
        (loop $search
          (local.set $found (i32.add (local.get $found) (i32.eq (i32.load (local.get $at)) (i32.const ${secret}))))
          (local.set $at (i32.add (local.get $at) (i32.const 4)))
          (br_if $search (i32.lt_u (local.get $at) (i32.const 131072))))
        ;; The module's own data is back.
        (i32.add (local.get $found) (i32.ne (i32.load8_u (i32.const 128)) (i32.const 100))))`;
    await host.install(await guest("test.secret", core));
    for (let left = 3; left > 0; left--) {
      expect(await run("test.secret", { x: secret })).toMatchObject({ kind: "succeeded" });
      expect(await run("test.secret", { x: 0 })).toMatchObject({ output: 0, evidence: { tier: "reset" } });
    }
  });

  it("whatever ran before, a run gives and burns what it does on an instance of its own", async () => {
    const calls = fc.oneof(
      fc.constant({ operation: "visits", input: {} }),
      fc.constant({ operation: "trap", input: {} }),
      fc.nat(3).map((pages) => ({ operation: "grow", input: { pages } })),
      fc.nat(50).map((rounds) => ({ operation: "burn", input: { rounds: rounds + 1 } })),
      fc.string({ maxLength: 30 }).map((text) => ({ operation: "echo", input: { text } })),
      fc.constantFrom("Ada", "throw", "wrong").map((question) => ({ operation: "ask", input: { question } })),
      fc.constant({ operation: "spin", input: {}, limits: { fuel: 5_000 } }),
      fc.constant({ operation: "grow", input: { pages: 1 }, limits: { memoryBytes: 65_536 } }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(calls, { minLength: 2, maxLength: 8 }), async (sequence) => {
        for (const { input, ...options } of sequence) {
          const here = await run("test.workbench", input, options);
          const there = await fresh.run("test.workbench", input, options).outcome;
          expect(essence(here)).toEqual(essence(there));
        }
      }),
      { numRuns: 40 },
    );
  });
});

/** What may not differ from one tier to another. */
function essence(outcome: Outcome): unknown {
  const { runId: _, evidence: __, usage, ...rest } = outcome;
  const { fuel, setupFuel, hostCalls, peakMemoryBytes } = usage;
  return { ...rest, usage: { fuel, setupFuel, hostCalls, peakMemoryBytes } };
}
