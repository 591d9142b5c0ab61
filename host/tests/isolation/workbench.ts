import { createHash } from "node:crypto";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import type { EmbedderImports, PackageInMemory } from "../../index.ts";
import { parseManifest } from "../../manifest/manifest.ts";

/** One component with a function for each thing that a test of isolation wants to see. */
const WORKBENCH = `(component
  (import "acme:test/desk@1.0.0" (instance $desk (export "ask" (func (param "question" string) (result string)))))
  (core module $libc
    (memory (export "memory") 1)
    (global $top (mut i32) (i32.const 4096))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (local $at i32)
      (local.set $at (i32.and (i32.add (global.get $top) (i32.const 7)) (i32.const -8)))
      (global.set $top (i32.add (local.get $at) (local.get 3)))
      (if (i32.gt_u (global.get $top) (i32.mul (memory.size) (i32.const 65536)))
        (then (drop (memory.grow (i32.const 4)))))
      (local.get $at)))
  (core instance $libc (instantiate $libc))
  (alias core export $libc "memory" (core memory $memory))
  (alias core export $libc "realloc" (core func $realloc))
  (alias export $desk "ask" (func $ask))
  (core func $ask (canon lower (func $ask) (memory $memory) (realloc $realloc)))
  (core module $main
    (import "libc" "memory" (memory 1))
    (import "desk" "ask" (func $ask (param i32 i32 i32)))
    (global $calls (mut i32) (i32.const 0))
    (func (export "spin") (loop $again (br $again)))
    (func (export "trap") unreachable)
    (func (export "add") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1)))
    (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))
    (func $down (export "down") (param i32) (result i32)
      (if (result i32) (local.get 0) (then (i32.add (i32.const 1) (call $down (i32.sub (local.get 0) (i32.const 1))))) (else (i32.const 0))))
    (func (export "burn") (param i32) (result i32) (local $sum i32)
      (loop $again
        (local.set $sum (i32.add (local.get $sum) (local.get 0)))
        (br_if $again (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
      (local.get $sum))
    (func (export "visits") (result i32)
      (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
      (i32.store (i32.const 1024) (i32.add (i32.load (i32.const 1024)) (i32.const 1)))
      (i32.add (i32.mul (global.get $calls) (i32.const 100)) (i32.load (i32.const 1024))))
    (func (export "echo") (param i32 i32) (result i32)
      (i32.store (i32.const 8) (local.get 0)) (i32.store (i32.const 12) (local.get 1)) (i32.const 8))
    (func (export "ask") (param i32 i32) (result i32)
      (call $ask (local.get 0) (local.get 1) (i32.const 8)) (i32.const 8)))
  (core instance $main (instantiate $main
    (with "libc" (instance $libc)) (with "desk" (instance (export "ask" (func $ask))))))
  (func (export "spin") (canon lift (core func $main "spin")))
  (func (export "trap") (canon lift (core func $main "trap")))
  (func (export "add") (param "x" u32) (param "y" u32) (result u32) (canon lift (core func $main "add")))
  (func (export "grow") (param "pages" u32) (result s32) (canon lift (core func $main "grow")))
  (func (export "down") (param "depth" u32) (result u32) (canon lift (core func $main "down")))
  (func (export "burn") (param "rounds" u32) (result u32) (canon lift (core func $main "burn")))
  (func (export "visits") (result u32) (canon lift (core func $main "visits")))
  (func (export "echo") (param "text" string) (result string)
    (canon lift (core func $main "echo") (memory $memory) (realloc $realloc)))
  (func (export "ask") (param "question" string) (result string)
    (canon lift (core func $main "ask") (memory $memory) (realloc $realloc))))`;

export const DESK = "acme:test/desk@1.0.0";

/** What the desk does with a question, unless a test says otherwise: it answers at once, after a turn, or never. */
export const answeringDesk: EmbedderImports = {
  [DESK]: {
    ask: async (question: string, { signal }: { signal: AbortSignal }) => {
      if (question === "never") await new Promise((resolve) => signal.addEventListener("abort", resolve));
      if (question === "throw") throw new Error("the desk is closed, secret 1234");
      if (question === "wrong") return 7;
      return `answer to ${question}`;
    },
  },
};

/** The workbench as a package, with limits of its manifest. */
export async function workbench(limits: Record<string, number> = {}, id = "test.workbench"): Promise<PackageInMemory> {
  const component = await parse(WORKBENCH);
  const manifest = parseManifest(
    JSON.stringify({
      id,
      version: "1.0.0",
      artifactType: "wasm",
      component: "component.wasm",
      sha256: createHash("sha256").update(component).digest("hex"),
      imports: [DESK],
      grants: { imports: [DESK] },
      // Fuel for half a minute of spinning: what a test wants to end by a clock must not run dry before.
      limits: { fuel: 50_000_000_000, ...limits },
    }),
    "workbench",
  );
  return { manifest, component };
}
