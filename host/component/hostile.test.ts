import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isHostError } from "../errors/errors.ts";
import {
  type ComponentInfo,
  checkNames,
  decodeComponent,
  flatSignature,
  liftWalkability,
  operations,
  SignatureSearch,
  typeText,
} from "./component.ts";

const PREAMBLE = [0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00];

/** A component with every construct that the decoder reads. */
const SAMPLE = `(component
  (import "a:b/c@1.0.0" (instance $dep
    (type $t (record (field "n" (tuple u8 string)))) (export "thing" (type $u (eq $t)))
    (export "blob" (type $b (sub resource))) (export "get" (func (param "p" $u) (result (list (own $b)))))))
  (import "m" (core module (type (func)) (alias outer 1 0 (type)) (import "x" "y" (func (type 0))) (export "z" (memory 1))))
  (core module $m (import "env" "g" (global i32)) (memory (export "memory") 1) (table 1 funcref)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (local i32) (i32.const 0))
    (func $f (export "f") (param i32 i32) (result i32) (i32.const 8)) (start 2) (func))
  (component (core module (func (export "deep"))) (component (type (variant (case "a") (case "b" f32)))))
  (core instance $i (instantiate $m (with "env" (instance (export "g" (global 0))))))
  (type $e (enum "x" "y")) (type $fl (flags "x" "y")) (type $r (result $e (error $fl))) (type $o (option $r))
  (func $f (param "p" string) (result string) (canon lift (core func $i "f") (memory (core memory $i "memory"))
    (realloc (core func $i "realloc"))))
  (instance $made (export "f" (func $f)))
  (export "x:y/z" (instance $made))
  (export "f" (func $f)))`;

const u32 = (value: number): number[] => (value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...u32(value >>> 7)]);
const section = (id: number, content: readonly number[]): number[] => [id, ...u32(content.length), ...content];
const component = (...sections: readonly number[][]): Uint8Array => Uint8Array.from([...PREAMBLE, ...sections.flat()]);

/** How decoding ends: a result, or the code of a typed error. Anything else that is thrown fails the test. */
function outcome(bytes: Uint8Array): ComponentInfo | string {
  try {
    return decodeComponent(bytes);
  } catch (error) {
    if (!isHostError(error)) throw error;
    expect(error.details).toEqual({ offset: expect.any(Number) });
    return error.code;
  }
}

/** Asks everything that admission asks. */
function askAll(info: ComponentInfo): void {
  checkNames(info);
  operations(info);
  const search = new SignatureSearch();
  for (const each of [...info.imports, ...info.exports]) {
    const funcs = each.sort === "func" ? [each] : each.sort === "instance" ? each.funcs : [];
    for (const func of funcs) flatSignature(func.type, "export", search);
  }
}

