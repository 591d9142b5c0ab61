import { syncBuiltinESMExports } from "node:module";
import threads from "node:worker_threads";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import type { createPlugin, Plugin } from "@extism/extism";
import { compared, type OpenSubject } from "./echo-subject.ts";
import { MESSAGE } from "./message.ts";

/** The plugin that says what it was given, as many times as there are threads; calls wait for one that is free. */
export async function openExtism(name: string, count: number): Promise<OpenSubject> {
  const data = await parse(ECHO_WAT);
  const create = await importWithPlainWorkers();
  const open = () => create({ wasm: [{ data }] }, { runInWorker: true, useWasi: false });
  const plugins = await Promise.all(Array.from({ length: count }, open));
  const free = [...plugins];
  const waiting: ((plugin: Plugin) => void)[] = [];
  const call = async (): Promise<unknown> => {
    const plugin = free.pop() ?? (await new Promise<Plugin>((resolve) => waiting.push(resolve)));
    try {
      const output = await plugin.call("run", JSON.stringify(MESSAGE));
      return output?.json();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free.push(plugin);
      else next(plugin);
    }
  };
  return {
    name,
    call: compared(name, call, JSON.stringify),
    close: async () => {
      await Promise.all(plugins.map((plugin) => plugin.close()));
    },
  };
}

/**
 * Imports Extism so that its workers are Node without flags, as the host's are. By themselves they would inherit tsx from the
 * bench, and with it source maps, which Node 20 cannot resolve in the `data:` URL that Extism starts a worker from.
 */
async function importWithPlainWorkers(): Promise<typeof createPlugin> {
  const original = threads.Worker;
  threads.Worker = class extends original {
    constructor(file: string | URL, options?: threads.WorkerOptions) {
      super(file, { ...options, execArgv: [] });
    }
  };
  syncBuiltinESMExports();
  return (await import("@extism/extism")).createPlugin;
}

const ECHO_WAT = `(module
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (import "extism:host/env" "input_load_u8" (func $input_load_u8 (param i64) (result i32)))
  (import "extism:host/env" "input_load_u64" (func $input_load_u64 (param i64) (result i64)))
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "store_u64" (func $store_u64 (param i64 i64)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (memory (export "memory") 1)
  (func (export "run") (result i32) (local $length i64) (local $at i64) (local $output i64)
    (local.set $length (call $input_length))
    (local.set $output (call $alloc (local.get $length)))
    (loop $words
      (if (i64.le_u (i64.add (local.get $at) (i64.const 8)) (local.get $length)) (then
        (call $store_u64 (i64.add (local.get $output) (local.get $at)) (call $input_load_u64 (local.get $at)))
        (local.set $at (i64.add (local.get $at) (i64.const 8)))
        (br $words))))
    (loop $bytes
      (if (i64.lt_u (local.get $at) (local.get $length)) (then
        (call $store_u8 (i64.add (local.get $output) (local.get $at)) (call $input_load_u8 (local.get $at)))
        (local.set $at (i64.add (local.get $at) (i64.const 1)))
        (br $bytes))))
    (call $output_set (local.get $output) (local.get $length))
    (i32.const 0)))`;
