import { createHash } from "node:crypto";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHost, type Host, type Limits, parseManifest } from "../../index.ts";

/** Functions whose own work does not depend on how long their answer is. */
const GUEST = `(component
  (core module $m
    (memory (export "memory") 2)
    (func (export "answer") (param i32) (result i32)
      (i32.store (i32.const 16) (i32.const 1024)) (i32.store (i32.const 20) (local.get 0)) (i32.const 16))
    (func (export "one") (result i32) (i32.sub (i32.const 3) (i32.const 2)))
    (func (export "trap") unreachable))
  (core instance $m (instantiate $m))
  (func (export "text") (param "length" u32) (result string) (canon lift (core func $m "answer") (memory (core memory $m "memory"))))
  (func (export "bytes") (param "length" u32) (result (list u8)) (canon lift (core func $m "answer") (memory (core memory $m "memory"))))
  (func (export "words") (param "length" u32) (result (list u32)) (canon lift (core func $m "answer") (memory (core memory $m "memory"))))
  (func (export "one") (result u32) (canon lift (core func $m "one")))
  (func (export "trap") (canon lift (core func $m "trap"))))`;

let host: Host;

beforeAll(async () => {
  const component = await parse(GUEST);
  const sha256 = createHash("sha256").update(component).digest("hex");
  const manifest = { id: "test.lifting", version: "1.0.0", component: "component.wasm", sha256, imports: [] };
  host = await createHost({ threads: 1, compile: { spares: 0 } });
  await host.install({ manifest: parseManifest(JSON.stringify(manifest), "lifting"), component });
});
afterAll(() => host.close());

const run = (operation: string, input: unknown = {}, limits: Partial<Limits> = {}) =>
  host.run("test.lifting", input, { operation, limits }).outcome;

describe("what a guest answers with", () => {
  it.each([
    ["text", 1],
    ["bytes", 1],
    ["words", 4],
  ])("costs fuel and outputBytes by its bytes: %s", async (operation, size) => {
    const short = await run(operation, { length: 1_000 });
    const long = await run(operation, { length: 3_000 });
    expect([short.kind, long.kind]).toEqual(["succeeded", "succeeded"]);
    expect(long.usage.fuel - short.usage.fuel).toBe(2_000 * size);
    const outputBytes = 3_000 * size - 1;
    expect(await run(operation, { length: 3_000 }, { outputBytes })).toMatchObject({
      kind: "over-budget",
      limit: "outputBytes",
    });
    expect(await run(operation, { length: 3_000 }, { fuel: short.usage.fuel + 100 })).toMatchObject({
      kind: "out-of-fuel",
      phase: "lift",
    });
  });
});

describe("fuel", () => {
  it("that a guest owes when it returns ends the run out-of-fuel: a small function is not tested on its way", async () => {
    const { usage } = await run("one");
    expect(usage).toMatchObject({ fuelExact: true });
    expect(usage.fuel).toBeGreaterThan(1);
    expect(await run("one", {}, { fuel: usage.fuel })).toMatchObject({ kind: "succeeded", output: 1 });
    expect(await run("one", {}, { fuel: usage.fuel - 1 })).toMatchObject({ kind: "out-of-fuel", limit: "fuel" });
  });

  it("is a lower bound where a trap lost what was not stored yet", async () => {
    expect(await run("trap")).toMatchObject({ kind: "trapped", usage: { fuelExact: false } });
  });
});
