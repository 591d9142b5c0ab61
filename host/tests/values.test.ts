import { createHash } from "node:crypto";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHost, type Host } from "../index.ts";
import { parseManifest } from "../manifest/manifest.ts";

/** Types with a name of their own, as WIT has them, each with the one function that takes and gives it. */
const NAMED = [
  { func: "move", type: "point", text: '(record (field "x-pos" s32) (field "mark" (option u32)))', core: "move" },
  {
    func: "draw",
    type: "shape",
    text: '(variant (case "circle" f64) (case "nothing") (case "sides" u32))',
    core: "draw",
  },
  { func: "paint", type: "colour", text: '(enum "dark-red" "blue")', core: "same" },
  { func: "grant", type: "rights", text: '(flags "can-read" "can-write" "can-list")', core: "same" },
];

/** A component exports a named type only from an instance, and an instance gets it only out of a component around it. */
const INSTANCE = `
  ${NAMED.map(({ type, text }) => `(type $${type} ${text})`).join("\n  ")}
  ${NAMED.map(
    ({ func, type, core }) =>
      `(func $${func} (param "${type}" $${type}) (result $${type}) (canon lift (core func $i "${core}") (memory $memory)))`,
  ).join("\n  ")}
  (component $shapes
    ${NAMED.map(
      ({ func, type, text }) => `(type $${type}-in ${text})
    (import "${type}-type" (type $${type} (eq $${type}-in)))
    (import "${func}" (func $${func} (param "${type}" $${type}) (result $${type})))
    (export $${type}-out "${type}" (type $${type}))
    (export "${func}" (func $${func}) (func (param "${type}" $${type}-out) (result $${type}-out)))`,
    ).join("\n    ")})
  (instance $shapes (instantiate $shapes
    ${NAMED.map(({ func, type }) => `(with "${type}-type" (type $${type})) (with "${func}" (func $${func}))`).join("\n    ")}))
  (export "test:values/shapes@1.0.0" (instance $shapes))`;

/** Gives back what it gets, of each kind of type; bytes and numbers come back one larger, to show that they were there. */
const COMPONENT = `(component
  (core module $m
    (memory (export "memory") 4)
    (global $top (mut i32) (i32.const 4096))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (local $at i32)
      (local.set $at (i32.and (i32.add (global.get $top) (i32.const 7)) (i32.const -8)))
      (global.set $top (i32.add (local.get $at) (local.get 3)))
      (local.get $at))
    (func $pair (param i32 i32) (result i32)
      (i32.store (i32.const 8) (local.get 0)) (i32.store (i32.const 12) (local.get 1)) (i32.const 8))
    (func (export "text") (param i32 i32) (result i32) (call $pair (local.get 0) (local.get 1)))
    (func (export "bytes") (param i32 i32) (result i32) (local $i i32)
      (block $done (loop $next
        (br_if $done (i32.ge_u (local.get $i) (local.get 1)))
        (i32.store8 (i32.add (local.get 0) (local.get $i))
          (i32.add (i32.load8_u (i32.add (local.get 0) (local.get $i))) (i32.const 1)))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $next)))
      (call $pair (local.get 0) (local.get 1)))
    (func (export "longs") (param i32 i32) (result i32) (call $pair (local.get 0) (local.get 1)))
    (func (export "next") (param i64) (result i64) (i64.add (local.get 0) (i64.const 1)))
    (func (export "root") (param f64) (result f64) (f64.sqrt (local.get 0)))
    (func (export "same") (param i32) (result i32) (local.get 0))
    (func (export "move") (param i32 i32 i32) (result i32)
      (i32.store (i32.const 8) (local.get 0)) (i32.store8 (i32.const 12) (local.get 1))
      (i32.store (i32.const 16) (local.get 2)) (i32.const 8))
    (func (export "draw") (param i32 i64) (result i32)
      (i32.store8 (i32.const 8) (local.get 0)) (i64.store (i32.const 16) (local.get 1)) (i32.const 8)))
  (core instance $i (instantiate $m))
  (alias core export $i "memory" (core memory $memory))
  (alias core export $i "realloc" (core func $realloc))
  ${INSTANCE}
  (func (export "text") (param "text" string) (result string)
    (canon lift (core func $i "text") (memory $memory) (realloc $realloc)))
  (func (export "bytes") (param "bytes" (list u8)) (result (list u8))
    (canon lift (core func $i "bytes") (memory $memory) (realloc $realloc)))
  (func (export "longs") (param "longs" (list s64)) (result (list s64))
    (canon lift (core func $i "longs") (memory $memory) (realloc $realloc)))
  (func (export "next") (param "number" u64) (result u64) (canon lift (core func $i "next")))
  (func (export "root") (param "of" f64) (result f64) (canon lift (core func $i "root"))))`;

const ID = "test.values";

