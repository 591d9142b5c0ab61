import { transpileBytes } from "@bytecodealliance/jco-transpile";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { describe, expect, it } from "vitest";
import { checkPreparedGlue, prepareGlue } from "./glue.ts";

const ECHO = `(component
  (core module $m (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 64))
    (func (export "free") (param i32))
    (func (export "echo") (param i32 i32) (result i32) (i32.const 8))
    (func (export "bytes") (param i32) (result i32) (i32.const 8)))
  (core instance $i (instantiate $m))
  (func (export "echo") (param "text" string) (result string)
    (canon lift (core func $i "echo") (memory (core memory $i "memory")) (realloc (core func $i "realloc")) (post-return (core func $i "free"))))
  (func (export "flags") (param "n" u32) (result (list bool))
    (canon lift (core func $i "bytes") (memory (core memory $i "memory"))))
  (func (export "bytes") (param "n" u32) (result (list u8))
    (canon lift (core func $i "bytes") (memory (core memory $i "memory")))))`;

async function glueOf(wat: string): Promise<string> {
  const { files } = await transpileBytes(await parse(wat), {
    name: "component",
    instantiation: "sync",
    emitTypescriptDeclarations: false,
  });
  return new TextDecoder().decode((files as Record<string, Uint8Array>)["component.js"]);
}

const refused = (why: string) =>
  expect.objectContaining({ code: "AIRLOCK_ADMISSION_UNSAFE_NAME", message: expect.stringContaining(why) });

describe("prepareGlue()", () => {
  it("hooks where the guest is entered, allocates, frees, and where lists are copied or looped over", async () => {
    const body = prepareGlue(await glueOf(ECHO));
    expect(body).toMatch(/= __entry\(exports0\.echo\)/);
    expect(body).toMatch(/realloc0 = __realloc\(exports0\.realloc\)/);
    expect(body).toMatch(/postReturn0 = __postReturn\(exports0\.free\)/);
    expect(body).toMatch(/__elements\(len\d+\); for \(let i = 0; i < len\d+; i\+\+\)/);
    expect(body).toMatch(/__slice\.bind\(null, memory0\.buffer\)\(/);
    expect(body).not.toMatch(/^export |_jcoMaySuspend: false/m);
    expect(body).not.toMatch(/memory\d+\.buffer\.slice/);
  });

  it("hooks an export whatever the guest calls it", async () => {
    const names = ["x-async", "memory0", "realloc0-async", "post-return0", "table0"];
    const exports = names.map((name) => `(func (export "${name}") (canon lift (core func $i "${name}")))`).join("\n");
    const funcs = names.map((name) => `(func (export "${name}"))`).join(" ");
    const body = prepareGlue(
      await glueOf(`(component (core module $m ${funcs}) (core instance $i (instantiate $m)) ${exports})`),
    );
    for (const name of names) expect(body).toMatch(new RegExp(`= __entry\\(exports0(?:\\.${name}|\\['${name}'\\])\\)`));
  });

  it("refuses glue into which something was pasted", async () => {
    const glue = await glueOf(ECHO);
    const paste = (code: string): string => glue.replace("let dv =", `${code}; let dv =`);
    expect(() => prepareGlue(paste("require('fs')"))).toThrow(refused('"require"'));
    expect(() => prepareGlue(paste("fetch('x')"))).toThrow(refused('"fetch"'));
    expect(() => prepareGlue(paste("import('node:fs')"))).toThrow(refused("ImportExpression"));
    expect(() => prepareGlue(`import fs from "node:fs";\n${glue}`)).toThrow(refused("ImportDeclaration"));
    expect(() => prepareGlue(`${glue}\nexport default 1;`)).toThrow(refused("ExportDefaultDeclaration"));
    expect(() => prepareGlue(`${glue}}`)).toThrow(refused("not JavaScript"));
  });

  it("knows what it has made again, and refuses what was pasted into that", async () => {
    const body = prepareGlue(await glueOf(ECHO));
    checkPreparedGlue(body);
    const paste = (code: string): string => body.replace("let dv =", `${code}; let dv =`);
    expect(() => checkPreparedGlue(paste("fetch('x')"))).toThrow(refused('"fetch"'));
    expect(() => checkPreparedGlue(paste("import('node:fs')"))).toThrow(refused("ImportExpression"));
    expect(() => checkPreparedGlue(`${body}}`)).toThrow(refused("not JavaScript"));
  });

  it("refuses glue that it does not know: one that enters no core function, or that is asynchronous", async () => {
    const glue = await glueOf(ECHO);
    expect(() => prepareGlue("export function instantiate() {}")).toThrow(refused("enters no core function"));
    expect(() => prepareGlue(`${glue}\nlet callback0, exports9; callback0 = exports9.run;`)).toThrow(
      refused("asynchronous"),
    );
  });
});
