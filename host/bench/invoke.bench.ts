// What share of the throughput of an empty Piscina task does a capability reach, fresh-equivalent isolation included?
//
// npm run bench -- invoke [--quick] [--json]
//
// Needs dist/, which npm run bench builds: the built host is measured. 8 calls in flight on 2 threads, a JSON object of
// some 150 bytes in and the same out, which is compared now and then. The floor is an identity function in Piscina, on
// a text of the same length, with `atomics` "sync" (Piscina's default) and "disabled" (as the host has it); the faster
// counts. The native component is WAT of 3 KB, the TypeScript one is built by the toolchain; both say what they were
// given; closing checks that they ran on the tier they are named after, reset where none is named. All take turns in
// each round; ratios are medians over the rounds.
// Bars: native at least 60 % of the floor's throughput and at most twice its p50; TypeScript at least 25 %.
import { nativeEcho, typescriptEcho } from "./bench-packages.ts";
import { print, readFlags } from "./bench-terminal.ts";
import { loadBuiltHost } from "./built-host.ts";
import { floorSubject, type OpenSubject, openEcho } from "./echo-subject.ts";
import { openFloors } from "./floor.ts";
import { type LoadEffort, type LoadSubject, loadInTurn, medianRatio, quantile } from "./load.ts";

const THREADS = 2;
const FULL: LoadEffort = { rounds: 9, roundMs: 500, warmUpMs: 1_500, inFlight: 8 };
const QUICK: LoadEffort = { rounds: 3, roundMs: 250, warmUpMs: 500, inFlight: 8 };

const flags = readFlags();
const { createHost } = await loadBuiltHost();
const native = await nativeEcho();
const typescript = await typescriptEcho();
const floors = openFloors(THREADS);
const echoes: OpenSubject[] = [];
for (const [name, tier, each] of [
  ["native", "reset", native],
  ["native, recycled", "recycled", native],
  ["native, fresh", "fresh", native],
  ["typescript", "reset", typescript],
] as const) {
  echoes.push(await openEcho(name, await createHost({ threads: THREADS, tier }), tier, each));
}
const subjects: LoadSubject[] = [...floors.map(floorSubject), ...echoes];
const loads = await loadInTurn(subjects, flags.quick ? QUICK : FULL);
await Promise.all([...floors, ...echoes].map((each) => each.close()));

const rows = subjects.map(({ name }) => {
  const rounds = loads.get(name)!;
  return {
    name,
    perSecond: quantile(rounds.map(({ perSecond }) => perSecond)),
    p50Ms: quantile(rounds.map(({ p50Ms }) => p50Ms)),
  };
});
const floor = rows.slice(0, floors.length).reduce((a, b) => (b.perSecond > a.perSecond ? b : a));
const share = (name: string): number => medianRatio(loads.get(name)!, loads.get(floor.name)!, "perSecond");
const latency = (name: string): number => medianRatio(loads.get(name)!, loads.get(floor.name)!, "p50Ms");
const invoke = {
  nativeShareOfFloor: share("native"),
  nativeP50OverFloor: latency("native"),
  typescriptShareOfFloor: share("typescript"),
};
print(flags, { invoke, floor: floor.name, rows }, [
  `The floor is "${floor.name}", the faster of two`,
  ...rows.map(({ name, perSecond, p50Ms }) => {
    const figures = `${perSecond.toFixed(0).padStart(7)} a second   p50 ${p50Ms.toFixed(3).padStart(7)} ms`;
    const ratios = `${(100 * share(name)).toFixed(0).padStart(4)} % of the floor, p50 x ${latency(name).toFixed(2)}`;
    return `${name.padEnd(24)}${figures}   ${ratios}`;
  }),
]);
