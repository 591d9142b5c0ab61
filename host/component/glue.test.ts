import { transpileBytes } from "@bytecodealliance/jco-transpile";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { type Json, jsonToWit, type WitType, witToJson } from "./component.ts";
import { anyJsonOf, anyType } from "./test-arbitraries.ts";
import { echoComponent } from "./test-echo-component.ts";

/** Values through the real glue of jco: a component whose every function gives back what it was given. */

const NESTED_OPTIONS: WitType = option(option(option({ kind: "u32" })));
const HOSTILE_FIELDS: WitType = {
  kind: "record",
  name: null,
  fields: ["constructor", "to-string", "value-of", "has-own-property"].map((name) => ({
    name,
    type: option({ kind: "string" }),
  })),
};
const HOSTILE_FLAGS: WitType = { kind: "flags", name: null, names: ["constructor", "to-string", "plain"] };
const TYPES: readonly WitType[] = [
  NESTED_OPTIONS,
  HOSTILE_FIELDS,
  HOSTILE_FLAGS,
  { kind: "string" },
  { kind: "list", element: { kind: "u64" }, length: null },
  ...fc.sample(anyType, { numRuns: 60, seed: 7 }),
];

let echo: (index: number, value: unknown) => unknown;

beforeAll(async () => {
  const { files } = await transpileBytes(await parse(echoComponent(TYPES)), { name: "echo", instantiation: "sync" });
  const source = Buffer.from(files["echo.js"]!).toString("base64");
  const { instantiate } = await import(/* @vite-ignore */ `data:text/javascript;base64,${source}`);
  const exports = instantiate((path: string) => new WebAssembly.Module(files[path]!), {});
  echo = (index, value) => exports["echo:all/all"][`f${index}`](new Array(17).fill(0), value)[1];
});

describe("values through jco's glue", () => {
  it("any JSON value of any type comes back as it went in", () => {
    for (const [index, type] of TYPES.entries()) {
      fc.assert(
        fc.property(anyJsonOf(type), (json) => {
          expect(witToJson(echo(index, jsonToWit(json, type)), type)).toEqual(json);
        }),
        { numRuns: 25, seed: 11 },
      );
    }
  });

  it.each<Json>([null, { some: null }, { some: { some: null } }, { some: { some: 7 } }])(
    "three nested options carry %j",
    (json) => {
      expect(witToJson(echo(0, jsonToWit(json, NESTED_OPTIONS)), NESTED_OPTIONS)).toEqual(json);
    },
  );

  it("an absent option named like a property of Object.prototype stays absent", () => {
    const back = witToJson(echo(1, jsonToWit({}, HOSTILE_FIELDS)), HOSTILE_FIELDS);
    expect(back).toEqual({ constructor: null, "to-string": null, "value-of": null, "has-own-property": null });
  });

  it("a flag named like a property of Object.prototype stays unset", () => {
    expect(witToJson(echo(2, jsonToWit([], HOSTILE_FLAGS)), HOSTILE_FLAGS)).toEqual([]);
    expect(witToJson(echo(2, jsonToWit(["to-string"], HOSTILE_FLAGS)), HOSTILE_FLAGS)).toEqual(["to-string"]);
  });

  it("a byte order mark reaches the guest, and jco's lenient decoder drops it on the way back", () => {
    expect(jsonToWit("\ufeffx", { kind: "string" })).toBe("\ufeffx");
    expect(witToJson("\ufeffx", { kind: "string" })).toBe("\ufeffx");
    // Whoever compiles the glue gives it a strict decoder; when this fails, jco has one and that can go.
    expect(echo(3, "\ufeffx")).toBe("x");
  });
});

function option(some: WitType): WitType {
  return { kind: "option", some };
}
