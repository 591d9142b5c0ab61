import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { describe, expect, it } from "vitest";
import type { InterfaceLink } from "../../imports/imports.ts";
import { type Call, type CarryOptions, carry } from "./both-ways.ts";

/** Guests that lie. Each ends in an outcome, through the linker and through jco's glue; where they differ, it says so. */

interface Lie {
  readonly what: string;
  /** Definitions of a core module with a memory of 320 pages, and what it exports. */
  readonly core: string;
  /** The type of `run` after `func`. */
  readonly type: string;
  readonly args?: Call["args"];
  readonly ends: object;
  readonly encoding?: string;
  readonly postReturn?: true;
  /** Null where generated glue ends otherwise: it cannot read the encoding or the code, or does not look as closely. */
  readonly glue?: null;
}

const trapped = (phase: string, what: string): object => ({
  kind: "trapped",
  phase,
  what: expect.stringContaining(what),
});
const overBudget = (limit: string): object => ({ kind: "over-budget", limit });

/** `run` answers with a pointer and a length, or whatever words lie at 16. */
const words = (...values: readonly number[]): string =>
  `(func (export "run") (result i32) ${values
    .map((value, index) => `(i32.store offset=${index * 4} (i32.const 16) (i32.const ${value | 0}))`)
    .join(" ")} (i32.const 16))`;
const REALLOC = `(func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4096))`;

