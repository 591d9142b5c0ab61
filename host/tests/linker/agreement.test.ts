import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { type Json, jsonToWit, resultToJson, type WitType, witToJson } from "../../component/component.ts";
import { anyJsonOf, anyType } from "../../component/test-arbitraries.ts";
import { echoComponent } from "../../component/test-echo-component.ts";
import type { InterfaceLink } from "../../imports/imports.ts";
import { bothWays, type Carried, carry, type Ended, type HostFunction } from "./both-ways.ts";
import { forwardComponent } from "./forward-component.ts";

/** One component through the linker and through jco's glue: random types, random values, the same values and fuel. */

const PAD = new Array(17).fill(0);
const VALUES = 12;

const list = (element: WitType): WitType => ({ kind: "list", element, length: null });
const option = (some: WitType): WitType => ({ kind: "option", some });
const variant = (...types: readonly (WitType | null)[]): WitType => ({
  kind: "variant",
  name: null,
  cases: types.map((type, index) => ({ name: `c${index}`, type })),
});
const [BOOL, U8, U64, F32, F64, CHAR, STRING] = (["bool", "u8", "u64", "f32", "f64", "char", "string"] as const).map(
  (kind): WitType => ({ kind }),
) as [WitType, WitType, WitType, WitType, WitType, WitType, WitType];

/** What random types seldom hit: joins of every pair of core types, both sides of sixteen flat values, large enums. */
const EDGES: readonly WitType[] = [
  option(option(option({ kind: "u32" }))),
  variant(U8, F32),
  variant(F32, U64),
  variant(F32, F64),
  variant(U8, F64, null),
  variant({ kind: "tuple", elements: [F32, F64, CHAR] }, { kind: "tuple", elements: [F64, U8] }, STRING, null),
  { kind: "tuple", elements: new Array(16).fill(U8) },
  { kind: "tuple", elements: new Array(17).fill(U8) },
  { kind: "tuple", elements: new Array(8).fill(STRING) },
  { kind: "tuple", elements: [...new Array(8).fill(STRING), BOOL] },
  { kind: "enum", name: null, names: Array.from({ length: 300 }, (_, index) => `e${index}`) },
  { kind: "flags", name: null, names: Array.from({ length: 32 }, (_, index) => `g${index}`) },
  { kind: "flags", name: null, names: Array.from({ length: 9 }, (_, index) => `g${index}`) },
  list(list(list(STRING))),
  list(variant(null, U64, list(CHAR))),
  { kind: "result", ok: null, err: null },
  { kind: "result", ok: list(BOOL), err: F64 },
];

const typesOf = (seed: number): readonly WitType[] => [...EDGES, ...fc.sample(anyType, { numRuns: 50, seed })];

/** The application's side of `echo:far/far`: every function gives back what it was given. */
const farHost =
  (types: readonly WitType[]): HostFunction =>
  (name, [value]) => {
    if (types[Number(name.slice(1))]!.kind !== "result") return { kind: "value", value };
    const { tag, val } = value as { tag: string; val: unknown };
    return tag === "ok" ? { kind: "value", value: val } : { kind: "error", value: val };
  };

const farLink = (types: readonly WitType[]): InterfaceLink => ({
  kind: "embedder",
  name: "echo:far/far",
  functions: types.map(({ kind }, n) => ({ name: `f${n}`, key: `f${n}`, fallible: kind === "result" })),
});

/** An ending with JSON for its values: what the two give may differ in form, such as an array for a typed array. */
function inJson({ ending, fuel }: Ended, type: WitType, at: (value: unknown) => unknown): unknown {
  if (ending.kind === "succeeded") {
    const value = at(ending.output);
    return { fuel, output: type.kind === "result" ? resultToJson(value, type) : witToJson(value, type) };
  }
  if (ending.kind !== "failed") return { fuel, ending };
  const err = type.kind === "result" && type.err !== null ? witToJson(ending.failure, type.err) : null;
  return { fuel, failure: err };
}

describe.each(["utf8", "utf16"] as const)("spilled values in %s", (encoding) => {
  const types = typesOf(encoding.length);
  let linked: Carried;
  let glue: Carried;

  beforeAll(async () => {
    ({ linked, glue } = await bothWays(await parse(echoComponent(types, encoding))));
  });

  it("come back as they went in, through both alike", () => {
    for (const [index, type] of types.entries()) {
      const fixed: WitType = { kind: "tuple", elements: [type] };
      const run = (by: Carried, json: unknown): unknown =>
        inJson(
          by.run({ interfaceName: "echo:all/all", key: `f${index}`, args: [PAD, jsonToWit(json, type)] }),
          fixed,
          (value) => [(value as unknown[])[1]],
        );
      fc.assert(
        fc.property(anyJsonOf(type), (json) => {
          const result = run(linked, json);
          expect(result).toMatchObject({ output: [json] });
          expect(result).toEqual(withoutFixedLists(run(glue, json), result, type));
        }),
        { numRuns: VALUES, seed: 5 },
      );
    }
  });
});

describe.each(["utf8", "utf16"] as const)("values through an import and back in %s", (encoding) => {
  const types = typesOf(encoding.length + 100);
  let linked: Carried;
  let glue: Carried;

  beforeAll(async () => {
    const bytes = await parse(forwardComponent(types, encoding));
    ({ linked, glue } = await bothWays(bytes, { links: [farLink(types)], host: farHost(types) }));
  });

  it("are the same through both", () => {
    for (const [index, type] of types.entries()) {
      const run = (by: Carried, json: unknown): unknown =>
        inJson(
          by.run({ interfaceName: "echo:near/near", key: `f${index}`, args: [jsonToWit(json, type)] }),
          type,
          (value) => value,
        );
      fc.assert(
        fc.property(anyJsonOf(type), (json) => {
          const result = run(linked, json);
          expect(result).toMatchObject(echoed(json, type));
          if (!nestsResults(type)) expect(result).toEqual(withoutFixedLists(run(glue, json), result, type));
        }),
        { numRuns: VALUES, seed: 5 },
      );
    }
  });
});

describe("values in latin1+utf16, which jco cannot carry", () => {
  const types = typesOf(7);

  it("come back as they went in", async () => {
    const linked = await carry(await parse(echoComponent(types, "latin1+utf16")));
    for (const [index, type] of types.entries()) {
      fc.assert(
        fc.property(anyJsonOf(type), (json) => {
          const { ending } = linked.run({
            interfaceName: "echo:all/all",
            key: `f${index}`,
            args: [PAD, jsonToWit(json, type)],
          });
          expect(ending.kind).toBe("succeeded");
          const [, value] = (ending as { output: unknown[] }).output;
          expect(witToJson(value, type)).toEqual(json);
        }),
        { numRuns: VALUES, seed: 5 },
      );
    }
  });
});

/** How a function ends that gives back what it was given. */
function echoed(json: Json, type: WitType): object {
  if (type.kind !== "result") return { output: json };
  const { tag, value = null } = json as { tag: string; value?: Json };
  return tag === "ok" ? { output: value } : { failure: value };
}

/** A result in a result is what jco's glue takes apart twice when an import answers it. */
function nestsResults(type: WitType): boolean {
  return type.kind === "result" && (type.ok?.kind === "result" || type.err?.kind === "result");
}

/** jco's glue reads a list of fixed length without paying for it, so only other types burn the same fuel. */
function withoutFixedLists(glue: unknown, linked: unknown, type: WitType): unknown {
  return /"length":\d/.test(JSON.stringify(type))
    ? { ...(glue as object), fuel: (linked as { fuel: number }).fuel }
    : glue;
}
