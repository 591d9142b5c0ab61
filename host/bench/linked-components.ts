import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { componentize } from "componentize-qjs";

/** Each exports `run: func(text: string) -> string`, which gives its text back. */
const WAT = `(component
  (core module $m
    (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 64))
    (func (export "post") (param i32))
    (func (export "run") (param i32 i32) (result i32)
      (i32.store (i32.const 16) (local.get 0)) (i32.store (i32.const 20) (local.get 1)) (i32.const 16)))
  (core instance $i (instantiate $m))
  (func (export "run") (param "text" string) (result string)
    (canon lift (core func $i "run") (memory (core memory $i "memory")) (realloc (core func $i "realloc"))
      (post-return (core func $i "post")))))`;

export async function buildWatEcho(): Promise<Uint8Array> {
  return parse(WAT);
}

export async function buildQuickjsEcho(): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), "airlock-bench-"));
  try {
    const witPath = join(folder, "world.wit");
    writeFileSync(witPath, "package airlock:bench;\nworld program { export run: func(text: string) -> string; }\n");
    const jsSource = "export const run = (text) => text;";
    return (await componentize({ witPath, world: "program", jsSource, sync: true, stubWasi: true, optSize: true }))
      .component;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
