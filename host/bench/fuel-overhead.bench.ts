// How much slower is a metered module than the same module unmetered?
//
// npm run bench -- fuel-overhead [--quick] [--json] [--only fib,tak] [--against <path of another meter.ts>]...
//
// Needs nothing but the repository: kernels/ holds built modules, and QuickJS is built from a development dependency. The
// row of StarlingMonkey, which runs the same program as QuickJS, needs `npm run starlingmonkey` once.
// Bars (metering.md): geometric mean at most 1.10 on Node 20 and 1.15 on Node 24, no row above 1.55, modules grow by at
// most 1.40, at least 60 MB/s. StarlingMonkey: at most 1.12 and 1.20, growth at most 1.25, its 12 MB metered in at most
// 0.3 s warm and 1 s cold. Each `--against` adds a column, so that two states of the meter meet in one run.
import { cpus, loadavg } from "node:os";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { type Metered, meter } from "../meter/meter.ts";
import { buildQuickjs, findStarlingmonkey } from "./engine-component.ts";
import { KERNELS, kernelBytes } from "./kernels.ts";
import { kernelSubject, meteredBy, unmetered, type Variant } from "./metered-variants.ts";
import { type MeteringSpeed, measureColdMs, measureMetering } from "./metering-speed.ts";
import { compare, type Effort, geometricMean, type Row, type Subject } from "./trials.ts";

const FULL: Effort = { trials: 7, repetitions: 20, warmUps: 8 };
const QUICK: Effort = { trials: 3, repetitions: 12, warmUps: 6 };

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
  const quickjs = wanted("quickjs") ? await buildQuickjs() : undefined;
  const starlingmonkey = wanted("starlingmonkey") ? await findStarlingmonkey() : undefined;
  for (const engine of [quickjs, starlingmonkey]) if (engine !== undefined) subjects.push(engine.subject(variants));

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
  const speeds = {
    kernels: suite.length > 0 ? measureMetering(suite, 200) : undefined,
    quickjs: quickjs && measureMetering(quickjs.cores, 20),
    starlingmonkey: starlingmonkey && {
      ...measureMetering([starlingmonkey.core], 10),
      coldMs: measureColdMs(starlingmonkey.core),
    },
  };
  if (values.json) {
    say(JSON.stringify({ machine, rows, means, speeds }, null, 2));
    return;
  }
  say(`${"geometric mean".padEnd(27)}${means.map((mean) => mean.toFixed(3).padEnd(22)).join("")}`.trimEnd());
  if (speeds.kernels !== undefined) say(speedOf("kernels", speeds.kernels));
  if (speeds.quickjs !== undefined) say(speedOf("quickjs", speeds.quickjs));
  if (speeds.starlingmonkey !== undefined) {
    const { warmMs, coldMs } = speeds.starlingmonkey;
    const megabytes = (starlingmonkey!.core.length / 1e6).toFixed(1);
    const times = `${megabytes} MB take ${warmMs.toFixed(0)} ms, in a new process ${coldMs.toFixed(0)} ms`;
    say(`${speedOf("starlingmonkey", speeds.starlingmonkey)}; ${times}`);
  } else if (wanted("starlingmonkey")) say("starlingmonkey is left out: npm run starlingmonkey builds it");
}

function speedOf(name: string, { growth, megabytesPerSecond }: MeteringSpeed): string {
  return `${name.padEnd(17)}grows by ${growth.toFixed(3)}, metered at ${megabytesPerSecond.toFixed(0)} MB/s`;
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