describe("decodeComponent() of hostile bytes", () => {
  it.each([
    ["nothing", []],
    ["a core module", [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00]],
    ["an old version", [0x00, 0x61, 0x73, 0x6d, 0x0c, 0x00, 0x01, 0x00]],
    ["a section longer than the file", [...PREAMBLE, 7, 100, 0]],
    ["an unknown section", [...PREAMBLE, 99, 0]],
    ["a section with bytes left over", [...PREAMBLE, ...section(7, [1, 0x7f, 0])]],
    ["a nested component that is too short for a preamble", [...PREAMBLE, ...section(4, PREAMBLE.slice(0, 4))]],
    ["a core module that is a component", [...PREAMBLE, ...section(1, PREAMBLE)]],
    ["a name that is not UTF-8", [...PREAMBLE, ...section(7, [1, 0x6d, 1, 1, 0xff])]],
    ["a type that names itself", [...PREAMBLE, ...section(7, [1, 0x70, 0])]],
    ["an outer alias past the outermost component", [...PREAMBLE, ...section(6, [1, 3, 2, 9, 0])]],
  ])("%s is malformed", (_, bytes) => {
    expect(outcome(Uint8Array.from(bytes))).toBe("AIRLOCK_COMPONENT_MALFORMED");
  });

  it.each([
    ["a section of values", section(12, [0])],
    ["a name with options", section(10, [1, 2, 1, 0x61, 0, 1, 0])],
    ["an unknown type", section(7, [1, 0x63, 0x73, 0x7d])],
    ["an unknown canonical built-in", section(8, [1, 0x77])],
    ["an unknown canonical option", section(8, [1, 0x1c, 1, 0x30])],
    ["an unknown sort", section(6, [1, 9, 0, 0, 0])],
    ["a core type of the GC proposal", section(3, [1, 0x5e, 0x78, 0])],
  ])("%s is unsupported", (_, bytes) => {
    expect(outcome(component(bytes))).toBe("AIRLOCK_COMPONENT_UNSUPPORTED");
  });

  it("every truncation of a component ends in a typed error or is a shorter component", async () => {
    const bytes = await parse(SAMPLE);
    expect(outcome(bytes)).toBeTypeOf("object");
    let shorter = 0;
    for (let length = 0; length < bytes.length; length++) {
      const end = outcome(bytes.slice(0, length));
      if (typeof end === "object") shorter += 1;
      else expect(end).toBe("AIRLOCK_COMPONENT_MALFORMED");
    }
    // Only where one section ends and the next begins.
    expect(shorter).toBeLessThan(40);
  });

  it("every mutation of a component ends in a typed error or a result", async () => {
    const bytes = await parse(SAMPLE);
    const edit = fc.tuple(fc.nat(bytes.length - 1), fc.nat(0xff));
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) => {
        const mutated = bytes.slice();
        for (const [at, byte] of edits) mutated[at] = byte;
        const end = outcome(mutated);
        if (typeof end === "object") askAll(end);
      }),
      { numRuns: 2_000, seed: 3 },
    );
  });

  it.each([1, 2, 3, 5, 6, 7, 8, 10, 11])("a count past the end of section %i is malformed", (id) => {
    const count = [0xff, 0xff, 0xff, 0xff, 0x0f];
    expect(outcome(component(section(id, count)))).toBe("AIRLOCK_COMPONENT_MALFORMED");
    expect(outcome(component(section(7, [1, 0x72, ...count])))).toBe("AIRLOCK_COMPONENT_MALFORMED");
    expect(outcome(component(section(7, [1, 0x42, ...count])))).toBe("AIRLOCK_COMPONENT_MALFORMED");
  });

  it("100,000 nested components are refused", () => {
    const headers: number[][] = [];
    let size = PREAMBLE.length;
    for (let depth = 0; depth < 100_000; depth++) {
      const header = [...PREAMBLE, 4, ...u32(size)];
      headers.push(header);
      size += header.length;
    }
    const bytes = Uint8Array.from([...headers.reverse(), PREAMBLE].flat());
    expect(outcome(bytes)).toBe("AIRLOCK_COMPONENT_UNSUPPORTED");
  });

  it("100,000 nested instance types are refused", () => {
    const nested = Array.from({ length: 100_000 }, () => [0x42, 1, 1]).flat();
    expect(outcome(component(section(7, [1, ...nested, 0x42, 0])))).toBe("AIRLOCK_COMPONENT_UNSUPPORTED");
  });

  it("a type 100,000 lists deep is refused", () => {
    const lists = Array.from({ length: 100_000 }, (_, index) => [0x70, ...u32(index)]).flat();
    expect(outcome(component(section(7, [...u32(100_001), 0x73, ...lists])))).toBe("AIRLOCK_COMPONENT_UNSUPPORTED");
  });

  it("500,000 names are refused", () => {
    const exports = Array.from({ length: 500_000 }, () => [0, 0, 0]).flat();
    const bytes = component(section(2, [1, 1, ...u32(500_000), ...exports]));
    expect(outcome(bytes)).toBe("AIRLOCK_COMPONENT_UNSUPPORTED");
  });

  it("a file of empty sections is refused, in a component and in a core module", () => {
    const empty = Array.from({ length: 500_000 }, () => [7, 1, 0]).flat();
    expect(outcome(Uint8Array.from([...PREAMBLE, ...empty]))).toBe("AIRLOCK_COMPONENT_UNSUPPORTED");
    const module = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, ...empty.map((byte, at) => (at % 3 ? byte : 1))];
    expect(outcome(component([1, ...u32(module.length)], module))).toBe("AIRLOCK_COMPONENT_UNSUPPORTED");
  });

  it("a type that doubles sixty times is read, described and given a schema without being written out", async () => {
    const doubled = Array.from({ length: 60 }, (_, n) => `(type $t${n + 1} (tuple $t${n} $t${n}))`).join("\n");
    const info = decodeComponent(
      await parse(`(component (type $t0 (tuple u8 u8)) ${doubled}
        (import "f" (func $f (param "p" $t60) (result $t60))) (export "g" (func $f)))`),
    );
    expect(info.largestTypeNodes).toBeGreaterThan(2 ** 60);
    const [operation = expect.fail("no operation")] = operations(info);
    expect(Object.keys(operation.inputSchema["$defs"] as object)).toHaveLength(60);
    expect(liftWalkability(operation.type.result!)).toEqual({ ok: true, lists: "none" });
    expect(typeText(operation.type.result!).length).toBeLessThan(2_000);
  });

  it("schemas that would be too large are refused", async () => {
    const cases = Array.from({ length: 2_000 }, (_, n) => `"c${n}"`).join(" ");
    const exports = Array.from({ length: 60 }, (_, n) => `(export "g${n}" (func $f))`).join("\n");
    const info = decodeComponent(
      await parse(`(component (type $e (enum ${cases})) (import "f" (func $f (param "p" $e))) ${exports})`),
    );
    expect(() => operations(info)).toThrow(expect.objectContaining({ code: "AIRLOCK_COMPONENT_UNSUPPORTED" }));
  });

  it("many functions over one large type cost the type once", async () => {
    const types = Array.from({ length: 90 }, (_, n) => `(type $t${n + 1} (tuple ${`$t${n} `.repeat(200)}))`).join("\n");
    const exports = Array.from({ length: 2_000 }, (_, n) => `(export "g${n}" (func $f))`).join("\n");
    const info = decodeComponent(
      await parse(`(component (type $t0 (stream u8)) ${types} (import "f" (func $f (param "p" $t90))) ${exports})`),
    );
    askAll(info);
    expect(operations(info)).toEqual([]);
  });

  it("an instance of many functions that is exported under many names is refused before its functions are listed", () => {
    const text = (value: string): number[] => [value.length, ...Buffer.from(value)];
    const count = 20_000;
    const funcs = Array.from({ length: count }, (_, n) => [0, ...text(`f${n}`), 1, 0]).flat();
    const names = Array.from({ length: count }, (_, n) => [0, ...text(`e${n}`), 5, 0, 0]).flat();
    const info = decodeComponent(
      component(
        section(7, [1, 0x40, 0, 1, 0]),
        section(10, [1, 0, ...text("f"), 1, 0]),
        section(5, [1, 1, ...u32(count), ...funcs]),
        section(11, [...u32(count), ...names]),
      ),
    );
    expect(() => operations(info)).toThrow(expect.objectContaining({ code: "AIRLOCK_COMPONENT_UNSUPPORTED" }));
  });

  it.each([
    [
      "that is an argument",
      `(component $x (component $a (core module $m) (core instance (instantiate $m)) (core instance (instantiate $m)))
        (component $b (import "a" (component $a)) (instance (instantiate $a)) (instance (instantiate $a)))
        (instance (instantiate $b (with "a" (component $a)))))`,
    ],
    [
      "that is exported under a type",
      `(component $x (component $c (component $a (core module $m) (core instance (instantiate $m)))
          (export "a" (component $a) (component (type (component)))))
        (instance $c (instantiate $c)) (alias export $c "a" (component $d)) (instance (instantiate $d)))`,
    ],
  ])("an instance of a component %s is refused, for its own instances cannot be counted", async (_, text) => {
    expect(outcome(await parse(text))).toBe("AIRLOCK_COMPONENT_UNSUPPORTED");
  });

  it("many definitions of one kind are told apart by number", async () => {
    const types = Array.from({ length: 4 }, (_, n) => `(type $t${n} (option u8))`).join("\n");
    const info = decodeComponent(
      await parse(`(component ${types} (type $all (tuple $t0 $t0 $t1 $t1 $t2 $t2 $t3 $t3))
        (import "f" (func $f (param "p" $all))) (export "g" (func $f)))`),
    );
    const [operation = expect.fail("no operation")] = operations(info);
    expect(Object.keys(operation.inputSchema["$defs"] as object)).toEqual([
      "option",
      "option.2",
      "option.3",
      "option.4",
    ]);
  });
});
