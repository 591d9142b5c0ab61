import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { componentEmbed, componentNew } from "@bytecodealliance/jco-transpile/wasm-tools";
import { componentize } from "componentize-qjs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { InterfaceLink } from "../../imports/imports.ts";
import { bothWays, type Carried, type CarryOptions, type Ended } from "./both-ways.ts";

/** Components of several toolchains, each through the linker and through jco's glue: the same values, failures and fuel. */

const WIT = `package test:far;
interface far {
  record point { x: f64, name: string }
  shout: func(text: string) -> string;
}
world producer {
  import far;
  use far.{point};
  export reverse: func(text: string) -> string;
  export shout: func(text: string) -> string;
  export sum: func(numbers: list<s32>) -> s64;
  export points: func(points: list<point>) -> list<point>;
  export divide: func(a: f32, b: f32) -> result<f32, string>;
}`;

const SCRIPT = `import { shout as far } from "test:far/far";
export const reverse = (text) => [...text].reverse().join("");
export const shout = (text) => far(text);
export const sum = (numbers) => numbers.reduce((sum, number) => sum + number, 0);
export const points = (points) => points.map(({ x, name }) => ({ x: x * 2, name }));
export const divide = (a, b) => { if (b === 0) throw "by zero"; return a / b; };`;

const FAR: CarryOptions = {
  links: [
    { kind: "embedder", name: "test:far/far", functions: [{ name: "shout", key: "shout", fallible: false }] },
  ] satisfies InterfaceLink[],
  host: (_, [text]) => ({ kind: "value", value: `${text}!` }),
};

async function coreModule(name: string, stringEncoding: "utf8" | "utf16"): Promise<Uint8Array> {
  const binary = await readFile(new URL(`producers/${name}.wasm`, import.meta.url));
  return componentNew(await componentEmbed({ binary, witSource: WIT, world: "producer", stringEncoding }));
}

async function quickjs(): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), "airlock-linker-"));
  try {
    const witPath = join(folder, "world.wit");
    await writeFile(witPath, WIT);
    const options = { witPath, world: "producer", jsSource: SCRIPT, sync: true, stubWasi: true, optSize: true };
    return (await componentize(options)).component;
  } finally {
    await rm(folder, { recursive: true });
  }
}

const text = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) });
const CALLS: Readonly<Record<string, fc.Arbitrary<readonly unknown[]>>> = {
  reverse: fc.tuple(text),
  shout: fc.tuple(fc.string({ unit: "binary" }).filter((any) => !any.startsWith("\ufeff"))),
  sum: fc.tuple(fc.int32Array()),
  points: fc.tuple(fc.array(fc.record({ x: fc.float({ noNaN: true }), name: text }), { maxLength: 5 })),
  divide: fc.tuple(fc.float({ noNaN: true }), fc.constantFrom(0, 2, 0.5)),
};

describe.each([
  ["C", () => coreModule("c", "utf8")],
  ["AssemblyScript", () => coreModule("assemblyscript", "utf16")],
  ["QuickJS", quickjs],
])("a component of %s", (_, build) => {
  it("gives the same values and failures, and burns the same fuel, through both", { timeout: 120_000 }, async () => {
    const { linked, glue } = await bothWays(await build(), FAR);
    const run = (by: Carried, key: string, args: readonly unknown[]): Ended =>
      by.run({ interfaceName: null, key, args });
    for (const [key, args] of Object.entries(CALLS)) {
      fc.assert(
        fc.property(args, (given) => {
          const ended = run(linked, key, given);
          expect(["succeeded", "failed"]).toContain(ended.ending.kind);
          expect(ended).toEqual(run(glue, key, given));
        }),
        { numRuns: 25, seed: 3 },
      );
    }
    expect(run(linked, "reverse", ["abc"]).ending).toEqual({ kind: "succeeded", output: "cba" });
    expect(run(linked, "shout", ["né\u{1f600}"]).ending).toEqual({ kind: "succeeded", output: "né\u{1f600}!" });
    expect(run(linked, "sum", [Int32Array.of(-1, 3)]).ending).toEqual({ kind: "succeeded", output: 2n });
    expect(run(linked, "divide", [1, 0]).ending).toEqual({ kind: "failed", failure: "by zero" });
    expect(run(linked, "divide", [1, 2]).ending).toEqual({ kind: "succeeded", output: 0.5 });
  });
});