const RESULTS: readonly Lie[] = [
  {
    what: "a string past the memory",
    core: words(20971519, 2),
    type: "(result string)",
    ends: trapped("lift", "leaves its memory"),
  },
  {
    what: "a string of four gigabytes",
    core: words(16, -1),
    type: "(result string)",
    ends: trapped("lift", "leaves its memory"),
  },
  {
    what: "a length that overflows",
    core: words(8, 0x20000001),
    type: "(result (list u64))",
    ends: trapped("lift", "leaves its memory"),
  },
  {
    what: "a list at an odd address",
    core: words(33, 1),
    type: "(result (list u32))",
    ends: trapped("lift", "not aligned"),
  },
  {
    what: "a result past the memory",
    core: `(func (export "run") (result i32) (i32.const 20971516))`,
    type: "(result string)",
    ends: trapped("lift", "leaves its memory"),
  },
  {
    what: "a result at a negative address",
    core: `(func (export "run") (result i32) (i32.const -8))`,
    type: "(result string)",
    ends: trapped("lift", "leaves its memory"),
  },
  {
    what: "a stray continuation byte",
    core: `(data (i32.const 64) "a\\80") ${words(64, 2)}`,
    type: "(result string)",
    ends: trapped("lift", "UTF-8"),
  },
  {
    what: "a lone surrogate",
    core: `(data (i32.const 64) "a\\00\\00\\d8") ${words(64, 2)}`,
    type: "(result string)",
    encoding: "utf16",
    ends: trapped("lift", "UTF-16"),
  },
  {
    what: "a UTF-16 string at an odd address",
    core: words(65, 1),
    type: "(result string)",
    encoding: "utf16",
    ends: trapped("lift", "not aligned"),
  },
  {
    what: "a tagged lone surrogate",
    core: `(data (i32.const 64) "a\\00\\00\\d8") ${words(64, 0x80000002)}`,
    type: "(result string)",
    encoding: "latin1+utf16",
    ends: trapped("lift", "UTF-16"),
    glue: null,
  },
  {
    what: "a latin1 string at an odd address",
    core: words(65, 1),
    type: "(result string)",
    encoding: "latin1+utf16",
    ends: trapped("lift", "not aligned"),
    glue: null,
  },
  {
    what: "a discriminant past an option",
    core: words(2, 0),
    type: "(result (option u32))",
    ends: trapped("lift", "discriminant"),
  },
  {
    what: "a discriminant past a result",
    core: words(255, 0),
    type: "(result (result u32 (error u32)))",
    ends: trapped("lift", "discriminant"),
  },
  {
    what: "a surrogate as char",
    core: `(func (export "run") (result i32) (i32.const 0xdfff))`,
    type: "(result char)",
    ends: trapped("lift", "scalar value"),
  },
  {
    what: "a char past Unicode",
    core: `(func (export "run") (result i32) (i32.const 0x110000))`,
    type: "(result char)",
    ends: trapped("lift", "scalar value"),
  },
  {
    what: "a negative char",
    core: `(func (export "run") (result i32) (i32.const -1))`,
    type: "(result char)",
    ends: trapped("lift", "scalar value"),
  },
  {
    what: "ten million booleans",
    core: words(64, 10_000_000),
    type: "(result (list bool))",
    ends: overBudget("outputBytes"),
  },
  {
    what: "sixteen megabytes of bytes",
    core: words(64, 16_777_216),
    type: "(result (list u8))",
    ends: overBudget("outputBytes"),
  },
  {
    what: "a hundred aliases of one list of sixteen megabytes",
    core: `(func (export "run") (result i32) (local $i i32)
      (loop $again
        (i32.store offset=1024 (i32.mul (local.get $i) (i32.const 8)) (i32.const 4096))
        (i32.store offset=1028 (i32.mul (local.get $i) (i32.const 8)) (i32.const 16777216))
        (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 100))))
      (i32.store (i32.const 16) (i32.const 1024)) (i32.store (i32.const 20) (i32.const 100)) (i32.const 16))`,
    type: "(result (list (list u8)))",
    ends: overBudget("outputBytes"),
  },
  {
    what: "a thousand aliases of a thousand aliases of a list",
    core: `(func $fill (param $at i32) (param $to i32) (local $end i32)
        (local.set $end (i32.add (local.get $at) (i32.const 8000)))
        (loop $again
          (i32.store (local.get $at) (local.get $to)) (i32.store offset=4 (local.get $at) (i32.const 1000))
          (br_if $again (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (local.get $end)))))
      (func (export "run") (result i32)
        (call $fill (i32.const 16384) (i32.const 32768)) (call $fill (i32.const 32768) (i32.const 65536))
        (i32.store (i32.const 16) (i32.const 16384)) (i32.store (i32.const 20) (i32.const 1000)) (i32.const 16))`,
    type: "(result (list (list (list bool))))",
    ends: overBudget("outputBytes"),
  },
  {
    what: "a hundred aliases of a hundred tuples of a thousand booleans",
    core: `(func (export "run") (result i32) (local $i i32)
      (loop $again
        (i32.store offset=1024 (i32.mul (local.get $i) (i32.const 8)) (i32.const 4096))
        (i32.store offset=1028 (i32.mul (local.get $i) (i32.const 8)) (i32.const 100))
        (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 100))))
      (i32.store (i32.const 16) (i32.const 1024)) (i32.store (i32.const 20) (i32.const 100)) (i32.const 16))`,
    type: `(result (list (list (tuple ${"bool ".repeat(1_000)}))))`,
    ends: overBudget("outputBytes"),
    glue: null,
  },
  {
    what: "a post-return that throws",
    core: `(tag $e) ${words(64, 1)} (func (export "post") (param i32) throw $e)`,
    type: "(result string)",
    postReturn: true,
    ends: trapped("post", "an exception left the guest's post-return"),
    glue: null,
  },
  {
    what: "a post-return that traps",
    core: `${words(64, 1)} (func (export "post") (param i32) unreachable)`,
    type: "(result string)",
    postReturn: true,
    ends: trapped("post", "unreachable"),
  },
  {
    what: "a post-return that loops",
    core: `${words(64, 1)} (func (export "post") (param i32) (loop $again (br $again)))`,
    type: "(result string)",
    postReturn: true,
    ends: { kind: "out-of-fuel", phase: "post" },
  },
];

const PARAMETERS: readonly Lie[] = [
  {
    what: "an allocator that answers past the memory",
    core: `(func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 20971519))`,
    type: "string",
    ends: trapped("lower", "leaves its memory"),
  },
  {
    what: "an allocator that answers -1",
    core: `(func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const -1))`,
    type: "string",
    ends: trapped("lower", "leaves its memory"),
  },
  {
    what: "an allocator that answers an odd address",
    core: `(func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4097))`,
    type: "(list u32)",
    args: [Uint32Array.of(1)],
    ends: trapped("lower", "not aligned"),
    glue: null,
  },
  {
    what: "an allocator that traps",
    core: `(func (export "realloc") (param i32 i32 i32 i32) (result i32) unreachable)`,
    type: "string",
    ends: trapped("lower", "unreachable"),
  },
  {
    what: "an allocator that loops",
    core: `(func (export "realloc") (param i32 i32 i32 i32) (result i32) (loop $again (br $again)) unreachable)`,
    type: "string",
    ends: { kind: "out-of-fuel", phase: "lower" },
  },
];

