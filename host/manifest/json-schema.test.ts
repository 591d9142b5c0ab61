import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isHostError } from "../errors/errors.ts";
import { checkPackageSchema, checkPackageSchemas } from "./json-schema.ts";
import { createSchemaValidator } from "./schema-validator.ts";
import type { JsonSchema } from "./shape.ts";

const nested = (levels: number): unknown => (levels === 0 ? {} : { not: nested(levels - 1) });

describe("checkPackageSchema()", () => {
  const accepted: readonly unknown[] = [
    true,
    false,
    {},
    { $schema: "https://json-schema.org/draft/2020-12/schema", $id: "https://acme.example/in", type: "object" },
    { type: ["string", "null"], minLength: 1, format: "date-time", "x-widget": { any: "thing" } },
    { $ref: "#/$defs/node", $defs: { node: { properties: { next: { $ref: "#/$defs/node" } } } } },
    { properties: { $ref: { type: "string" }, id: {}, $dynamicRef: {} }, required: ["$ref"] },
    { $defs: { a: { $anchor: "a", type: "string" } }, items: { $ref: "#a" } },
    { enum: [{ $ref: "http://elsewhere" }, { $id: "x" }], const: { $data: "1/a" } },
    { pattern: "^[\\w(?=]+\\\\1$", patternProperties: { "^a{1,3}$": true } },
    { properties: { "a/b~c": { type: "string" } }, items: { $ref: "#/properties/a~1b~0c" } },
  ];
  for (const schema of accepted) {
    test(`accepts ${JSON.stringify(schema).slice(0, 100)}`, () => {
      expect(checkPackageSchema(schema, "input")).toEqual([]);
    });
  }

  const refused: readonly (readonly [unknown, string])[] = [
    [3, "input is 3: a JSON Schema, so an object or a boolean, is wanted"],
    [undefined, "input is undefined: a JSON Schema, so an object or a boolean, is wanted"],
    [{ enum: ["x".repeat(70_000)] }, "input is 70013 bytes long: at most 65536 are wanted"],
    [nested(40), "input nests deeper than 32 levels"],
    [
      { $schema: "http://json-schema.org/draft-07/schema#" },
      'input.$schema is "http://json-schema.org/draft-07/schema#": https://json-schema.org/draft/2020-12/schema is wanted',
    ],
    [
      { $ref: "https://acme.example/x" },
      'input.$ref is "https://acme.example/x": a reference into this document (#…) is wanted',
    ],
    [{ $ref: "other.json#/a" }, 'input.$ref is "other.json#/a": a reference into this document (#…) is wanted'],
    [{ $schema: 7 }, "input.$schema is 7: https://json-schema.org/draft/2020-12/schema is wanted"],
    [{ $ref: "#/$defs/none" }, 'input.$ref is "#/$defs/none": there is no such schema in this document'],
    [
      { $ref: "#/default", default: { pattern: "(?=a)" } },
      'input.$ref is "#/default": there is no such schema in this document',
    ],
    [{ $dynamicRef: "#a" }, "input.$dynamicRef is refused: references that depend on the caller are not allowed"],
    [
      { items: { $dynamicAnchor: "a" } },
      "input.items.$dynamicAnchor is refused: references that depend on the caller are not allowed",
    ],
    [{ $recursiveRef: "#" }, "input.$recursiveRef is refused: references that depend on the caller are not allowed"],
    [{ minimum: { $data: "1/a" } }, "input.minimum is refused: references into the value are not allowed"],
    [{ items: { $id: "x" } }, "input.items.$id is below the root of the schema: only the root may have an $id"],
    [{ items: { $anchor: "a" }, not: { $anchor: "a" } }, 'input.not.$anchor is "a", which another schema has already'],
    [{ pattern: "(a)\\1" }, 'input.pattern has the pattern "(a)\\\\1": backreferences are not allowed'],
    [{ pattern: "(?<n>a)\\k<n>" }, 'input.pattern has the pattern "(?<n>a)\\\\k<n>": backreferences are not allowed'],
    [{ pattern: "a(?=b)" }, 'input.pattern has the pattern "a(?=b)": lookahead and lookbehind are not allowed'],
    [{ pattern: "(?<!b)a" }, 'input.pattern has the pattern "(?<!b)a": lookahead and lookbehind are not allowed'],
    [
      { patternProperties: { "(?!x)": true } },
      'input.patternProperties has the pattern "(?!x)": lookahead and lookbehind are not allowed',
    ],
    [
      { pattern: "a".repeat(1_025) },
      `input.pattern has the pattern "${"a".repeat(60)}…": at most 1024 characters are wanted`,
    ],
    [{ format: "emial" }, 'input.format is the unknown format "emial": did you mean "email"?'],
    [{ requried: ["a"] }, 'input has the unknown keyword "requried": did you mean "required"?'],
    [
      { items: { nullable: true } },
      'input.items has the unknown keyword "nullable": one of draft 2020-12 or one that starts with x- is wanted',
    ],
    [{ dependencies: {} }, 'input.dependencies is refused: "dependentSchemas" or "dependentRequired" is wanted'],
    [
      { type: "strin" },
      'input.type is not right: one of "array", "boolean", "integer", "null", "number", "object", "string" is wanted',
    ],
    [{ minLength: -1 }, "input.minLength is not right: a number >= 0 is wanted"],
    [{ properties: { a: 3 } }, "input.properties.a is not right: an object or true or false is wanted"],
    [{ $ref: "#" }, "input refers to itself without descending into the value: it would never end"],
    [
      { anyOf: [{ $ref: "#/$defs/a" }], $defs: { a: { not: { $ref: "#" } } } },
      "input refers to itself without descending into the value: it would never end",
    ],
  ];
  for (const [schema, problem] of refused) {
    test(`refuses with: ${problem.slice(0, 110)}`, () => {
      expect(checkPackageSchema(schema, "input")).toEqual([problem]);
    });
  }

  test("refuses a pattern that does not compile", () => {
    expect(checkPackageSchema({ pattern: "[" }, "input")).toEqual([
      expect.stringContaining('input.pattern has the pattern "[": a regular expression is wanted'),
    ]);
  });

  test("bounds the problems and their length", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 100 }, (_, i) => [`${"p".repeat(200)}${i}`, { format: "x" }]),
    );
    const found = checkPackageSchema({ properties }, "input");
    expect(found).toHaveLength(20);
    for (const line of found) expect(line.length).toBeLessThan(500);
  });

  test("follows a chain of thousands of references without running out of stack", () => {
    const chain = Array.from({ length: 1_500 }, (_, i) => [
      `d${i}`,
      { $ref: i === 1_499 ? "#/$defs/end" : `#/$defs/d${i + 1}` },
    ]);
    const schema = { $ref: "#/$defs/d0", $defs: { ...Object.fromEntries(chain), end: { type: "string" } } };
    expect(checkPackageSchema(schema, "input")).toEqual([]);
  });

  test("refuses an enum of nothing, which the meta-schema lets pass and the compiler does not", () => {
    expect(checkPackageSchema({ enum: [] }, "input")).toEqual([
      expect.stringContaining("at least one value is wanted"),
    ]);
  });

  test("says something of any JSON and throws nothing; what it accepts compiles", () => {
    const keyword = fc.constantFrom(
      "type",
      "$ref",
      "items",
      "allOf",
      "properties",
      "pattern",
      "enum",
      "$id",
      "required",
    );
    const schema = fc.letrec((tie) => ({
      node: fc.oneof(
        { depthSize: "small" },
        fc.jsonValue({ maxDepth: 2 }),
        fc.dictionary(keyword, tie("node"), { maxKeys: 3 }),
      ),
    })).node;
    fc.assert(
      fc.property(schema, (value) => {
        if (checkPackageSchema(value, "input").length === 0) createSchemaValidator().compile(value as JsonSchema);
      }),
      { numRuns: 300 },
    );
  });
});

