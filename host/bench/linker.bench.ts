// What does the linker cost beside jco's glue, to make an instance and to call it?
//
// npm run bench -- linker [--quick] [--json]
//
// Needs nothing but the repository. Rows: one instance that does nothing and is dropped ("instance"), and one call of an
// instance that stays ("call"), for a component of one core module and for one that QuickJS runs in. Times are of the processor,
// the fastest of several rounds; both are measured in turn in one run. Both include the run's counters, the memories and V8's own
// work on the core modules; what the linker takes beside these is printed apart for the one module, where it can be told.
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { buildQuickjsEcho, buildWatEcho } from "./linked-components.ts";
import { type Bench, benchOf } from "./linked-instances.ts";

const { values } = parseArgs({
  options: { quick: { type: "boolean", default: false }, json: { type: "boolean", default: false } },
});

interface Row {
  readonly name: string;
  readonly glueUs: number;
  readonly linkedUs: number;
  readonly coreUs: number | null;
}

await main();

async function main(): Promise<void> {
  const rounds = values.quick ? 5 : 15;
  const rows: Row[] = [];
  for (const [name, component] of [
    ["WAT", await buildWatEcho()],
    ["QuickJS", await buildQuickjsEcho()],
  ] as const) {
    const glue = await benchOf(component, "glue");
    const linked = await benchOf(component);
    const times = name === "WAT" ? 500 : 20;
    const [glueUs, linkedUs, coreUs] = fastest(rounds, times, [glue.instance, linked.instance, linked.core]);
    rows.push({
      name: `${name}: instance`,
      glueUs: glueUs!,
      linkedUs: linkedUs!,
      coreUs: name === "WAT" ? coreUs! : null,
    });
    rows.push(callRow(`${name}: call`, rounds, name === "WAT" ? 5_000 : 500, glue, linked));
  }
  const { model } = cpus()[0]!;
  const machine = { cpu: model, cores: cpus().length, load: loadavg()[0]!, node: process.version };
  if (values.json) {
    say(JSON.stringify({ machine, rows }, null, 2));
    return;
  }
  say(`${model}, ${machine.cores} cores, load ${machine.load.toFixed(1)}, Node ${machine.node}`);
  for (const { name, glueUs, linkedUs, coreUs } of rows) {
    const beside = coreUs === null ? "" : `, ${(linkedUs - coreUs).toFixed(1)} us beside its cores'`;
    say(
      `${name.padEnd(20)} glue ${glueUs.toFixed(1).padStart(8)} us   linker ${linkedUs.toFixed(1).padStart(8)} us   ratio ${(linkedUs / glueUs).toFixed(3)}${beside}`,
    );
  }
}

function callRow(name: string, rounds: number, times: number, glue: Bench, linked: Bench): Row {
  const [glueUs, linkedUs] = fastest(rounds, times, [glue.caller(), linked.caller()]);
  return { name, glueUs: glueUs!, linkedUs: linkedUs!, coreUs: null };
}

/** Microseconds of each of the works, in their fastest rounds. */
function fastest(rounds: number, times: number, works: readonly (() => unknown)[]): number[] {
  const best = works.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < rounds; round++) {
    for (const [index, work] of works.entries()) {
      const before = process.cpuUsage();
      for (let time = 0; time < times; time++) work();
      const { user, system } = process.cpuUsage(before);
      best[index] = Math.min(best[index]!, (user + system) / times);
    }
  }
  return best;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
