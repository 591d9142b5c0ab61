import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ConversionError,
  camelCase,
  failureToJson,
  jsonToArgs,
  jsonToWit,
  resultToJson,
  type WitType,
  witToJson,
} from "./component.ts";
import { MOST_LIST_VALUES } from "./list-values.ts";
import { anyJsonOf, anyType } from "./test-arbitraries.ts";

const u32: WitType = { kind: "u32" };
const text: WitType = { kind: "string" };
const option = (some: WitType): WitType => ({ kind: "option", some });
const list = (element: WitType, length: number | null = null): WitType => ({ kind: "list", element, length });
const record = (fields: Record<string, WitType>): WitType => ({
  kind: "record",
  name: null,
  fields: Object.entries(fields).map(([name, type]) => ({ name, type })),
});
const shape: WitType = {
  kind: "variant",
  name: null,
  cases: [
    { name: "circle", type: { kind: "f64" } },
    { name: "no-shape", type: null },
    { name: "maybe", type: option(u32) },
  ],
};
const perm: WitType = { kind: "flags", name: null, names: ["can-read", "can-write"] };
const outcome: WitType = { kind: "result", ok: u32, err: text };

/** The path and the message of the ConversionError that is thrown. */
function refusal(convert: () => unknown): [path: string, message: string] {
  try {
    convert();
  } catch (error) {
    if (error instanceof ConversionError) return [error.path, error.message];
    throw error;
  }
  return expect.fail("nothing was thrown");
}

