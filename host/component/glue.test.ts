import { transpileBytes } from "@bytecodealliance/jco-transpile";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { type Json, jsonToWit, partsOf, type WitType, witToJson } from "./component.ts";
import { anyJsonOf, anyType } from "./test-arbitraries.ts";

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

/**
 * WAT of a component with a function `f<n>` per type, each `(pad, T) -> tuple<pad, T>`. Seventeen bytes of pad make the
 * arguments spill into memory, where they lie as the result must: the core function gives its pointer back.
 */
function echoComponent(types: readonly WitType[]): string {
  const order: WitType[] = [];
  const visit = (type: WitType): void => {
    if (order.includes(type)) return;
    for (const part of partsOf(type)) visit(part);
    order.push(type);
  };
  types.forEach(visit);
  const define = (suffix: string, named: (index: number, name: string) => string): string =>
    order
      .map((type, index) => {
        const text = typeWat(type, (part) => `$t${order.indexOf(part)}${suffix}`);
        return ["record", "variant", "enum", "flags"].includes(type.kind)
          ? named(index, text)
          : `(type $t${index}${suffix} ${text})`;
      })
      .join("\n");
  const signature = (type: WitType, suffix: string): string =>
    `(param "pad" $pad) (param "p" $t${order.indexOf(type)}${suffix}) (result $r${types.indexOf(type)}${suffix})`;
  const results = (suffix: string): string =>
    types.map((type, n) => `(type $r${n}${suffix} (tuple $pad $t${order.indexOf(type)}${suffix}))`).join("\n");
  const pad = `(type $pad (tuple ${"u8 ".repeat(17)}))`;
  const options = `(memory (core memory $i "memory")) (realloc (core func $i "realloc")) (post-return (core func $i "reset"))`;
  const isNamed = (type: WitType): boolean => ["record", "variant", "enum", "flags"].includes(type.kind);
  return `(component
    (core module $m
      (memory (export "memory") 64)
      (global $next (mut i32) (i32.const 1024))
      (func (export "realloc") (param i32 i32 i32 i32) (result i32) (local $at i32)
        (local.set $at (i32.and (i32.add (global.get $next) (i32.const 15)) (i32.const -16)))
        (global.set $next (i32.add (local.get $at) (local.get 3)))
        (local.get $at))
      (func (export "reset") (param i32) (global.set $next (i32.const 1024)))
      (func (export "echo") (param i32) (result i32) (local.get 0)))
    (core instance $i (instantiate $m))
    ${pad}
    ${define("", (index, text) => `(type $t${index} ${text})`)}
    ${results("")}
    ${types.map((type, n) => `(func $f${n} ${signature(type, "")} (canon lift (core func $i "echo") ${options}))`).join("\n")}
    (component $wrapper
      ${pad}
      ${define("i", (index, text) => `(type $raw${index} ${text}) (import "import-type-n${index}" (type $t${index}i (eq $raw${index})))`)}
      ${results("i")}
      ${types.map((type, n) => `(import "import-func-f${n}" (func $f${n} ${signature(type, "i")}))`).join("\n")}
      ${define("e", (index, text) => `(type $own${index} ${text}) (export $t${index}e "n${index}" (type $own${index}))`)}
      ${results("e")}
      ${types.map((type, n) => `(export "f${n}" (func $f${n}) (func ${signature(type, "e")}))`).join("\n")})
    (instance $all (instantiate $wrapper
      ${order.map((type, index) => (isNamed(type) ? `(with "import-type-n${index}" (type $t${index}))` : "")).join("\n")}
      ${types.map((_, n) => `(with "import-func-f${n}" (func $f${n}))`).join("\n")}))
    (export "echo:all/all" (instance $all)))`;
}

function typeWat(type: WitType, of: (part: WitType) => string): string {
  switch (type.kind) {
    case "record":
      return `(record ${type.fields.map((field) => `(field "${field.name}" ${of(field.type)})`).join(" ")})`;
    case "variant":
      return `(variant ${type.cases.map((each) => `(case "${each.name}" ${each.type ? of(each.type) : ""})`).join(" ")})`;
    case "enum":
    case "flags":
      return `(${type.kind} ${type.names.map((name) => `"${name}"`).join(" ")})`;
    case "list":
      return `(list ${of(type.element)} ${type.length ?? ""})`;
    case "tuple":
      return `(tuple ${type.elements.map(of).join(" ")})`;
    case "option":
      return `(option ${of(type.some)})`;
    case "result":
      return `(result ${type.ok ? of(type.ok) : ""} ${type.err ? `(error ${of(type.err)})` : ""})`;
    default:
      return type.kind;
  }
}