const LIMITS = { fuel: 30_000_000 };
const memory = `(memory (export "memory") 320)`;

function exporting({ core, type, encoding = "utf8", postReturn }: Lie, takes: boolean): string {
  return `(component
    (core module $m ${memory} ${takes ? `(func (export "run") (param i32 i32))` : ""} ${core})
    (core instance $i (instantiate $m))
    (func (export "run") ${takes ? `(param "x" ${type})` : type} (canon lift (core func $i "run")
      (memory (core memory $i "memory")) string-encoding=${encoding}
      ${takes ? `(realloc (core func $i "realloc"))` : ""} ${postReturn ? `(post-return (core func $i "post"))` : ""})))`;
}

async function endsOf(wat: string, call: Pick<Call, "args">, options?: CarryOptions, only?: "glue"): Promise<object> {
  const carried = await carry(await parse(wat), options, only);
  expect(carried.kind).toBe(only ?? "linked");
  return carried.run({ interfaceName: null, key: "run", limits: LIMITS, ...call }).ending;
}

describe.each([...RESULTS, ...PARAMETERS])("$what", (lie) => {
  const takes = PARAMETERS.includes(lie);
  const call = { args: lie.args ?? (takes ? ["text"] : []) };

  it("ends in its outcome", async () => {
    expect(await endsOf(exporting(lie, takes), call)).toMatchObject(lie.ends);
  });

  it.skipIf(lie.glue !== undefined)("ends alike through generated glue", async () => {
    const { kind } = lie.ends as { kind: string };
    expect(await endsOf(exporting(lie, takes), call, undefined, "glue")).toMatchObject({ kind });
  });
});

const FAR: InterfaceLink = {
  kind: "embedder",
  name: "test:far/far",
  functions: [{ name: "call", key: "call", fallible: false }],
};

/** A component whose `run` calls `far` with what `body` pushes; `answer` is what the application gives. */
function calling(type: string, core: string, body: string): string {
  return `(component
    (import "test:far/far" (instance $far (export "call" (func ${type}))))
    (alias export $far "call" (func $call))
    (core module $memory ${memory} (global (export "next") (mut i32) (i32.const 64)) ${REALLOC})
    (core instance $i (instantiate $memory))
    (core func $low (canon lower (func $call) (memory (core memory $i "memory")) (realloc (core func $i "realloc"))))
    (core module $m (import "far" "call" (func $far ${core})) (import "i" "memory" (memory 320)) (func (export "run") ${body}))
    (core instance $c (instantiate $m (with "i" (instance $i)) (with "far" (instance (export "call" (func $low))))))
    (func (export "run") (canon lift (core func $c "run"))))`;
}

describe("what a guest hands to an import", () => {
  const options = (value: unknown): CarryOptions => ({ links: [FAR], host: () => ({ kind: "value", value }) });

  it.each([
    [
      "ten million booleans",
      `(param "x" (list bool))`,
      "(param i32 i32)",
      "(call $far (i32.const 64) (i32.const 10000000))",
      overBudget("hostBytesOut"),
    ],
    [
      "a string past the memory",
      `(param "x" string)`,
      "(param i32 i32)",
      "(call $far (i32.const 64) (i32.const -1))",
      trapped("guest", "leaves its memory"),
    ],
    [
      "a place for the answer past the memory",
      "(result string)",
      "(param i32)",
      "(call $far (i32.const 20971516))",
      trapped("guest", "leaves its memory"),
    ],
    [
      "a place for the answer at an odd address",
      "(result string)",
      "(param i32)",
      "(call $far (i32.const 17))",
      trapped("guest", "not aligned"),
    ],
    [
      "a lie, and catches what comes of it",
      `(param "x" string)`,
      "(param i32 i32)",
      "try (call $far (i32.const 64) (i32.const -1)) catch_all (loop $again (br $again)) end",
      trapped("guest", "leaves its memory"),
    ],
  ])("%s ends in its outcome", async (_, type, core, body, ends) => {
    expect(await endsOf(calling(type, core, body), { args: [] }, options("answer"))).toMatchObject(ends);
  });

  it("what the application answers is checked before it is lowered", async () => {
    const wat = calling("(result u32)", "(result i32)", "(drop (call $far))");
    expect(await endsOf(wat, { args: [] }, options("no number"))).toEqual(trapped("guest", "is no number"));
    expect(await endsOf(wat, { args: [] }, options(7))).toEqual({ kind: "succeeded", output: undefined });
  });
});
