import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { describe, expect, it } from "vitest";
import { type ComponentInfo, decodeComponent, kindOf } from "./component.ts";

const decode = async (wat: string): Promise<ComponentInfo> => decodeComponent(await parse(wat));

const importing = (body: string): string => `(component (import "a:b/c@1.0.0" (instance ${body})))`;

const funcsOf = (info: ComponentInfo) => {
  const [first] = info.imports;
  return first?.sort === "instance" ? first.funcs : [];
};

describe("kindOf()", () => {
  it("tells components, core modules and anything else by their preamble", async () => {
    expect(kindOf(await parse("(component)"))).toBe("component");
    expect(kindOf(await parse('(component (type $t u8) (export "t" (type $t)))'))).toBe("component");
    expect(kindOf(await parse("(module)"))).toBe("core-module");
    expect(kindOf(new TextEncoder().encode("#!/bin/sh"))).toBe("unknown");
    expect(kindOf(Uint8Array.of(0, 0x61, 0x73, 0x6d))).toBe("unknown");
    expect(kindOf(new Uint8Array())).toBe("unknown");
  });
});

describe("decodeComponent()", () => {
  it("describes an empty component", async () => {
    expect(await decode("(component)")).toEqual({
      imports: [],
      exports: [],
      coreModules: [],
      canonBuiltins: [],
      canonOptions: {
        async: false,
        callback: false,
        gc: false,
        memory: false,
        realloc: false,
        postReturn: false,
        stringEncodings: [],
      },
      hasComponentStart: false,
      componentImports: [],
      valueImports: [],
      nestedComponents: [],
      instances: 0,
      depth: 1,
      largestTypeNodes: 1,
      usesAsync: false,
      asyncReasons: [],
      names: [],
    });
  });

  it("reads every kind of type", async () => {
    const info = await decode(
      importing(`
        (type $r' (record (field "x-pos" s32) (field "label" string))) (export "point" (type $r (eq $r')))
        (type $v' (variant (case "circle" f32) (case "none"))) (export "shape" (type $v (eq $v')))
        (type $e' (enum "red" "blue")) (export "color" (type $e (eq $e')))
        (type $g' (flags "read" "write")) (export "perm" (type $g (eq $g')))
        (export "blob" (type $blob (sub resource)))
        (type $list (list $r)) (type $fixed (list u8 4)) (type $tuple (tuple u8 s8 u16 s16 u32 s32 u64 s64 f32 f64 char bool))
        (type $option (option $v)) (type $result (result $e (error $g))) (type $own (own $blob)) (type $borrow (borrow $blob))
        (type $f (func (param "a" $list) (param "b" $fixed) (param "c" $tuple) (param "d" $option) (param "e" $own)
          (param "f" $borrow) (result $result)))
        (export "f" (func (type $f)))`),
    );
    const point = {
      kind: "record",
      name: "point",
      fields: [
        { name: "x-pos", type: { kind: "s32" } },
        { name: "label", type: { kind: "string" } },
      ],
    };
    const shape = {
      kind: "variant",
      name: "shape",
      cases: [
        { name: "circle", type: { kind: "f32" } },
        { name: "none", type: null },
      ],
    };
    const scalars = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64", "char", "bool"];
    expect(info.imports).toEqual([
      {
        sort: "instance",
        name: "a:b/c@1.0.0",
        funcs: [
          {
            name: "f",
            type: {
              async: false,
              params: [
                { name: "a", type: { kind: "list", element: point, length: null } },
                { name: "b", type: { kind: "list", element: { kind: "u8" }, length: 4 } },
                { name: "c", type: { kind: "tuple", elements: scalars.map((kind) => ({ kind })) } },
                { name: "d", type: { kind: "option", some: shape } },
                { name: "e", type: { kind: "own", resource: { name: "blob" } } },
                { name: "f", type: { kind: "borrow", resource: { name: "blob" } } },
              ],
              result: {
                kind: "result",
                ok: { kind: "enum", name: "color", names: ["red", "blue"] },
                err: { kind: "flags", name: "perm", names: ["read", "write"] },
              },
            },
          },
        ],
        resources: ["blob"],
        types: ["point", "shape", "color", "perm"],
        others: [],
      },
    ]);
  });

  it("shares types by reference", async () => {
    const info = await decode(
      importing(`(type $t (list string)) (export "f" (func (param "a" $t) (param "b" $t) (result $t)))`),
    );
    const [{ type: func } = expect.fail("no function")] = funcsOf(info);
    expect(func.params[0]?.type).toBe(func.params[1]?.type);
    expect(func.params[0]?.type).toBe(func.result);
  });

  it("counts instances as often as nested components multiply them", async () => {
    const inner = "(core module $m) (core instance (instantiate $m)) (core instance (instantiate $m))";
    const info = await decode(`(component (component $c ${inner})
      (component $d (alias outer 1 $c (component $c)) (instance (instantiate $c)) (instance (instantiate $c)))
      (instance (instantiate $d)) (instance (instantiate $d)))`);
    expect(info.instances).toBe(2 * (1 + 2 * (1 + 2)));
  });

  it("follows exports of instances, outer aliases and instances made from exports", async () => {
    const info = await decode(`(component
      (import "a:b/types" (instance $types
        (type $t (record (field "n" u8))) (export "thing" (type (eq $t)))
        (export "get" (func (result u8)))))
      (alias export $types "thing" (type $thing))
      (alias export $types "get" (func $get))
      (component $inner
        (alias outer 1 $thing (type $own))
        (import "import-thing" (type $it (eq $own)))
        (export "again" (type $it)))
      (instance $made (export "get-it" (func $get)) (export "thing" (type $thing)))
      (instance $inside (instantiate $inner (with "import-thing" (type $thing))))
      (export "x:y/made" (instance $made))
      (export "x:y/inside" (instance $inside))
      (export "thing-two" (type $thing)))`);
    const thing = { kind: "record", name: "thing", fields: [{ name: "n", type: { kind: "u8" } }] };
    expect(info.exports).toEqual([
      {
        sort: "instance",
        name: "x:y/made",
        funcs: [{ name: "get-it", type: { async: false, params: [], result: { kind: "u8" } } }],
        resources: [],
        types: ["thing"],
        others: [],
      },
      { sort: "instance", name: "x:y/inside", funcs: [], resources: [], types: ["again"], others: [] },
      { sort: "type", name: "thing-two", type: thing },
    ]);
    expect(info.nestedComponents).toEqual(["component 0"]);
    expect(info.depth).toBe(2);
  });

  it("describes core modules at any depth", async () => {
    const module = `(core module
      (import "env" "mem" (memory 1)) (import "env" "f" (func)) (import "env" "t" (table 1 2 funcref))
      (import "env" "g" (global (mut i64)))
      (memory 1) (table 1 funcref) (func $a (local i32 i64)) (func $b (local i32 i32 i32) nop nop)
      (start $a) (export "run" (func $b)) (@custom "note" "x"))`;
    const info = await decode(`(component (component ${module}) ${module} (component (component ${module})))`);
    expect(info.coreModules.map(({ start, end, ...rest }) => rest)).toEqual(
      ["component 0 > core module 0", "core module 0", "component 1 > component 0 > core module 0"].map((path) => ({
        path,
        imports: [
          { module: "env", name: "mem", kind: "memory" },
          { module: "env", name: "f", kind: "func" },
          { module: "env", name: "t", kind: "table" },
          { module: "env", name: "g", kind: "global" },
        ],
        exports: [{ name: "run", kind: "func" }],
        functions: 2,
        memories: 1,
        tables: 1,
        largestBodyBytes: 6,
        mostLocals: 3,
        hostMakesMemory: false,
        hasStart: true,
        customSections: ["note", "name"],
      })),
    );
    expect(info.depth).toBe(3);
  });

  it("the byte range of a core module is the module", async () => {
    const bytes = await parse(`(component (core module (func (export "f"))))`);
    const [module = expect.fail("no module")] = decodeComponent(bytes).coreModules;
    expect(bytes.subarray(module.start, module.end)).toEqual(await parse(`(module (func (export "f")))`));
  });

  it("names a resource that is defined inside after its export", async () => {
    const info = await decode(`(component
      (type $r' (resource (rep i32)))
      (type $own (own $r'))
      (core func $drop (canon resource.drop $r'))
      (core func $new (canon resource.new $r'))
      (core func $rep (canon resource.rep $r'))
      (core module $m (func (export "make") (result i32) (i32.const 0)))
      (core instance $i (instantiate $m))
      (func $make (result $own) (canon lift (core func $i "make")))
      (export $r "blob" (type $r'))
      (export "make" (func $make) (func (result (own $r)))))`);
    expect(info.exports).toEqual([
      { sort: "type", name: "blob", type: null },
      {
        sort: "func",
        name: "make",
        type: { params: [], result: { kind: "own", resource: { name: "blob" } }, async: false },
      },
    ]);
    expect(info.canonBuiltins).toEqual([]);
  });

  it("reports imports of core modules, components and values, and a start", async () => {
    const info = await decode(`(component
      (import "m" (core module (import "a" "b" (func)) (export "x" (memory 1))))
      (import "c" (component (import "d" (func)) (export "e" (func))))
      (import "v" (value string))
      (import "f" (func $f))
      (start $f)
      (component (import "n" (core module))))`);
    expect(info.componentImports).toEqual(["m", "c"]);
    expect(info.valueImports).toEqual(["v"]);
    expect(info.hasComponentStart).toBe(true);
    expect(info.imports.map((each) => each.sort)).toEqual(["module", "component", "value", "func"]);
  });

  it("notes every name at every depth", async () => {
    const info = await decode(`(component
      (import "imp" (func $f (param "par" u8)))
      (component
        (import "deep-imp" (instance $d (export "deep-get" (func))))
        (core module $m (import "mod" "nam" (func)) (func (export "exp")))
        (alias export $d "deep-get" (func $g))
        (core func $h (canon lower (func $g)))
        (core instance $made (export "nam" (func $h)))
        (core instance $i (instantiate $m (with "mod" (instance $made))))
        (alias core export $i "exp" (core func $e))
        (type (variant (case "cas")))
        (@custom "cus" "x"))
      (instance $inst (export "inl" (func $f)))
      (export "exp-two" (instance $inst)))`);
    const at = (path: string) => info.names.filter((use) => use.path === path).map((use) => `${use.where} ${use.name}`);
    expect(at("component")).toEqual([
      "type-name par",
      "component-import imp",
      "component-link inl",
      "component-export exp-two",
      "custom-section component-name",
    ]);
    expect(at("component 0").sort()).toEqual(
      [
        "component-import deep-imp",
        "component-link deep-get",
        "component-link deep-get",
        "core-link exp",
        "core-link mod",
        "core-link nam",
        "custom-section component-name",
        "custom-section cus",
        "type-name cas",
      ].sort(),
    );
    expect(at("component 0 > core module 0")).toEqual([
      "core-import-module mod",
      "core-import-name nam",
      "core-export exp",
      "custom-section name",
    ]);
  });
});
