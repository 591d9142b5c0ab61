import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { describe, expect, it } from "vitest";
import { type ComponentInfo, decodeComponent } from "./component.ts";

const decode = async (wat: string): Promise<ComponentInfo> => decodeComponent(await parse(wat));

describe("decodeComponent() of canonical definitions", () => {
  it("reports canonical options", async () => {
    const info = await decode(`(component
      (core module $m (memory (export "mem") 1) (func (export "f") (param i32 i32))
        (func (export "r") (param i32 i32 i32 i32) (result i32) unreachable))
      (core instance $i (instantiate $m))
      (func (param "s" string) (canon lift (core func $i "f") string-encoding=utf16
        (memory (core memory $i "mem")) (realloc (core func $i "r")))))`);
    expect(info.canonOptions).toMatchObject({ memory: true, realloc: true, stringEncodings: ["utf16"], async: false });
    expect(info.usesAsync).toBe(false);
  });

  it.each([
    ["canon task.cancel", ["task.cancel"]],
    ["canon task.return (result u32)", ["task.return"]],
    ["canon context.get i32 0", ["context.get"]],
    ["canon subtask.cancel async", ["subtask.cancel"]],
    ["canon backpressure.inc", ["backpressure.inc"]],
    ["canon stream.new 0", ["stream.new"]],
    ["canon future.read 0", ["future.read"]],
    ["canon error-context.new (memory 0) (realloc 1)", ["error-context.new"]],
    ["canon waitable-set.wait (memory 0)", ["waitable-set.wait"]],
    ["canon waitable.join", ["waitable.join"]],
    ["canon thread.yield", ["thread.yield"]],
    ["canon thread.new-indirect 0 0", ["thread.new-indirect"]],
    ["canon thread.spawn-ref 0", ["thread.spawn-ref"]],
    ["canon thread.available_parallelism", ["thread.available_parallelism"]],
  ])("names the built-in of %s", async (canon, expected) => {
    const info = await decode(`(component (component (type (stream u8)) (core func (${canon}))))`);
    expect(info.canonBuiltins).toEqual(expected);
  });

  it.each([
    [
      "an async lift",
      `(core module $m (func (export "f"))) (core instance $i (instantiate $m))
      (func async (canon lift (core func $i "f") async))`,
    ],
    ["an async lower", `(import "f" (func $f async)) (core func (canon lower (func $f) async))`],
    ["an async function type", `(type (func async))`],
    ["a stream", `(type (stream u8))`],
    ["a future", `(type (future))`],
    ["an error context", `(type error-context)`],
    ["an import of WASI 0.3", `(import "wasi:clocks/monotonic-clock@0.3.0-rc-2025-09-16" (instance))`],
    ["a canonical built-in", `(core func (canon task.cancel))`],
  ])("recognises %s as asynchronous, nested too", async (_, body) => {
    expect((await decode(`(component ${body})`)).usesAsync).toBe(true);
    expect((await decode(`(component (component ${body}))`)).usesAsync).toBe(true);
  });

  it("WASI 0.2 is not asynchronous", async () => {
    expect((await decode(`(component (import "wasi:clocks/monotonic-clock@0.2.3" (instance)))`)).usesAsync).toBe(false);
  });
});
