import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { inputValue, readInput } from "./input.ts";

const noStdin = Readable.from([]);

describe("readInput()", () => {
  it("reads JSON from the value, and from stdin for -", async () => {
    expect(await readInput({ value: "[1]" }, noStdin)).toEqual({ kind: "json", value: [1] });
    const stdin = Readable.from([Buffer.from('{"a":"\u{fc}'), Buffer.from('"}')]);
    expect(await readInput({ input: "-" }, stdin)).toEqual({ kind: "json", value: { a: "ü" } });
    expect(await readInput({}, noStdin)).toEqual({ kind: "none" });
  });

  it("takes text as it is, with its byte order mark", async () => {
    const stdin = Readable.from([Buffer.from("\ufeffa,b\n")]);
    expect(await readInput({ input: "-", text: true }, stdin)).toEqual({ kind: "text", text: "\ufeffa,b\n" });
  });

  it.each([
    ["not JSON", { value: "{" }, /^The input of --value is not JSON: /],
    ["empty", { input: "-" }, /^The input on stdin is empty: JSON is wanted$/],
    ["too deep", { value: "[".repeat(100) }, /^The input of --value nests deeper than 64 levels$/],
    ["missing", { input: "no-such-file" }, /^Input "no-such-file" cannot be read: there is no such file$/],
    ["a folder", { input: "." }, /^Input "\." cannot be read: it is a folder, a file or - is wanted$/],
  ])("refuses input that is %s", async (_what, source, message) => {
    await expect(readInput(source, Readable.from([]))).rejects.toThrow(
      expect.objectContaining({ code: "AIRLOCK_CLI_INPUT_UNREADABLE", message: expect.stringMatching(message) }),
    );
  });

  it("refuses what is not UTF-8", async () => {
    await expect(readInput({ input: "-" }, Readable.from([Buffer.from([0xff, 0xfe])]))).rejects.toThrow(
      expect.objectContaining({ message: "The input on stdin is not UTF-8 text" }),
    );
  });
});

describe("inputValue()", () => {
  const string = { type: "string" };
  const text = { kind: "text", text: "x" } as const;

  it("puts text into the only required property when that is a string", () => {
    const schema = { type: "object", required: ["csv"], properties: { csv: string, header: { type: "boolean" } } };
    expect(inputValue(text, schema)).toEqual({ csv: "x" });
  });

  it.each([
    ["a string is wanted", string],
    ["nothing is known", undefined],
    ["anything goes", true],
    ["two are required", { type: "object", required: ["a", "b"], properties: { a: string, b: string } }],
    [
      "the required one is no string",
      { type: "object", required: ["a"], properties: { a: { type: "number" }, b: string } },
    ],
    ["the required one is not described", { type: "object", required: ["a"] }],
    ["it is a name of Object.prototype", { type: "object", required: ["toString"], properties: {} }],
  ])("hands text over as a string when %s", (_what, schema) => {
    expect(inputValue(text, schema)).toBe("x");
  });

  it("is an empty object or null when there is no input", () => {
    expect(inputValue({ kind: "none" }, { type: "object" })).toEqual({});
    expect(inputValue({ kind: "none" }, string)).toBeNull();
    expect(inputValue({ kind: "none" }, undefined)).toBeNull();
  });
});
