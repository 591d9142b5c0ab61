import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonText, printable } from "./printable.ts";

/** Clears the screen, hides what follows, turns the text around, ends a line, moves into another plane. */
const HOSTILE = "a\u001b[2J\u009b31m\u202eb\u200bc\r\nd\u{e0041}e\ud800";
const OBEYED = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;

describe("printable()", () => {
  it("escapes everything that a terminal would obey or hide", () => {
    expect(printable(HOSTILE)).toBe("a\\u001b[2J\\u009b31m\\u202eb\\u200bc\\u000d\\u000ad\\udb40\\udc41e\\ud800");
  });

  it("keeps letters of all scripts and bounds the length", () => {
    expect(printable("Zürich 東京 🦀")).toBe("Zürich 東京 🦀");
    expect(printable("x".repeat(1_000), 10)).toBe(`${"x".repeat(10)}…`);
  });

  it("gives one line without controls for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(printable(text)).not.toMatch(OBEYED);
      }),
    );
  });
});

describe("jsonText()", () => {
  it("escapes inside strings and names, and parses to the same value", () => {
    const value = { [HOSTILE]: [HOSTILE] };
    const text = jsonText(value, 2);
    expect(text.replaceAll("\n", "")).not.toMatch(OBEYED);
    expect(JSON.parse(text)).toEqual(value);
  });

  it("parses to the same value for any value", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
        const text = jsonText(value);
        expect(text).not.toMatch(OBEYED);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it("writes big integers as text, bytes as base64 and nothing as null", () => {
    expect(jsonText({ big: 2n ** 70n, bytes: new Uint8Array([1, 2]) })).toBe(
      '{"big":"1180591620717411303424","bytes":"AQI="}',
    );
    expect(jsonText(undefined)).toBe("null");
  });
});
