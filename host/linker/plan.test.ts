import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { describe, expect, it } from "vitest";
import { planLink } from "./linker.ts";

const MODULE = `(core module $m (memory (export "memory") 1)
  (func (export "run") (param i32 i32) (result i32) (i32.const 0))
  (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 0)))`;
const OPTIONS = `(memory (core memory $i "memory")) (realloc (core func $i "realloc"))`;

const POLLABLE = `(import "wasi:io/poll@0.2.0" (instance $poll (export "pollable" (type $pollable (sub resource)))))
  (alias export $poll "pollable" (type $pollable))`;

async function planned(wat: string): Promise<ReturnType<typeof planLink>> {
  return planLink(await parse(wat));
}

describe("planLink()", () => {
  it("says how the core instances are made, and what crosses where", async () => {
    const made = await planned(`(component
      (import "test:far/far" (instance $far (export "say-it" (func (param "x" string)))))
      (alias export $far "say-it" (func $say))
      ${MODULE}
      (core instance $i (instantiate $m))
      (core func $low (canon lower (func $say) ${OPTIONS} string-encoding=utf16))
      (core module $n (import "far" "say" (func (param i32 i32))))
      (core instance (instantiate $n (with "far" (instance (export "say" (func $low))))))
      (func (export "run-it") (param "x" string) (result u32) (canon lift (core func $i "run") ${OPTIONS})))`);
    const memory = { kind: "export", instance: 0, name: "memory" };
    const realloc = { kind: "export", instance: 0, name: "realloc" };
    expect(made).toMatchObject({
      kind: "linkable",
      plan: {
        steps: [
          { kind: "module", module: 0, args: [] },
          { kind: "bag", items: [{ name: "say", item: { kind: "made", index: 0 } }] },
          { kind: "module", module: 1, args: [{ name: "far", instance: 1 }] },
        ],
        options: [
          { component: 0, memory, realloc, encoding: "utf16" },
          { component: 0, memory, realloc, encoding: "utf8" },
        ],
        made: [{ kind: "import", interfaceName: "test:far/far", name: "say-it", key: "sayIt", options: 0 }],
        exports: [
          {
            interfaceName: null,
            key: "runIt",
            core: { kind: "export", instance: 0, name: "run" },
            postReturn: null,
            options: 1,
          },
        ],
      },
    });
    expect(structuredClone(made)).toEqual(made);
  });

  it("cuts a module that is instantiated twice out once", async () => {
    const made = await planned(
      `(component ${MODULE} (core instance (instantiate $m)) (core instance (instantiate $m)))`,
    );
    expect(made).toMatchObject({ plan: { modules: [{}], steps: [{ module: 0 }, { module: 0 }] } });
  });

  it.each([
    [
      "a handle of the host in an import",
      `${POLLABLE}
      (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
        (alias outer 1 $pollable (type $p)) (export "pollable" (type $pollable' (eq $p)))
        (export "subscribe" (func (result (own $pollable'))))))
      (core func (canon lower (func $clock "subscribe")))`,
      /"wasi:clocks\/monotonic-clock@0.2.0#subscribe" uses the type "pollable"/,
    ],
    [
      "an import that is exported again",
      `(import "test:far/far" (instance $far (export "say" (func))))
      (alias export $far "say" (func $say)) (export "say" (func $say))`,
      /"say" is an import that is exported again/,
    ],
    ["a function that is imported by itself", `(import "say" (func))`, /imports the func "say"/],
    ["a core module that is imported", `(import "m" (core module))`, /imports the module "m"/],
  ])("leaves to generated glue %s, and says so", async (_, wat, reason) => {
    expect(await planned(`(component ${wat})`)).toEqual({ kind: "unlinkable", reason: expect.stringMatching(reason) });
  });

  it("gives up on components that double themselves at every level", async () => {
    const levels = Array.from(
      { length: 29 },
      (_, level) => `(component $c${level + 1} (alias outer 1 $c${level} (component $c))
        (instance (instantiate $c)) (instance (instantiate $c)))`,
    );
    const wat = `(component (component $c0) ${levels.join("\n")} (instance (instantiate $c29)))`;
    expect(await planned(wat)).toEqual({ kind: "unlinkable", reason: "it consists of more than 100000 definitions" });
  });

  it("gives up on instantiations that nest too deep", async () => {
    const levels = Array.from(
      { length: 40 },
      (_, level) => `(component $c${level + 1} (alias outer 1 $c${level} (component $c)) (instance (instantiate $c)))`,
    );
    const wat = `(component (component $c0) ${levels.join("\n")} (instance (instantiate $c40)))`;
    expect(await planned(wat)).toEqual({ kind: "unlinkable", reason: "instantiations nest deeper than 32" });
  });
});