describe("values of a component's own functions", () => {
  let host: Host;

  beforeAll(async () => {
    const component = await parse(COMPONENT);
    const manifest = {
      id: ID,
      version: "1.0.0",
      artifactType: "wasm",
      component: "component.wasm",
      sha256: createHash("sha256").update(component).digest("hex"),
      imports: [],
    };
    host = await createHost({ threads: 1 });
    await host.install({ manifest: parseManifest(JSON.stringify(manifest), "values"), component });
  });
  afterAll(() => host.close());

  const run = (operation: string, input: unknown, options = {}) => host.run(ID, input, { operation, ...options });
  const output = async (operation: string, input: unknown): Promise<unknown> => {
    const outcome = await run(operation, input).outcome;
    expect(outcome).toMatchObject({ kind: "succeeded" });
    return "output" in outcome ? outcome.output : undefined;
  };
  const refusal = async (operation: string, input: unknown): Promise<unknown> => {
    try {
      return await run(operation, input).outcome;
    } catch (error) {
      return error;
    }
  };

  it("bytes go in as Uint8Array, as Buffer or as base64, and come out as base64", async () => {
    const bytes = Uint8Array.of(0, 1, 254, 255);
    const larger = Buffer.from([1, 2, 255, 0]).toString("base64");
    expect(await output("bytes", { bytes })).toBe(larger);
    expect(await output("bytes", { bytes: Buffer.from(bytes) })).toBe(larger);
    expect(await output("bytes", { bytes: Buffer.from(bytes).toString("base64") })).toBe(larger);
    expect(await output("bytes", { bytes: new Uint8Array() })).toBe("");
  });

  it("bytes are copied at the call: the caller may use the buffer again at once", async () => {
    const bytes = Uint8Array.of(1, 2, 3);
    const { outcome } = run("bytes", { bytes });
    bytes.fill(99);
    expect(await outcome).toMatchObject({ kind: "succeeded", output: Buffer.from([2, 3, 4]).toString("base64") });
    expect([...bytes]).toEqual([99, 99, 99]);
  });

  it("bytes count towards inputBytes, in whichever form", async () => {
    for (const bytes of [new Uint8Array(3_000), Buffer.alloc(3_000), Buffer.alloc(3_000).toString("base64")]) {
      const small = await run("bytes", { bytes }, { limits: { inputBytes: 4_012 } }).outcome;
      expect(small).toMatchObject({ kind: "succeeded" });
      const refused = () => run("bytes", { bytes }, { limits: { inputBytes: 4_011 } }).outcome;
      await expect(Promise.resolve().then(refused)).rejects.toMatchObject({
        code: "AIRLOCK_INVOCATION_INPUT_TOO_LARGE",
      });
    }
  });

  it("a list of 64-bit integers goes in as a typed array or as JSON, and comes out as decimal strings", async () => {
    const wanted = ["-9223372036854775808", "7"];
    expect(await output("longs", { longs: BigInt64Array.of(-(2n ** 63n), 7n) })).toEqual(wanted);
    expect(await output("longs", { longs: ["-9223372036854775808", 7] })).toEqual(wanted);
  });

  it("outputBytes bounds a list by what it takes as JSON, not by what it takes in the guest", async () => {
    const longs = Array.from({ length: 20 }, (_, index) => index);
    const run = (outputBytes: number) =>
      host.run(ID, { longs }, { operation: "longs", limits: { outputBytes } }).outcome;
    expect(await run(400)).toMatchObject({ kind: "succeeded" });
    expect(await run(200)).toMatchObject({ kind: "over-budget", limit: "outputBytes" });
  });

  it("a u64 is a decimal string, and goes in as a safe integer too", async () => {
    expect(await output("next", { number: "18446744073709551614" })).toBe("18446744073709551615");
    expect(await output("next", { number: 41 })).toBe("42");
  });

  it("records, options, enums, flags and variants are JSON", async () => {
    expect(await output("move", { point: { "x-pos": -3, mark: 7 } })).toEqual({ "x-pos": -3, mark: 7 });
    expect(await output("move", { point: { "x-pos": 2, mark: null } })).toEqual({ "x-pos": 2, mark: null });
    expect(await output("move", { point: { "x-pos": 2 } })).toEqual({ "x-pos": 2, mark: null });
    expect(await output("paint", { colour: "dark-red" })).toBe("dark-red");
    expect(await output("grant", { rights: ["can-list", "can-read"] })).toEqual(["can-read", "can-list"]);
    for (const shape of [{ tag: "circle", value: 1.5 }, { tag: "nothing" }, { tag: "sides", value: 4 }]) {
      expect(await output("draw", { shape })).toEqual(shape);
    }
  });

  it("NaN in the output ends as invalid-output, and the host serves the next call", async () => {
    expect(await run("root", { of: -1 }).outcome).toMatchObject({ kind: "invalid-output" });
    expect(await output("root", { of: 9 })).toBe(3);
  });

  it.each<[string, string, unknown, string]>([
    ["a lone surrogate", "text", { text: "a\ud800" }, "$.text holds a lone surrogate"],
    ["base64 without its padding", "bytes", { bytes: "AAE" }, "$.bytes is not base64 with its padding"],
    ["numbers that are no bytes", "bytes", { bytes: Uint16Array.of(256) }, "$.bytes[0] is outside u8"],
    ["a number past u64", "next", { number: "18446744073709551616" }, "$.number is outside u64"],
    ["an unknown case", "draw", { shape: { tag: "square" } }, "$.shape.tag is not a case of the variant"],
    ["an unknown flag", "grant", { rights: ["can-fly"] }, "$.rights holds an unknown flag"],
    ["an unknown field", "move", { point: { "x-pos": 1, y: 2 } }, "$.point.y is not a field of the record"],
  ])("input is refused: %s", async (_, operation, input, text) => {
    expect(await refusal(operation, input)).toMatchObject({
      code: "AIRLOCK_INVOCATION_REQUEST_INVALID",
      message: expect.stringContaining(text),
    });
  });
});
