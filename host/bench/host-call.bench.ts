// What does one synchronous host call to the main thread cost, in round trips of an empty Piscina task?
//
// npm run bench -- host-call [--quick] [--json]
//
// Needs dist/, which npm run bench builds: the built host is measured. One call in flight on one thread. A guest says a
// JSON text of some 150 bytes, after no call or after one call of a function of the application that says it too. All
// take turns in each round; a round's time is the median of its calls. The cost is the time of a run with the call,
// less that of a run without, by the time of the floor (the faster of two, see floor.ts), which takes the same text;
// the median over the rounds.
// Bar: at most one floor round trip.
import { caller, OFFER } from "./bench-packages.ts";
import { print, readFlags } from "./bench-terminal.ts";
import { loadBuiltHost } from "./built-host.ts";
import { compared, floorSubject } from "./echo-subject.ts";
import { openFloors } from "./floor.ts";
import { type LoadEffort, loadInTurn, quantile } from "./load.ts";
import { MESSAGE_TEXT } from "./message.ts";

// Many short rounds: a difference of two times is lost in what a busy machine does between long ones.
const FULL: LoadEffort = { rounds: 60, roundMs: 40, warmUpMs: 2_000, inFlight: 1 };
const QUICK: LoadEffort = { rounds: 24, roundMs: 30, warmUpMs: 1_000, inFlight: 1 };

const flags = readFlags();
const { createHost } = await loadBuiltHost();
const imports = { [OFFER]: { echo: (text: string) => text } };
const host = await createHost({ threads: 1, imports });
const { id } = await host.install(await caller());
const floors = openFloors(1);
const withCalls = (name: string, calls: number) => {
  const call = async (): Promise<unknown> => {
    const outcome = await host.run(id, { calls, text: MESSAGE_TEXT }).outcome;
    if (outcome.kind !== "succeeded") throw new Error(`${name} ended ${outcome.kind}`);
    if (outcome.usage.hostCalls !== calls) throw new Error(`${name} called ${outcome.usage.hostCalls} times`);
    return outcome.output;
  };
  return { name, call: compared(name, call, String) };
};
const without = withCalls("a run", 0);
const one = withCalls("a run with a host call", 1);
const loads = await loadInTurn([...floors.map(floorSubject), without, one], flags.quick ? QUICK : FULL);
await Promise.all([...floors, host].map((each) => each.close()));

const microseconds = (name: string): number[] => loads.get(name)!.map(({ p50Ms }) => 1_000 * p50Ms);
const floor = floors.map(({ name }) => name).reduce((a, b) => (typical(b) < typical(a) ? b : a));
const costs = microseconds(one.name).map((time, round) => time - microseconds(without.name)[round]!);
const overFloor = quantile(costs.map((cost, round) => cost / microseconds(floor)[round]!));
// The bar is an upper one: noise must not pass it.
if (!(overFloor > 0)) throw new Error(`A host call took ${quantile(costs)} us: the machine is too busy to tell`);
const rows = [...loads.keys()].map((name) => ({ name, microseconds: typical(name) }));
print(flags, { hostCall: { overFloor }, floor, rows }, [
  ...rows.map((row) => `${row.name.padEnd(24)}${row.microseconds.toFixed(1).padStart(8)} us`),
  `one host call           ${quantile(costs).toFixed(1).padStart(8)} us   x ${overFloor.toFixed(2)} of "${floor}", the faster`,
]);

function typical(name: string): number {
  return quantile(microseconds(name));
}