describe("checkPackageSchemas()", () => {
  test("names the schema and refuses an id that another one has", () => {
    const schema = { $id: "https://acme.example/x" };
    const emits = [{ type: "done", version: "1.0.0", schema: { type: 3 } }];
    expect(checkPackageSchemas({ operations: [{ name: "a", input: schema, output: schema }], emits })).toEqual([
      'operations.0.output.$id is "https://acme.example/x": operations.0.input has it already',
      expect.stringMatching(/^emits\.0\.schema\.type is not right: /),
    ]);
  });
});

describe("createSchemaValidator()", () => {
  const check = (schema: JsonSchema, value: unknown) => createSchemaValidator().compile(schema)(value);

  test("says where a value does not fit and what is wanted", () => {
    const schema = {
      type: "object",
      required: ["rows"],
      properties: { rows: { items: { type: "integer", minimum: 1 } } },
    };
    expect(check(schema, { rows: [1, 2] })).toBeNull();
    expect(check(schema, { rows: [1, "2"] })).toBe("rows.1: a whole number is wanted");
    expect(check(schema, { rows: [0] })).toBe("rows.0: a number >= 1 is wanted");
    expect(check(schema, {})).toBe('the value: the field "rows" is missing');
    expect(check({ additionalProperties: false }, { extra: 1 })).toBe('the value: the field "extra" is not known here');
    expect(check(false, 1)).toBe("the value: no value is allowed here");
  });

  test("tells of the alternative that came nearest", () => {
    const schema = {
      anyOf: [{ type: "string" }, { properties: { a: { properties: { b: { const: 1 } } } }, type: "object" }],
    };
    expect(check(schema, { a: { b: 2 } })).toBe("a.b: 1 is wanted");
    expect(check(schema, 5)).toBe("the value: none of the allowed forms fits");
  });

  test("is not met by what a value inherits", () => {
    expect(check({ required: ["constructor", "toString"] }, {})).toContain("is missing");
    expect(check({ required: ["__proto__"] }, {})).toContain("is missing");
  });

  test("keeps schemas of one package apart, whatever their ids and anchors", () => {
    const validator = createSchemaValidator();
    const first = validator.compile({
      $id: "https://json-schema.org/draft/2020-12/schema",
      $anchor: "a",
      type: "string",
    });
    const second = validator.compile({
      $id: "https://json-schema.org/draft/2020-12/schema",
      $anchor: "a",
      type: "number",
    });
    expect([first("x"), second(1), first(1), second("x")].map((text) => text === null)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  test("answers with a line of at most 200 characters, and never with the value", () => {
    const deep = (levels: number): JsonSchema =>
      levels === 0 ? { pattern: "p".repeat(500) } : { properties: { ["k".repeat(30)]: deep(levels - 1) } };
    const value = (levels: number): unknown => (levels === 0 ? "secret" : { ["k".repeat(30)]: value(levels - 1) });
    const text = check(deep(10), value(10))!;
    expect(text.length).toBeLessThanOrEqual(200);
    expect(text).not.toContain("secret");
    expect(check({ propertyNames: { maxLength: 3 } }, { ["x".repeat(10_000)]: 1 })!.length).toBeLessThanOrEqual(200);
  });

  test("follows references within each schema, recursive ones too", () => {
    const validator = createSchemaValidator();
    const tree = (type: string) => ({
      properties: { next: { $ref: "#" }, value: { $ref: "#/$defs/v" } },
      $defs: { v: { type } },
    });
    const first = validator.compile(tree("string"));
    const second = validator.compile({ $id: "https://acme.example/tree", ...tree("number") });
    const value = { next: { next: { value: "x" } } };
    expect([first(value), second(value)]).toEqual([null, "next.next.value: a number is wanted"]);
  });

  test("does not assert formats", () => {
    expect(check({ format: "email" }, "none")).toBeNull();
  });

  test("turns a schema that does not compile into AIRLOCK_ADMISSION_INVALID_SCHEMA", () => {
    try {
      createSchemaValidator().compile({ $ref: "#/none" });
      expect.unreachable();
    } catch (error) {
      expect(isHostError(error) && error.code).toBe("AIRLOCK_ADMISSION_INVALID_SCHEMA");
    }
  });

  test("turns a recursion without end into a line", () => {
    expect(check({ $ref: "#" }, 1)).toContain("the value cannot be checked");
  });
});
