import { transpileBytes } from "@bytecodealliance/jco-transpile";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkNames, decodeComponent } from "./component.ts";

const EXPLOIT = "r'];globalThis.pwned=1;//";

/** A component that lifts a core export of the given name. */
const lifting = (name: string): string => `(component
  (core module $m (func (export ${JSON.stringify(name)}) (result i32) (i32.const 1)))
  (core instance $i (instantiate $m))
  (func $f (result u32) (canon lift (core func $i ${JSON.stringify(name)})))
  (export "f" (func $f)))`;

const unsafe = async (wat: string) => checkNames(decodeComponent(await parse(wat)));

describe("checkNames()", () => {
  it("refuses the core export that the transpiler would paste into JavaScript as code", async () => {
    const bytes = await parse(lifting(EXPLOIT));
    const { files } = await transpileBytes(bytes, { name: "exploit", instantiation: "sync" });
    expect(new TextDecoder().decode(files["exploit.js"])).toContain(EXPLOIT);
    expect(checkNames(decodeComponent(bytes))).toEqual([
      { name: EXPLOIT, where: "core-export", path: "core module 0", reason: "characters" },
      { name: EXPLOIT, where: "core-link", path: "component", reason: "characters" },
    ]);
  });

  it.each([
    ["__proto__", "prototype"],
    ["a'b", "characters"],
    ["a`b", "characters"],
    ['a"b', "characters"],
    ["a\\\\b", "characters"],
    ["a\nb", "characters"],
    ["a{b}", "characters"],
    ["a;b", "characters"],
    ["a*/b", "characters"],
    ["ünïcode", "characters"],
    ["a\u2028b", "characters"],
    ["a\u202eb", "characters"],
    ["a\u{1f600}", "characters"],
    ["a".repeat(257), "length"],
  ])("refuses %j", async (name, reason) => {
    const wat = `(component (core module (func (export ${watString(name)}))))`;
    expect((await unsafe(wat)).map((use) => use.reason)).toEqual([reason]);
  });

  it.each([
    "",
    "a".repeat(256),
    "cabi_post_wasi:cli/run@0.2.3#run",
    "[method]input-stream.blocking-read",
    "$imports",
    "std::vec<T, A>::push(x + 1) = |y|",
    "constructor",
  ])("lets %j pass", async (name) => {
    expect(await unsafe(`(component (core module (func (export "${name}"))))`)).toEqual([]);
  });

  it.each([
    ["core import module", `(core module (import "BAD" "x" (func)))`, "core-import-module"],
    ["core import name", `(core module (import "x" "BAD" (func)))`, "core-import-name"],
    ["core export", `(core module (func (export "BAD")))`, "core-export"],
    ["core instance export", `(core module $m (memory 1)) (core instance (export "BAD" (memory 0)))`, "core-link"],
    ["core instantiate argument", `(core instance (instantiate 0 (with "BAD" (instance 0))))`, "core-link"],
    ["core alias", `(alias core export 0 "BAD" (core func))`, "core-link"],
    ["module type", `(core type (module (import "x" "BAD" (func)) (export "y" (memory 1))))`, "core-link"],
    ["import", `(import "BAD" (func))`, "component-import"],
    ["export", `(import "x" (func $f)) (export "BAD" (func $f))`, "component-export"],
    ["instance export", `(import "x" (func $f)) (instance (export "BAD" (func $f)))`, "component-link"],
    [
      "instantiate argument",
      `(component $c) (instance $i) (instance (instantiate $c (with "BAD" (instance $i))))`,
      "component-link",
    ],
    ["instance type", `(type (instance (export "BAD" (func))))`, "component-link"],
    ["component type", `(type (component (import "BAD" (func))))`, "component-link"],
    ["record field", `(type (record (field "BAD" u8)))`, "type-name"],
    ["variant case", `(type (variant (case "BAD")))`, "type-name"],
    ["enum case", `(type (enum "BAD"))`, "type-name"],
    ["flag", `(type (flags "BAD"))`, "type-name"],
    ["parameter", `(type (func (param "BAD" u8)))`, "type-name"],
  ])("finds a name as %s, at the top and nested", async (_, body, where) => {
    const hostile = body.replaceAll("BAD", EXPLOIT);
    for (const wat of [`(component ${hostile})`, `(component (component (component ${hostile})))`]) {
      expect(await unsafe(wat)).toEqual(
        expect.arrayContaining([expect.objectContaining({ name: EXPLOIT, where, reason: "characters" })]),
      );
    }
  });

  it("leaves custom sections alone: they reach no code", async () => {
    expect(await unsafe(`(component (@custom "it's" "x"))`)).toEqual([]);
  });

  it("lets no name pass that could end a JavaScript string", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (name) => {
        const use = { name, where: "core-export", path: "core module 0" } as const;
        const passes = checkNames({ names: [use] } as unknown as Parameters<typeof checkNames>[0]).length === 0;
        if (passes) expect(name).not.toMatch(/['"`\\{};*\n\r\u2028\u2029]|[^\x20-\x7e]/);
      }),
    );
  });
});

/** A WAT string: JSON's escapes of control characters are not WAT's. */
function watString(text: string): string {
  const escaped = Array.from(new TextEncoder().encode(text), (byte) => `\\${byte.toString(16).padStart(2, "0")}`);
  return `"${escaped.join("")}"`;
}
