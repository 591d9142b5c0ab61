// What does an installed capability cost while it is idle?
//
// npm run bench -- capabilities [--quick] [--full] [--json]
//
// Needs dist/, which npm run bench builds: the built host is measured. Installs 100 components of 3 KB that differ in
// their constants, with --full 1,000 (minutes), with --quick 80, and runs each once. Memory is read after a collection,
// before and after; the first 70 are left out of it, so that the compiled code of the cache (64 capabilities) is there
// on both sides and what counts is a capability that is beyond it. Reported: memory of a capability, artifacts in
// memory and threads. Holds, or the bench fails: artifacts stay within the cache's bound, and the process has as many
// threads as before.
import { readdirSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { nativeEcho } from "./bench-packages.ts";
import { print, readFlags } from "./bench-terminal.ts";
import { loadBuiltHost } from "./built-host.ts";
import { MESSAGE, MESSAGE_TEXT } from "./message.ts";

const CACHE_ENTRIES = 64;
const FIRST = 70;

const flags = readFlags();
const count = flags.full ? 1_000 : flags.quick ? 80 : 100;
const { createHost } = await loadBuiltHost();
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const host = await createHost({ threads: 2, compile: { cacheEntries: CACHE_ENTRIES } });
await installAll(0, FIRST);
const before = await measure();
const startedAt = performance.now();
await installAll(FIRST, count);
const installMs = (performance.now() - startedAt) / (count - FIRST);
const after = await measure();
const { capabilities, cache } = host.stats();
await host.close();

if (capabilities !== count) throw new Error(`${capabilities} capabilities are installed`);
if (cache.artifactsInMemory > CACHE_ENTRIES) throw new Error(`${cache.artifactsInMemory} artifacts are in memory`);
if (after.threads > before.threads) throw new Error(`There are ${after.threads} threads, before ${before.threads}`);
const kilobytes = (field: "rss" | "heap" | "outside") => (after[field] - before[field]) / 1_024 / (count - FIRST);
const each = {
  residentKilobytes: kilobytes("rss"),
  heapKilobytes: kilobytes("heap"),
  outsideKilobytes: kilobytes("outside"),
};
const rows = { installed: count, artifactsInMemory: cache.artifactsInMemory, threads: after.threads, installMs };
print(flags, { capabilities: each, rows }, [
  `${count} installed, ${installMs.toFixed(0)} ms each; ${cache.artifactsInMemory} artifacts in memory; ${after.threads} threads, before ${before.threads}`,
  `each of the last ${count - FIRST}: resident ${each.residentKilobytes.toFixed(1)} KB, heap ${each.heapKilobytes.toFixed(1)} KB, buffers ${each.outsideKilobytes.toFixed(1)} KB`,
]);

async function installAll(from: number, to: number): Promise<void> {
  for (let index = from; index < to; index++) {
    const { manifest, component } = await nativeEcho(index);
    const { id } = await host.install({ manifest: { ...manifest, id: `bench.echo-${index}` }, component });
    const outcome = await host.run(id, MESSAGE).outcome;
    if (outcome.kind !== "succeeded" || JSON.stringify(outcome.output) !== MESSAGE_TEXT) {
      throw new Error(`${id}: ${JSON.stringify(outcome)}`);
    }
  }
}

async function measure() {
  // Finalizers run between turns, and free what a collection after them finds.
  for (let turn = 0; turn < 3; turn++) {
    collect();
    await setTimeout(50);
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, heap: heapUsed, outside: external, threads: threadCount() };
}

/** Threads of this process; 0 where the system does not tell. */
function threadCount(): number {
  return process.platform === "linux" ? readdirSync("/proc/self/task").length : 0;
}
