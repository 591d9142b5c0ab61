import { describe, expect, it } from "vitest";
import { flatSignature, liftWalkability, lowerWalkability, typeText, type WitType } from "./component.ts";

const u8: WitType = { kind: "u8" };
const text: WitType = { kind: "string" };
const list = (element: WitType, length: number | null = null): WitType => ({ kind: "list", element, length });
const blob: WitType = { kind: "own", resource: { name: "blob" } };
const pair: WitType = { kind: "record", name: "pair", fields: [{ name: "a", type: list(text) }] };

describe("liftWalkability()", () => {
  it.each<WitType>([
    { kind: "bool" },
    text,
    { kind: "enum", name: null, names: ["a"] },
    { kind: "flags", name: null, names: ["a"] },
    { kind: "tuple", elements: [u8, text] },
    { kind: "option", some: { kind: "result", ok: text, err: null } },
    { kind: "variant", name: null, cases: [{ name: "a", type: text }] },
  ])("%j needs no loop", (type) => {
    expect(liftWalkability(type)).toEqual({ ok: true, lists: "none" });
  });

  it.each<WitType["kind"]>(["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64"])(
    "a list of %s is copied at once",
    (kind) => {
      expect(liftWalkability(list({ kind } as WitType))).toEqual({ ok: true, lists: "typed-array" });
    },
  );

  it.each<[WitType, string]>([
    [list({ kind: "bool" }), "list<bool>"],
    [list({ kind: "char" }), "list<char>"],
    [list(text), "list<string>"],
    [list(list(u8)), "list<list<u8>>"],
    [list(u8, 4), "list<u8, 4>"],
    [{ kind: "option", some: pair }, "list<string>"],
  ])("%j needs a loop", (type, typeName) => {
    expect(liftWalkability(type)).toEqual({ ok: false, reason: "element-loop", typeName });
    expect(lowerWalkability(type).ok).toBe(true);
  });
});

describe("lowerWalkability()", () => {
  it.each<[WitType, string]>([
    [blob, "blob"],
    [list({ kind: "borrow", resource: { name: "blob" } }), "borrow<blob>"],
    [{ kind: "option", some: { kind: "stream", element: u8 } }, "stream<u8>"],
    [{ kind: "future", element: null }, "future"],
    [{ kind: "error-context" }, "error-context"],
  ])("%j is not plain", (type, typeName) => {
    expect(lowerWalkability(type)).toEqual({ ok: false, reason: "not-plain", typeName });
  });
});

describe("flatSignature()", () => {
  const func = (param: WitType, result: WitType | null, async = false) => ({
    params: [{ name: "p", type: param }],
    result,
    async,
  });

  it("looks at results of exports and at parameters of imports", () => {
    const type = func(list(text), text);
    expect(flatSignature(type, "export")).toEqual({ signature: "plain", typeName: null });
    expect(flatSignature(type, "import")).toEqual({ signature: "needs-walk", typeName: "list<string>" });
    expect(flatSignature(func(text, pair), "export")).toEqual({ signature: "needs-walk", typeName: "list<string>" });
  });

  it("refuses handles and async on either side", () => {
    expect(flatSignature(func(blob, list(text)), "export")).toEqual({ signature: "refused", typeName: "blob" });
    expect(flatSignature(func(text, blob), "import")).toEqual({ signature: "refused", typeName: "blob" });
    expect(flatSignature(func(text, null, true), "export").signature).toBe("refused");
  });
});

describe("typeText()", () => {
  it.each<[WitType, string]>([
    [pair, "pair"],
    [{ kind: "record", name: null, fields: [] }, "record"],
    [{ kind: "tuple", elements: [u8, text] }, "tuple<u8, string>"],
    [{ kind: "result", ok: null, err: text }, "result<_, string>"],
    [{ kind: "result", ok: null, err: null }, "result"],
    [list(list(list(list(list(list(u8)))))), "list<list<list<list<list<…>>>>>"],
    [{ kind: "tuple", elements: new Array(20).fill(u8) }, `tuple<${"u8, ".repeat(8)}…>`],
  ])("%j reads %s", (type, expected) => {
    expect(typeText(type)).toBe(expected);
  });
});
