// What does it cost to install a small component, cold and from the disk cache?
//
// npm run bench -- install [--quick] [--json]
//
// Needs dist/, which npm run bench builds: the built host is measured. The component is WAT; each install has other
// constants in it, so that none was ever seen. Times are of the wall, medians of several installs on one host that
// keeps nothing in memory, a spare process ready before each ("cold"); "kept" is another host in the same process, on
// the same directory. "first" is the first install of that host. Bars: cold at most 300 ms, kept at most 40 ms.
// Installing includes reading, decoding and admitting the component in all rows.
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Host, PackageInMemory } from "../index.ts";
import { nativeEcho } from "./bench-packages.ts";
import { loadBuiltHost } from "./built-host.ts";

const { values } = parseArgs({
  options: { quick: { type: "boolean", default: false }, json: { type: "boolean", default: false } },
});

/** Long enough for a spare process to be up, also on a busy machine. */
const SPARE_MS = 1_500;

await main();

async function main(): Promise<void> {
  const count = values.quick ? 7 : 15;
  const { createHost } = await loadBuiltHost();
  const directory = mkdtempSync(join(tmpdir(), "airlock-bench-"));
  const compile = { cacheDirectory: directory, cacheEntries: 0 };
  const packages = await Promise.all(Array.from({ length: count + 1 }, (_, index) => nativeEcho(index)));
  const cold: number[] = [];
  const kept: number[] = [];
  let bytes = 0;
  try {
    const first = await createHost({ threads: 1, compile });
    for (const [index, each] of packages.entries()) {
      // The first starts the first spare.
      const ms = await installMs(first, each);
      if (index > 0) cold.push(ms);
      bytes = each.component.length;
      await setTimeout(SPARE_MS);
    }
    await first.close();
    const second = await createHost({ threads: 1, compile });
    await setTimeout(SPARE_MS);
    for (const each of packages) kept.push(await installMs(second, each));
    const { disk } = second.stats().cache;
    if (disk?.hits !== 2 * packages.length) throw new Error(`Not all came from the disk: ${JSON.stringify(disk)}`);
    await second.close();
  } finally {
    rmSync(directory, { recursive: true });
  }
  const rows = { bytes, coldMs: median(cold), keptFirstMs: kept[0]!, keptMs: median(kept.slice(1)) };
  const { model } = cpus()[0]!;
  const machine = { cpu: model, cores: cpus().length, load: loadavg()[0]!, node: process.version };
  if (values.json) {
    say(JSON.stringify({ machine, rows }, null, 2));
    return;
  }
  say(`${model}, ${machine.cores} cores, load ${machine.load.toFixed(1)}, Node ${machine.node}; ${bytes} bytes`);
  say(`cold, a spare ready   ${rows.coldMs.toFixed(1).padStart(8)} ms`);
  say(`kept, first           ${rows.keptFirstMs.toFixed(1).padStart(8)} ms`);
  say(
    `kept                  ${rows.keptMs.toFixed(1).padStart(8)} ms   ratio ${(rows.keptMs / rows.coldMs).toFixed(3)}`,
  );
}

async function installMs(host: Host, each: PackageInMemory): Promise<number> {
  const startedAt = performance.now();
  const { id } = await host.install(each);
  const ms = performance.now() - startedAt;
  host.uninstall(id);
  return ms;
}

function median(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[times.length >> 1]!;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
