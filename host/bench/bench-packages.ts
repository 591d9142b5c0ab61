import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { decodeComponent } from "../component/component.ts";
import type { PackageInMemory } from "../index.ts";
import { parseManifest } from "../manifest/manifest.ts";
import { buildCapability } from "../toolchain/toolchain.ts";

/** One operation from any object to any object, as JSON text. */
const ECHO_OPERATIONS = [{ name: "echo", input: { type: "object" }, output: { type: "object" } }];

/** Where the benches' own interface of the application is found. */
export const OFFER = "bench:offers/echo@1.0.0";

/** A component that says what it was given, JSON text in and out. `salt` makes it another one of the same length. */
export async function nativeEcho(salt = 0): Promise<PackageInMemory> {
  return fromWat("bench.echo", echoWat(salt), { operations: ECHO_OPERATIONS });
}

/** The same from TypeScript, which QuickJS runs. */
export async function typescriptEcho(): Promise<PackageInMemory> {
  const folder = mkdtempSync(join(tmpdir(), "airlock-bench-"));
  try {
    mkdirSync(join(folder, "src"));
    const source = { id: "bench.echo-typescript", version: "1.0.0", operations: ECHO_OPERATIONS };
    writeFileSync(join(folder, "capability.json"), JSON.stringify(source));
    const text = "export const handler = {\n  handle(input: string): string {\n    return input;\n  },\n};\n";
    writeFileSync(join(folder, "src", "capability.ts"), text);
    const { manifest, componentPath } = await buildCapability(folder);
    return { manifest, component: new Uint8Array(readFileSync(componentPath)) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** `run(calls, text)` says the text, after as many calls of `OFFER` with it. */
export async function caller(): Promise<PackageInMemory> {
  return fromWat("bench.caller", CALLER_WAT, { grants: { imports: [OFFER] } });
}

/** `run(count, declared)` emits as many events and answers how many were not taken; those that are `declared` have a schema. */
export async function emitter(): Promise<PackageInMemory> {
  const schema = {
    type: "object",
    additionalProperties: false,
    required: ["count"],
    properties: { count: { type: "integer", minimum: 1 } },
  };
  const emits = [
    { type: "beat", version: "1.0.0", schema },
    { type: "tick", version: "1.0.0" },
  ];
  return fromWat("bench.emitter", EMITTER_WAT, { serviceType: "subscribable", emits });
}

/** Emits one event, so that it is seen to run, and goes round in circles. */
export async function tightLoop(): Promise<PackageInMemory> {
  const emits = [{ type: "beat", version: "1.0.0" }];
  const limits = { fuel: 50_000_000_000, wallMs: 600_000 };
  return fromWat("bench.loop", LOOP_WAT, { serviceType: "subscribable", emits, limits });
}

async function fromWat(id: string, wat: string, manifest: object): Promise<PackageInMemory> {
  const component = await parse(wat);
  const sha256 = createHash("sha256").update(component).digest("hex");
  const imports = decodeComponent(component)
    .imports.map(({ name }) => name)
    .sort();
  const text = JSON.stringify({ id, version: "1.0.0", component: "component.wasm", sha256, imports, ...manifest });
  return { manifest: parseManifest(text, id), component };
}

/** A bump allocator, and a place for answers. */
const ALLOCATOR = `
    (memory (export "memory") 1)
    (global $next (mut i32) (i32.const 1024))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
      (global.get $next)
      (global.set $next (i32.and (i32.const -8) (i32.add (i32.const 7) (i32.add (global.get $next) (local.get 3))))))`;

/** Functions that bring the component to 3 KB, the size of one in C. */
const FILLERS = 130;

function echoWat(salt: number): string {
  const filler = (index: number): string => {
    const constant = (0x4000_0000 + salt * FILLERS + index) | 0;
    return `(func (param i32) (result i32)
      (i32.xor (i32.mul (local.get 0) (i32.const ${constant})) (i32.rotl (local.get 0) (i32.const 7))))`;
  };
  return `(component
  (import "airlock:capability/types@1.0.0" (instance $types
    (type $failure' (record
      (field "code" string) (field "message" string) (field "retryable" bool) (field "detail" (option string))))
    (export "failure" (type $failure (eq $failure')))))
  (alias export $types "failure" (type $failure))
  (core module $m ${ALLOCATOR}
    (func (export "handle") (param i32 i32) (result i32)
      ;; ok, and the text.
      (i32.store8 (i32.const 0) (i32.const 0))
      (i32.store (i32.const 4) (local.get 0)) (i32.store (i32.const 8) (local.get 1))
      (i32.const 0))
    ${Array.from({ length: FILLERS }, (_, index) => filler(index)).join("\n    ")})
  (core instance $m (instantiate $m))
  (func $handle (param "input" string) (result (result string (error $failure)))
    (canon lift (core func $m "handle") (memory (core memory $m "memory")) (realloc (core func $m "realloc"))))
  (instance $handler (export "handle" (func $handle)))
  (export "airlock:capability/handler@1.0.0" (instance $handler)))`;
}

const CALLER_WAT = `(component
  (import "${OFFER}" (instance $offers (export "echo" (func (param "text" string) (result string)))))
  (core module $libc ${ALLOCATOR})
  (core instance $libc (instantiate $libc))
  (core func $echo (canon lower (func $offers "echo")
    (memory (core memory $libc "memory")) (realloc (core func $libc "realloc"))))
  (core module $m
    (import "libc" "memory" (memory 1))
    (import "host" "echo" (func $echo (param i32 i32 i32)))
    (func (export "run") (param $calls i32) (param $text i32) (param $length i32) (result i32)
      (i32.store (i32.const 0) (local.get $text))
      (i32.store (i32.const 4) (local.get $length))
      (loop $again
        (if (local.get $calls) (then
          ;; The text of the answer is what the next call says.
          (call $echo (i32.load (i32.const 0)) (i32.load (i32.const 4)) (i32.const 0))
          (local.set $calls (i32.sub (local.get $calls) (i32.const 1)))
          (br $again))))
      (i32.const 0)))
  (core instance $m (instantiate $m
    (with "libc" (instance $libc))
    (with "host" (instance (export "echo" (func $echo))))))
  (func (export "run") (param "calls" u32) (param "text" string) (result string)
    (canon lift (core func $m "run") (memory (core memory $libc "memory")) (realloc (core func $libc "realloc")))))`;

const EVENTS_WAT = `
  (import "airlock:capability/events@1.0.0" (instance $events
    (type $error' (variant
      (case "invalid-payload" string)
      (case "undeclared-event") (case "not-subscribable") (case "too-large") (case "budget-exhausted")))
    (export "event-error" (type $error (eq $error')))
    (export "emit-event" (func
      (param "event-type" string) (param "version" string) (param "payload" string)
      (result (result (error $error)))))))
  (core module $libc ${ALLOCATOR}
    (data (i32.const 0) "beattick1.0.0{\\"count\\":1}"))
  (core instance $libc (instantiate $libc))
  (core func $emit (canon lower (func $events "emit-event")
    (memory (core memory $libc "memory")) (realloc (core func $libc "realloc"))))`;

const EMITTER_WAT = `(component ${EVENTS_WAT}
  (core module $m
    (import "libc" "memory" (memory 1))
    (import "host" "emit" (func $emit (param i32 i32 i32 i32 i32 i32 i32)))
    (func (export "run") (param $left i32) (param $declared i32) (result i32)
      (loop $again
        (if (local.get $left) (then
          (call $emit (select (i32.const 0) (i32.const 4) (local.get $declared)) (i32.const 4)
            (i32.const 8) (i32.const 5) (i32.const 13) (i32.const 11) (i32.const 64))
          (local.set $left (i32.sub (local.get $left) (i32.const 1)))
          ;; Not zero: refused.
          (br_if $again (i32.eqz (i32.load8_u (i32.const 64)))))))
      (local.get $left)))
  (core instance $m (instantiate $m
    (with "libc" (instance $libc))
    (with "host" (instance (export "emit" (func $emit))))))
  (func (export "run") (param "count" u32) (param "declared" bool) (result u32) (canon lift (core func $m "run"))))`;

const LOOP_WAT = `(component ${EVENTS_WAT}
  (core module $m
    (import "host" "emit" (func $emit (param i32 i32 i32 i32 i32 i32 i32)))
    (func (export "run")
      (call $emit (i32.const 0) (i32.const 4)
        (i32.const 8) (i32.const 5) (i32.const 13) (i32.const 11) (i32.const 64))
      (loop $again (br $again))))
  (core instance $m (instantiate $m (with "host" (instance (export "emit" (func $emit))))))
  (func (export "run") (canon lift (core func $m "run"))))`;
