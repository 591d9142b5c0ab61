import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { componentEmbed, componentNew, parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { decodeComponent } from "../../component/component.ts";
import type { Host, InvokeGrant, Outcome, PackageInMemory } from "../../index.ts";
import { parseManifest } from "../../manifest/manifest.ts";

const CONTRACT = fileURLToPath(new URL("../../../wit/capability", import.meta.url));

/** For hosts of these tests: the threads of a lane start within their first caller's time, which takes long where all cores are busy. */
export const PATIENT = { defaults: { wallMs: 300_000 } };

/** What the manifest of a guest says besides the usual. */
export interface GuestOptions {
  readonly version?: string;
  /** Left out: the guest does not import `invoke`. */
  readonly invoke?: readonly InvokeGrant[];
  /** It also imports a resource, so that generated glue carries it and not the linker. */
  readonly glue?: boolean;
  readonly limits?: Record<string, number>;
  readonly emits?: readonly { readonly type: string; readonly version: string }[];
}

/** A guest with a function for each thing that a test of nested runs wants to see. */
export async function guest(
  id: string,
  { version = "1.0.0", ...options }: GuestOptions = {},
): Promise<PackageInMemory> {
  const { invoke, glue = false, limits = {}, emits = [{ type: "said", version: "1.0.0" }] } = options;
  const component = await (invoke === undefined ? leaf() : composer(glue));
  const imports = decodeComponent(component).imports.flatMap(({ name, sort }) => (sort === "type" ? [] : [name]));
  const manifest = parseManifest(
    JSON.stringify({
      id,
      version,
      component: "component.wasm",
      sha256: createHash("sha256").update(component).digest("hex"),
      serviceType: "subscribable",
      emits,
      imports,
      grants: invoke === undefined ? {} : { invoke },
      limits,
    }),
    id,
  );
  return { manifest, component };
}

const built = new Map<string, Promise<Uint8Array>>();

/** Calls nobody. */
function leaf(): Promise<Uint8Array> {
  return once("leaf", "world leaf { import airlock:capability/events@1.0.0; EXPORTS }");
}

/** Calls whom it is told to. */
function composer(glue: boolean): Promise<Uint8Array> {
  const name = glue ? "glued-composer" : "composer";
  const world = `world ${name} {
    ${glue ? "import wasi:io/error@0.2.0;" : ""}
    import airlock:capability/events@1.0.0; import airlock:capability/invoke@1.0.0;
    use airlock:capability/invoke@1.0.0.{invoke-error};
    export call: func(capability: string, operation: string, input: string) -> result<string, invoke-error>;
    export relay: func(capability: string, operation: string, input: string) -> result<string, invoke-error>;
    export again: func(times: u32, capability: string, operation: string, input: string) -> u32;
    EXPORTS }`;
  return once(name, world, CALLS, `${INVOKE} ${glue ? DROP : ""}`);
}

function once(name: string, world: string, calls = "", imports = ""): Promise<Uint8Array> {
  const known = built.get(name) ?? make(name, world, calls, imports);
  built.set(name, known);
  return known;
}

async function make(name: string, world: string, calls: string, imports: string): Promise<Uint8Array> {
  const witSource = `package test:guests;\n${world.replace("EXPORTS", EXPORTS)}\n${contract()}\n${RESOURCE}`;
  const binary = await parse(`(module ${imports} ${CORE} ${calls})`);
  return componentNew(await componentEmbed({ binary, witSource, world: name }));
}

/** The package of the contract, nested in a text of another one. */
function contract(): string {
  const texts = readdirSync(CONTRACT)
    .filter((file) => file.endsWith(".wit"))
    .map((file) => readFileSync(join(CONTRACT, file), "utf8").replace(/^package .*$/m, ""));
  return `package airlock:capability@1.0.0 {\n${texts.join("\n")}\n}`;
}

const RESOURCE = "package wasi:io@0.2.0 { interface error { resource error; } }";
const INVOKE = '(import "airlock:capability/invoke@1.0.0" "invoke" (func $invoke (param i32 i32 i32 i32 i32 i32 i32)))';
const DROP = '(import "wasi:io/error@0.2.0" "[resource-drop]error" (func $drop (param i32)))';

const EXPORTS = `
  export echo: func(text: string) -> string;
  export refuse: func(text: string) -> result<string, string>;
  export say: func(text: string) -> bool;
  export say-and-trap: func(text: string);
  export spin: func();
  export trap: func();
  export burn: func(rounds: u32) -> u32;
  export grow: func(pages: u32) -> s32;
  export visits: func() -> u32;
`;

const CORE = `
  (import "airlock:capability/events@1.0.0" "emit-event" (func $emit (param i32 i32 i32 i32 i32 i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 16) "said") (data (i32.const 24) "1.0.0") (data (i32.const 32) "\\"before\\"") (data (i32.const 48) "\\"after\\"")
  (global $top (mut i32) (i32.const 4096))
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $top) (i32.const 7)) (i32.const -8)))
    (global.set $top (i32.add (local.get $at) (local.get 3)))
    (if (i32.gt_u (global.get $top) (i32.mul (memory.size) (i32.const 65536)))
      (then (if (i32.eq (i32.const -1) (memory.grow (i32.add (i32.const 1)
        (i32.shr_u (i32.sub (global.get $top) (i32.mul (memory.size) (i32.const 65536))) (i32.const 16))))) (then unreachable))))
    (local.get $at))
  ;; Setup burns fuel too.
  (func $warm (local $left i32)
    (local.set $left (i32.const 5000))
    (loop $again (br_if $again (local.tee $left (i32.sub (local.get $left) (i32.const 1))))))
  (start $warm)
  (func $say (param i32 i32) (result i32)
    (call $emit (i32.const 16) (i32.const 4) (i32.const 24) (i32.const 5) (local.get 0) (local.get 1) (i32.const 128))
    (i32.eqz (i32.load8_u (i32.const 128))))
  (func (export "say") (param i32 i32) (result i32) (call $say (local.get 0) (local.get 1)))
  (func (export "say-and-trap") (param i32 i32) (drop (call $say (local.get 0) (local.get 1))) unreachable)
  (func (export "spin") (loop $again (br $again)))
  (func (export "trap") unreachable)
  (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))
  (func (export "burn") (param i32) (result i32) (local $sum i32)
    (loop $again
      (local.set $sum (i32.add (local.get $sum) (local.get 0)))
      (br_if $again (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
    (local.get $sum))
  (func (export "visits") (result i32)
    (i32.store (i32.const 1024) (i32.add (i32.load (i32.const 1024)) (i32.const 1))) (i32.load (i32.const 1024)))
  (func (export "echo") (param i32 i32) (result i32)
    (i32.store (i32.const 64) (local.get 0)) (i32.store (i32.const 68) (local.get 1)) (i32.const 64))
  (func (export "refuse") (param i32 i32) (result i32)
    (i32.store8 (i32.const 64) (i32.const 1))
    (i32.store (i32.const 68) (local.get 0)) (i32.store (i32.const 72) (local.get 1)) (i32.const 64))
`;

const CALLS = `
  (func $call (export "call") (param i32 i32 i32 i32 i32 i32) (result i32)
    (call $invoke (local.get 0) (local.get 1) (local.get 2) (local.get 3) (local.get 4) (local.get 5) (i32.const 64))
    (i32.const 64))
  (func (export "relay") (param i32 i32 i32 i32 i32 i32) (result i32)
    (drop (call $say (i32.const 32) (i32.const 8)))
    (drop (call $call (local.get 0) (local.get 1) (local.get 2) (local.get 3) (local.get 4) (local.get 5)))
    (drop (call $say (i32.const 48) (i32.const 7)))
    (i32.const 64))
  (func (export "again") (param i32 i32 i32 i32 i32 i32 i32) (result i32) (local $fine i32)
    (loop $again
      (drop (call $call (local.get 1) (local.get 2) (local.get 3) (local.get 4) (local.get 5) (local.get 6)))
      (local.set $fine (i32.add (local.get $fine) (i32.eqz (i32.load8_u (i32.const 64)))))
      (br_if $again (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
    (local.get $fine))
`;

/** The input of `call` and `relay`. */
export function calling(capability: string, operation: string, input: unknown): object {
  return { capability, operation, input: JSON.stringify(input) };
}

/** The same along a chain: each of `ids` calls the next, and the last is asked for `operation`. */
export function chain(ids: readonly string[], operation: string, input: unknown): object {
  const [next, ...rest] = ids as readonly [string, ...string[]];
  return rest.length === 0 ? calling(next, operation, input) : calling(next, "call", chain(rest, operation, input));
}

/** Grants for any version. */
export function any(...ids: readonly string[]): readonly InvokeGrant[] {
  return ids.map((id) => ({ id, versions: "*" }));
}

/** Why a guest got no answer: the error that `call` handed on, or the kind of its own ending. */
export function errorOf(outcome: Outcome): unknown {
  return outcome.kind === "failed" ? outcome.failure.detail : outcome.kind;
}

/** What of a host is in use, on all lanes: nothing, where nothing runs. */
export function inUse(host: Host): unknown {
  const { runsInFlight, lanes } = host.stats();
  const busy = lanes.map(({ pool, slots }) => ({
    threads: pool.threads - pool.free,
    waiting: pool.waiting + slots.waiting,
    slots: slots.inUse,
    releasedAgain: slots.releasedAgain,
  }));
  return { runsInFlight, busy };
}

/** What `inUse` says of an idle host with that many lanes. */
export function nothing(lanes: number): unknown {
  const busy = Array.from({ length: lanes }, () => ({ threads: 0, waiting: 0, slots: 0, releasedAgain: 0 }));
  return { runsInFlight: 0, busy };
}
