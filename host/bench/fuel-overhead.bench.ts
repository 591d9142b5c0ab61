// How much slower is a metered module than the same module unmetered?
//
// npm run bench -- fuel-overhead [--quick] [--json] [--only fib,tak] [--against <path of another meter.ts>]...
//
// Needs nothing but the repository: kernels/ holds built modules, and QuickJS is built from a development dependency.
// Bars (metering.md): geometric mean at most 1.10 on Node 20 and 1.15 on Node 24, no row above 1.55, modules grow by at
// most 1.40, at least 60 MB/s. Each `--against` adds a column, so that two states of the meter meet in one run.
import { cpus, loadavg } from "node:os";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { type Metered, meter } from "../meter/meter.ts";
import { buildQuickjs } from "./engine-component.ts";
import { KERNELS, kernelBytes } from "./kernels.ts";
import { kernelSubject, meteredBy, unmetered, type Variant } from "./metered-variants.ts";
import { compare, type Effort, geometricMean, type Row, type Subject } from "./trials.ts";

const FULL: Effort = { trials: 7, repetitions: 20, warmUps: 8 };
const QUICK: Effort = { trials: 3, repetitions: 12, warmUps: 6 };

interface Bulk {
  /** Bytes out per byte in. */
  readonly growth: number;
  readonly megabytesPerSecond: number;
}

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    only: { type: "string" },
    against: { type: "string", multiple: true, default: [] },
  },
});

await main();

async function main(): Promise<void> {
  const only = values.only?.split(",");
  const wanted = (name: string): boolean => only === undefined || only.includes(name);
  const variants: Variant[] = [unmetered, meteredBy(meter)];
  for (const path of values.against) {
    const other = (await import(pathToFileURL(resolve(path)).href)) as { meter(bytes: Uint8Array): Metered };
    variants.push(meteredBy(other.meter));
  }
  const subjects: Subject[] = KERNELS.filter(({ name }) => wanted(name)).map((each) => kernelSubject(each, variants));
  const suite = KERNELS.filter(({ name }) => wanted(name)).map(({ name }) => kernelBytes(name));
  let engine: Bulk | undefined;
  if (wanted("quickjs")) {
    const quickjs = await buildQuickjs();
    subjects.push(quickjs.subject(variants));
    engine = measureMeter(quickjs.cores, 20);
  }

  const { model } = cpus()[0]!;
  const machine = { cpu: model, cores: cpus().length, load: loadavg()[0]!, node: process.version };
  if (!values.json) say(`${model}, ${machine.cores} cores, load ${machine.load.toFixed(1)}, Node ${machine.node}`);
  const rows: Row[] = [];
  for (const subject of subjects) {
    const row = compare(subject, variants.length, values.quick ? QUICK : FULL);
    rows.push(row);
    if (!values.json) say(lineOf(row));
  }
  const means = variants.slice(1).map((_, index) => geometricMean(rows.map(({ ratios }) => ratios[index]!)));
  const kernels = measureMeter(suite, 200);
  if (values.json) {
    say(JSON.stringify({ machine, rows, means, kernels, engine }, null, 2));
    return;
  }
  say(`${"geometric mean".padEnd(27)}${means.map((mean) => mean.toFixed(3).padEnd(22)).join("")}`);
  say(
    `The kernels grow by ${kernels.growth.toFixed(3)} and are metered at ${kernels.megabytesPerSecond.toFixed(0)} MB/s`,
  );
  if (engine === undefined) return;
  say(`QuickJS grows by ${engine.growth.toFixed(3)} and is metered at ${engine.megabytesPerSecond.toFixed(0)} MB/s`);
}

/** The fastest of `repetitions` times that all the modules are metered. */
function measureMeter(modules: readonly Uint8Array[], repetitions: number): Bulk {
  const bytesIn = modules.reduce((sum, { length }) => sum + length, 0);
  let bytesOut = 0;
  let best = Number.POSITIVE_INFINITY;
  for (let left = repetitions; left > 0; left--) {
    const before = process.cpuUsage();
    bytesOut = modules.reduce((sum, bytes) => sum + meter(bytes).bytes.length, 0);
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1_000);
  }
  return { growth: bytesOut / bytesIn, megabytesPerSecond: bytesIn / 1_000 / best };
}

function lineOf({ name, baseMs, ratios, ranges }: Row): string {
  const cells = ratios.map((ratio, index) => {
    const [low, high] = ranges[index]!;
    return `${ratio.toFixed(3)} (${low.toFixed(2)} to ${high.toFixed(2)})`.padEnd(22);
  });
  return `${name.padEnd(17)}${`${baseMs.toFixed(1)} ms`.padEnd(10)}${cells.join("")}`.trimEnd();
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