describe("jsonToWit() and witToJson()", () => {
  it.each<[WitType, unknown, unknown]>([
    [{ kind: "bool" }, true, true],
    [{ kind: "u64" }, "18446744073709551615", 18446744073709551615n],
    [{ kind: "s64" }, "-9223372036854775808", -9223372036854775808n],
    [{ kind: "char" }, "\u{1f600}", "\u{1f600}"],
    [text, "\ufeffbom", "\ufeffbom"],
    [list({ kind: "u8" }), "AAH/", Uint8Array.of(0, 1, 255)],
    [list({ kind: "u8" }, 2), "AAE=", Uint8Array.of(0, 1)],
    [list({ kind: "s64" }), ["-1", "2"], BigInt64Array.of(-1n, 2n)],
    [list({ kind: "f32" }), [0.5], Float32Array.of(0.5)],
    [list(text), ["a"], ["a"]],
    [record({ "x-pos": u32, "parse-URL": text }), { "x-pos": 1, "parse-URL": "u" }, { xPos: 1, parseUrl: "u" }],
    [{ kind: "tuple", elements: [u32, text] }, [1, "a"], [1, "a"]],
    [shape, { tag: "circle", value: 1.5 }, { tag: "circle", val: 1.5 }],
    [shape, { tag: "no-shape" }, { tag: "no-shape", val: undefined }],
    [{ kind: "enum", name: null, names: ["dark-red"] }, "dark-red", "dark-red"],
    [perm, ["can-write"], { canRead: false, canWrite: true }],
    [option(u32), null, undefined],
    [option(u32), 0, 0],
    [option(option(u32)), null, { tag: "none" }],
    [option(option(u32)), { some: null }, { tag: "some", val: undefined }],
    [option(option(u32)), { some: 1 }, { tag: "some", val: 1 }],
    [outcome, { tag: "ok", value: 1 }, { tag: "ok", val: 1 }],
    [{ kind: "result", ok: null, err: null }, { tag: "err" }, { tag: "err", val: undefined }],
  ])("%j: %j and back", (type, json, value) => {
    expect(jsonToWit(json, type)).toStrictEqual(value);
    expect(witToJson(value, type)).toStrictEqual(json);
  });

  it("accept safe integers for 64 bits, absent options, and plain arrays for typed ones", () => {
    expect(jsonToWit(7, { kind: "u64" })).toBe(7n);
    expect(jsonToWit({}, record({ a: option(u32) }))).toStrictEqual({ a: undefined });
    expect(jsonToWit({ tag: "maybe" }, shape)).toStrictEqual({ tag: "maybe", val: undefined });
    expect(witToJson([1, 2], list({ kind: "u8" }))).toBe("AQI=");
    expect(witToJson([1n], list({ kind: "u64" }))).toEqual(["1"]);
    expect(witToJson(null, option(u32))).toBeNull();
  });

  it.each<[string, WitType, unknown, string]>([
    ["u32 too large", u32, 2 ** 32, "$"],
    ["u32 fraction", u32, 1.5, "$"],
    ["u32 text", u32, "1", "$"],
    ["u64 negative", { kind: "u64" }, "-1", "$"],
    ["u64 too large", { kind: "u64" }, "18446744073709551616", "$"],
    ["u64 unsafe", { kind: "u64" }, 2 ** 53, "$"],
    ["s64 hexadecimal", { kind: "s64" }, "0x1", "$"],
    ["f32 too large", { kind: "f32" }, 1e39, "$"],
    ["f64 NaN", { kind: "f64" }, Number.NaN, "$"],
    ["two characters", { kind: "char" }, "ab", "$"],
    ["no character", { kind: "char" }, "", "$"],
    ["a lone surrogate", text, "a\ud800", "$"],
    ["base64 without padding", list({ kind: "u8" }), "AAE", "$"],
    ["base64 of the URL alphabet", list({ kind: "u8" }), "_-8=", "$"],
    ["base64 with spare bits", list({ kind: "u8" }), "AAF=", "$"],
    ["bytes of another length", list({ kind: "u8" }, 3), "AAE=", "$"],
    ["list of another length", list(text, 2), ["a"], "$"],
    [
      "a deep place",
      record({ items: list(record({ name: text })) }),
      { items: [{ name: "a" }, { name: 1 }] },
      "$.items[1].name",
    ],
    ["an inherited field", record({ a: u32 }), Object.create({ a: 1 }), "$.a"],
    ["a surplus field", record({ a: option(u32) }), { b: 1 }, "$.b"],
    ["__proto__ as a field", record({ a: option(u32) }), JSON.parse('{"__proto__":1}'), '$["__proto__"]'],
    ["an inherited tag", shape, Object.create({ tag: "no-shape" }), "$.tag"],
    ["an unknown tag", shape, { tag: "constructor" }, "$.tag"],
    ["a surplus value", shape, { tag: "no-shape", value: 1 }, "$.value"],
    ["a missing value", shape, { tag: "circle" }, "$.value"],
    ["an unknown flag", perm, ["can-fly"], "$"],
    ["an unwrapped nested option", option(option(u32)), 1, "$"],
    ["a wrong nested option", option(option(u32)), { some: "x" }, "$.some"],
    ["a handle", { kind: "own", resource: { name: "blob" } }, 1, "$"],
  ])("jsonToWit() refuses %s", (_, type, json, path) => {
    expect(refusal(() => jsonToWit(json, type))[0]).toBe(path);
  });

  it.each<[string, WitType, unknown, string]>([
    ["NaN", { kind: "f64" }, Number.NaN, "$"],
    ["an infinity", list({ kind: "f32" }), Float32Array.of(1, Number.POSITIVE_INFINITY), "$[1]"],
    ["a lone surrogate", record({ "a-b": text }), { aB: "\udc00" }, "$.a-b"],
    ["a number for 64 bits", { kind: "u64" }, 1, "$"],
    ["a byte out of range", list({ kind: "u8" }), [256], "$[0]"],
    ["an inherited field", record({ constructor: text }), {}, "$.constructor"],
    ["an unknown tag", shape, { tag: "to-string" }, "$"],
    ["a result without a tag", outcome, 1, "$"],
    ["an ok of a wrong type", outcome, { tag: "ok", val: "x" }, "$.value"],
  ])("witToJson() refuses %s", (_, type, value, path) => {
    expect(refusal(() => witToJson(value, type))[0]).toBe(path);
  });

  it("a path that is too long is cut", () => {
    const name = "a".repeat(5_000);
    expect(refusal(() => jsonToWit({}, record({ [name]: u32 })))[0]).toHaveLength(401);
  });

  it.each<[string, WitType, unknown, unknown]>([
    ["bytes", list({ kind: "u8" }), Uint8Array.of(0, 255), Uint8Array.of(0, 255)],
    ["a Buffer", list({ kind: "u8" }), Buffer.from([1, 2]), Uint8Array.of(1, 2)],
    ["bytes of another realm", list({ kind: "u8" }), runInNewContext("Uint8Array.of(7)"), Uint8Array.of(7)],
    ["bytes of the wanted number", list({ kind: "u8" }, 2), Uint8Array.of(1, 2), Uint8Array.of(1, 2)],
    ["bytes as larger numbers", list(u32), Uint8Array.of(1, 2), Uint32Array.of(1, 2)],
    ["64-bit integers", list({ kind: "s64" }), BigInt64Array.of(-1n), BigInt64Array.of(-1n)],
    ["64-bit integers without a sign", list({ kind: "s64" }), BigUint64Array.of(1n), BigInt64Array.of(1n)],
    ["small integers as 64-bit ones", list({ kind: "u64" }), Int16Array.of(5), BigUint64Array.of(5n)],
    ["floats", list({ kind: "f64" }), Float64Array.of(0.5, -1), Float64Array.of(0.5, -1)],
    ["short floats as long ones", list({ kind: "f64" }), Float32Array.of(0.5), Float64Array.of(0.5)],
  ])("jsonToWit() takes a typed array: %s", (_, type, given, value) => {
    expect(jsonToWit(given, type)).toStrictEqual(value);
  });

  it.each<[WitType, unknown]>([
    [list({ kind: "u8" }), Uint8Array.of(1, 2, 3)],
    [list({ kind: "u8" }), Buffer.from([1, 2, 3])],
    [list({ kind: "u8" }), new Uint8Array(new SharedArrayBuffer(3))],
    [list({ kind: "s16" }), Int16Array.of(1, 2, 3)],
    [list({ kind: "f32" }), Float32Array.of(1, 2, 3)],
    [list({ kind: "u32" }), Uint8Array.of(1, 2, 3)],
  ])("jsonToWit() copies a typed array (%j of %s), and not more than it shows", (type, given) => {
    const array = given as Uint8Array;
    const window = array.subarray(1);
    const before = Array.from(window);
    const taken = jsonToWit(window, type) as Uint8Array;
    array.fill(9);
    expect(Array.from(taken)).toEqual(before);
    expect(taken.buffer).toBeInstanceOf(ArrayBuffer);
    expect(taken.buffer.byteLength).toBe(2 * taken.BYTES_PER_ELEMENT);
  });

  it.each<[string, WitType, unknown, string]>([
    ["of another length", list({ kind: "u8" }, 3), Uint8Array.of(1), "$"],
    ["with a number that is too large", list({ kind: "u8" }), Uint16Array.of(1, 256), "$[1]"],
    ["with a negative number", list({ kind: "u64" }), BigInt64Array.of(-1n), "$[0]"],
    ["of 64-bit integers for shorter ones", list(u32), BigUint64Array.of(1n), "$[0]"],
    ["of floats for integers", list(u32), Float64Array.of(1, 0.5), "$[1]"],
    ["of fractions for 64-bit integers", list({ kind: "u64" }), Float64Array.of(0.5), "$[0]"],
    ["with NaN", list({ kind: "f64" }), Float64Array.of(1, Number.NaN), "$[1]"],
    ["with what is too large for a float", list({ kind: "f32" }), Float64Array.of(1e39), "$[0]"],
    ["for a list of texts", list(text), Uint8Array.of(1), "$"],
    ["that is none, but a view", list({ kind: "u8" }), new DataView(new ArrayBuffer(1)), "$"],
    ["that is none, but says so", list({ kind: "u8" }), { [Symbol.toStringTag]: "Uint8Array", length: 1, 0: 1 }, "$"],
  ])("jsonToWit() refuses a typed array %s", (_, type, given, path) => {
    expect(refusal(() => jsonToWit(given, type))[0]).toBe(path);
  });

  it("any JSON value of any type comes back as it went in", () => {
    fc.assert(
      fc.property(
        anyType.chain((type) => fc.tuple(fc.constant(type), anyJsonOf(type))),
        ([type, json]) => {
          expect(witToJson(jsonToWit(json, type), type)).toEqual(json);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("any JSON value for any type is converted or refused with a ConversionError", () => {
    fc.assert(
      fc.property(anyType, fc.jsonValue(), (type, json) => {
        try {
          jsonToWit(json, type);
          witToJson(json, type);
        } catch (error) {
          if (!(error instanceof ConversionError)) throw error;
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe("values of a whole function", () => {
  it("jsonToArgs() orders arguments as the parameters are", () => {
    const type = {
      params: [
        { name: "first-one", type: u32 },
        { name: "second", type: option(text) },
      ],
      result: null,
      async: false,
    };
    expect(jsonToArgs({ second: "b", "first-one": 1 }, type)).toEqual([1, "b"]);
    expect(jsonToArgs({ "first-one": 1 }, type)).toEqual([1, undefined]);
    expect(refusal(() => jsonToArgs([1], type))).toEqual(["$", "is not an object"]);
    expect(refusal(() => jsonToArgs({ second: "b" }, type))).toEqual(["$.first-one", "is missing"]);
  });

  it("resultToJson() and failureToJson() take a result apart", () => {
    expect(resultToJson(7, outcome)).toBe(7);
    expect(failureToJson("no", outcome)).toBe("no");
    expect(resultToJson(undefined, { kind: "result", ok: null, err: null })).toBeNull();
    expect(failureToJson(undefined, { kind: "result", ok: null, err: null })).toBeNull();
    expect(resultToJson(7, u32)).toBe(7);
    expect(resultToJson(undefined, null)).toBeNull();
  });

  it("resultToJson() refuses more values in lists than JSON output may hold, bytes aside", () => {
    const list = (kind: "u8" | "s8"): WitType => ({ kind: "list", element: { kind }, length: null });
    const pair: WitType = { kind: "tuple", elements: [list("s8"), list("s8")] };
    const half = new Int8Array(MOST_LIST_VALUES / 2);
    expect(resultToJson([half, half], pair)).toHaveLength(2);
    expect(refusal(() => resultToJson([half, new Int8Array(half.length + 1)], pair))).toEqual([
      "$",
      "holds more than 1000000 values in lists",
    ]);
    expect(resultToJson(new Uint8Array(MOST_LIST_VALUES + 1), list("u8"))).toBeTypeOf("string");
    const units: WitType = { kind: "list", element: { kind: "record", name: null, fields: [] }, length: null };
    expect(refusal(() => resultToJson(new Array(MOST_LIST_VALUES + 1).fill({}), units))).toEqual([
      "$",
      "holds more than 1000000 values in lists",
    ]);
  });

  it("camelCase() names as jco does", () => {
    const names = ["x-pos", "parse-URL", "HTTP-server", "a1-b2", "x-1b-c", "URL", "a-b-c-d"];
    expect(names.map(camelCase)).toEqual(["xPos", "parseUrl", "httpServer", "a1B2", "x1bC", "url", "aBCD"]);
  });
});
