import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { meter } from "../meter/meter.ts";

const COLD_METERING = fileURLToPath(new URL("cold-metering.ts", import.meta.url));

export interface MeteringSpeed {
  /** Bytes out per byte in. */
  readonly growth: number;
  /** By the time of the processor, with the meter warm. */
  readonly megabytesPerSecond: number;
  /** By the clock, with the meter warm. */
  readonly warmMs: number;
}

/** The fastest of `repetitions` times that all the modules are metered. */
export function measureMetering(modules: readonly Uint8Array[], repetitions: number): MeteringSpeed {
  const bytesIn = modules.reduce((sum, { length }) => sum + length, 0);
  let bytesOut = 0;
  let busyMs = Number.POSITIVE_INFINITY;
  let warmMs = Number.POSITIVE_INFINITY;
  for (let left = repetitions; left > 0; left--) {
    const start = performance.now();
    const before = process.cpuUsage();
    bytesOut = modules.reduce((sum, bytes) => sum + meter(bytes).bytes.length, 0);
    const { user, system } = process.cpuUsage(before);
    busyMs = Math.min(busyMs, (user + system) / 1_000);
    warmMs = Math.min(warmMs, performance.now() - start);
  }
  return { growth: bytesOut / bytesIn, megabytesPerSecond: bytesIn / 1_000 / busyMs, warmMs };
}

/** The time by the clock that a process takes for the first module that it meters, its start aside: the fastest of three. */
export function measureColdMs(module: Uint8Array): number {
  const folder = mkdtempSync(join(tmpdir(), "airlock-bench-"));
  try {
    const file = join(folder, "module.wasm");
    writeFileSync(file, module);
    return Math.min(...[1, 2, 3].map(() => meterInNewProcess(file)));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function meterInNewProcess(file: string): number {
  const options = { encoding: "utf8" } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [...process.execArgv, COLD_METERING, file], options);
  if (status !== 0) throw new Error(`Metering in a new process failed: ${stderr}`);
  return Number(stdout);
}
