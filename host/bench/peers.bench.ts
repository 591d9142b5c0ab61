// What throughput does a capability reach beside the same plugin of Extism, in its worker mode?
//
// npm run bench -- peers [--quick] [--json]
//
// Needs dist/, which npm run bench builds, and @extism/extism, a development dependency. 8 calls in flight on 2
// threads, a JSON object of some 150 bytes in and the same out. Extism runs one call a plugin at a time, so there are
// two plugins, each with its worker, and what is in flight waits for either. Its plugin is WAT that copies the input to
// the output by words in Extism's own memory, which is less than a plugin's kit does. Extism keeps the instance as a
// run left it; the host gives each run a new or equal one, meters it and checks input and output against a schema. Both
// take turns in each round; the ratio is the median over the rounds.
// Bar: at least 1.5 times the throughput.
import { nativeEcho } from "./bench-packages.ts";
import { print, readFlags } from "./bench-terminal.ts";
import { loadBuiltHost } from "./built-host.ts";
import { openEcho } from "./echo-subject.ts";
import { openExtism } from "./extism.ts";
import { type LoadEffort, loadInTurn, medianRatio, quantile } from "./load.ts";

const THREADS = 2;
const FULL: LoadEffort = { rounds: 9, roundMs: 500, warmUpMs: 1_500, inFlight: 8 };
const QUICK: LoadEffort = { rounds: 5, roundMs: 250, warmUpMs: 500, inFlight: 8 };

const flags = readFlags();
const { createHost } = await loadBuiltHost();
const host = await openEcho("airlock", await createHost({ threads: THREADS }), "reset", await nativeEcho());
const extism = await openExtism("extism, in workers", THREADS);
const loads = await loadInTurn([host, extism], flags.quick ? QUICK : FULL);
await Promise.all([host.close(), extism.close()]);

const rows = [...loads].map(([name, rounds]) => ({
  name,
  perSecond: quantile(rounds.map(({ perSecond }) => perSecond)),
  p50Ms: quantile(rounds.map(({ p50Ms }) => p50Ms)),
}));
const extismWorkerRatio = medianRatio(loads.get(host.name)!, loads.get(extism.name)!, "perSecond");
print(flags, { peers: { extismWorkerRatio }, rows }, [
  ...rows.map(({ name, perSecond, p50Ms }) => {
    return `${name.padEnd(24)}${perSecond.toFixed(0).padStart(7)} a second   p50 ${p50Ms.toFixed(3).padStart(7)} ms`;
  }),
  `ratio of throughput     ${extismWorkerRatio.toFixed(2).padStart(7)}`,
]);
