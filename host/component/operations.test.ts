import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ComponentInfo, decodeComponent, type FuncType, operations, type WitType } from "./component.ts";
import { inputSchema, outputSchema, SchemaBudget } from "./json-schema.ts";
import { anyJsonOf, anyType } from "./test-arbitraries.ts";

const DIALECT = "https://json-schema.org/draft/2020-12/schema";
const decode = async (wat: string): Promise<ComponentInfo> => decodeComponent(await parse(wat));

/** A component that exports what it imports: enough for its types. */
const ADDERS = `(component
  (import "add-impl" (func $add (param "x" u32) (param "y" u32) (result u32)))
  (import "docs:adder/add-impl" (instance $i (export "add" (func (param "x" u32))) (export "sub" (func (param "x" u32)))))
  (export "add" (func $add))
  (export "docs:adder/add@0.1.0" (instance $i)))`;

describe("operations()", () => {
  it("names a function by itself where that is unique, else with its interface", async () => {
    const found = operations(await decode(ADDERS));
    expect(found.map(({ name, exportName, funcName, inInstance }) => [name, exportName, funcName, inInstance])).toEqual(
      [
        ["add", "add", "add", false],
        ["docs:adder/add@0.1.0#add", "docs:adder/add@0.1.0", "add", true],
        ["sub", "docs:adder/add@0.1.0", "sub", true],
      ],
    );
  });

  it("derives the schemas of an adder", async () => {
    const [add = expect.fail("no operation")] = operations(await decode(ADDERS));
    const u32 = { type: "integer", minimum: 0, maximum: 4294967295 };
    expect(add.inputSchema).toEqual({
      $schema: DIALECT,
      type: "object",
      properties: { x: u32, y: u32 },
      required: ["x", "y"],
      additionalProperties: false,
    });
    expect(add.outputSchema).toEqual({ $schema: DIALECT, ...u32 });
    expect(add.failureSchema).toBeNull();
  });

  it("a fallible function's output is its ok type and its failure is its error type", async () => {
    const info = await decode(`(component
      (type $e' (record (field "code" string) (field "detail" (option string)))) (import "failure" (type $e (eq $e')))
      (type $r (result (error $e)))
      (import "run-impl" (func $run (param "in-put" (option u64)) (result $r))) (export "run-it" (func $run)))`);
    const [run = expect.fail("no operation")] = operations(info);
    expect(run.jsName).toBe("runIt");
    expect(run.inputSchema).toEqual({
      $schema: DIALECT,
      type: "object",
      properties: {
        "in-put": {
          anyOf: [
            { type: "null" },
            {
              anyOf: [
                { type: "string", pattern: "^(0|[1-9][0-9]{0,19})$" },
                { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
              ],
            },
          ],
        },
      },
      required: [],
      additionalProperties: false,
    });
    expect(run.outputSchema).toEqual({ $schema: DIALECT, type: "null" });
    expect(run.failureSchema).toEqual({
      $schema: DIALECT,
      $ref: "#/$defs/failure",
      $defs: {
        failure: {
          type: "object",
          properties: { code: { type: "string" }, detail: { anyOf: [{ type: "null" }, { type: "string" }] } },
          required: ["code", "detail"],
          additionalProperties: false,
        },
      },
    });
  });

  it("leaves out functions with handles, asynchronous ones and those of resources", async () => {
    const info = await decode(`(component
      (import "a:b/c" (instance $i
        (export "blob" (type $b (sub resource)))
        (export "[static]blob.count" (func (result u32)))
        (export "take" (func (param "b" (own $b))))
        (export "lend" (func (param "b" (option (borrow $b)))))
        (export "pipe" (func (result (stream u8))))
        (export "later" (func async))
        (export "plain" (func))))
      (export "d:e/f" (instance $i)))`);
    expect(operations(info).map((each) => each.name)).toEqual(["plain"]);
  });

  it("a hostile type name makes a harmless definition", async () => {
    const info = await decode(`(component
      (type $t (enum "a")) (import "__proto__" (type $u (eq $t)))
      (import "f" (func $f (param "__proto__" $u))) (export "g" (func $f)))`);
    const [operation = expect.fail("no operation")] = operations(info);
    expect(JSON.parse(JSON.stringify(operation.inputSchema))).toEqual(
      JSON.parse(`{ "$schema": "${DIALECT}", "type": "object", "properties": { "__proto__": { "$ref": "#/$defs/--proto--" } },
        "required": ["__proto__"], "additionalProperties": false, "$defs": { "--proto--": { "type": "string", "enum": ["a"] } } }`),
    );
  });

  it("the schemas of any type accept the JSON values of that type", () => {
    fc.assert(
      fc.property(
        anyType.chain((type) => fc.tuple(fc.constant(type), anyJsonOf(type))),
        ([type, json]) => {
          const func: FuncType = { params: [{ name: "p", type }], result: type, async: false };
          expect(accepts(inputSchema(func, new SchemaBudget()), { p: json })).toBe(true);
          expect(accepts(outputSchema(type, new SchemaBudget()), json)).toBe(true);
        },
      ),
      { numRuns: 150, seed: 5 },
    );
  });

  it.each<[string, WitType, unknown]>([
    ["a negative u32", { kind: "u32" }, -1],
    ["a fraction", { kind: "s8" }, 0.5],
    ["a padded number", { kind: "u64" }, "007"],
    ["an unsafe integer", { kind: "u64" }, 2 ** 60],
    ["two characters", { kind: "char" }, "ab"],
    ["an unknown flag", { kind: "flags", name: null, names: ["a"] }, ["b"]],
    ["a short tuple", { kind: "tuple", elements: [{ kind: "u8" }, { kind: "u8" }] }, [1]],
    ["a surplus field", { kind: "record", name: null, fields: [] }, { a: 1 }],
    ["a missing value", { kind: "result", ok: { kind: "u8" }, err: null }, { tag: "ok" }],
  ])("the schema refuses %s", (_, type, json) => {
    const func: FuncType = { params: [{ name: "p", type }], result: null, async: false };
    expect(accepts(inputSchema(func, new SchemaBudget()), { p: json })).toBe(false);
  });
});

function accepts(schema: object, value: unknown): boolean {
  return new Ajv2020({ strict: true, allowUnionTypes: true, strictTuples: false, strictRequired: false }).compile(
    schema,
  )(value);
}
