import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jsonDepth, jsonExcess, MAX_JSON_MARKS, parseJsonText } from "./json-text.ts";

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe("jsonDepth()", () => {
  test("is the nesting of the value", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(0, 2), (value, indent) => {
        expect(jsonDepth(JSON.stringify(value, null, indent), 64)).toBe(depthOf(value));
      }),
    );
  });

  test("does not count brackets in strings", () => {
    expect(jsonDepth('["[[[", "\\"[[", "\\\\", {"[": "]"}]', 64)).toBe(2);
  });

  test("stops at the first level past the bound", () => {
    expect(jsonDepth("[".repeat(1_000_000), 10)).toBe(11);
  });
});

describe("parseJsonText()", () => {
  test("parses what nests as deep as allowed and refuses one level more", () => {
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    expect(parseJsonText(nested(64)).kind).toBe("value");
    expect(parseJsonText(nested(65))).toMatchObject({ kind: "too-deep", text: "nests deeper than 64 levels" });
    expect(parseJsonText(nested(3), { maxDepth: 2 }).kind).toBe("too-deep");
  });

  test("says where text is no JSON, in one line that cannot act on a terminal", () => {
    expect(parseJsonText('{\n  "a": 1,\n}')).toEqual({
      kind: "not-json",
      text: "is not JSON: Expected double-quoted property name at line 3, column 1",
    });
    const hostile = parseJsonText("\u001b[31m\u202e");
    expect(hostile.kind).toBe("not-json");
    expect((hostile as { text: string }).text).not.toMatch(/[\u0000-\u001f\u202e]/);
  });

  test("gives any JSON value back", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        expect(parseJsonText(JSON.stringify(value))).toEqual({
          kind: "value",
          value: JSON.parse(JSON.stringify(value)),
        });
      }),
    );
  });
});

describe("jsonExcess()", () => {
  const marks = (count: number) => `[${"0,".repeat(count - 2)}0]`;

  test("counts brackets, braces, commas and colons outside of strings", () => {
    expect(jsonExcess(marks(MAX_JSON_MARKS))).toBeNull();
    expect(jsonExcess(marks(MAX_JSON_MARKS + 2))).toEqual({
      kind: "too-many",
      text: "holds more than 1000000 values and keys",
    });
    expect(jsonExcess(JSON.stringify("[,:{".repeat(MAX_JSON_MARKS / 4 + 1)))).toBeNull();
  });

  test("is what parseJsonText() says before anything is parsed", () => {
    expect(parseJsonText(marks(MAX_JSON_MARKS + 2)).kind).toBe("too-many");
    expect(jsonExcess("[".repeat(65))?.kind).toBe("too-deep");
  });
});
