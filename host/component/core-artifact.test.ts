import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isHostError } from "../errors/errors.ts";
import { decodeCoreModule } from "./component.ts";

const MODULE = `(module
  (import "wasi_snapshot_preview1" "fd_read" (func (param i32 i32 i32 i32) (result i32)))
  (import "a" "table" (table 1 funcref))
  (import "a" "memory" (memory 1))
  (import "a" "global" (global i64))
  (import "b" "wide" (func (param i64 f32 f64 externref) (result i32 i32)))
  (memory (export "memory") 2)
  (func $start)
  (func (export "_start") (param i64))
  (func (export "") (result f64) f64.const 0)
  (export "again" (func 1))
  (start $start))`;

describe("decodeCoreModule()", () => {
  it("says what the module imports and exports, with the types of its functions", async () => {
    const { info, importTypes, exportTypes } = decodeCoreModule(await parse(MODULE));
    expect(importTypes).toEqual([
      "(i32, i32, i32, i32) -> i32",
      null,
      null,
      null,
      "(i64, f32, f64, externref) -> (i32, i32)",
    ]);
    const [module] = info.coreModules;
    expect(module!.exports.map(({ name }) => name)).toEqual(["memory", "_start", "", "again"]);
    expect(exportTypes).toEqual([null, "(i64) -> ()", "() -> f64", "(i64, f32, f64, externref) -> (i32, i32)"]);
    expect(info).toMatchObject({ imports: [], exports: [], instances: 1, usesAsync: false });
    expect(module).toMatchObject({ path: "core module", memories: 1, hasStart: true });
  });

  it("notes every name for the name gate", async () => {
    const { info } = decodeCoreModule(await parse('(module (import "m" "n" (func)) (func (export "e")))'));
    expect(info.names.map(({ name, where }) => [name, where])).toEqual([
      ["m", "core-import-module"],
      ["n", "core-import-name"],
      ["e", "core-export"],
    ]);
  });

  it("refuses what is no core module, and what is cut short", async () => {
    const bytes = await parse(MODULE);
    const component = await parse("(component)");
    for (const wrong of [new Uint8Array(), component, bytes.subarray(0, 30)]) {
      expect(() => decodeCoreModule(wrong)).toThrow(expect.objectContaining({ code: "AIRLOCK_COMPONENT_MALFORMED" }));
    }
  });

  it("answers or refuses for any bytes that begin like a module", async () => {
    const bytes = await parse(MODULE);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { maxLength: 6 }), (changes) => {
        const changed = bytes.slice();
        for (const [at, value] of changes) changed[at] = value;
        try {
          const { info, importTypes } = decodeCoreModule(changed);
          expect(info.coreModules).toHaveLength(1);
          expect(importTypes.length).toBeLessThanOrEqual(bytes.length);
        } catch (thrown) {
          if (!isHostError(thrown)) throw thrown;
          expect(thrown.code).toMatch(/^AIRLOCK_COMPONENT_/);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
