// What does a guest pay for one event on top of its run?
//
// npm run bench -- event [--quick] [--json]
//
// Needs dist/, which npm run bench builds: the built host is measured. One call in flight on one thread; a subscriber
// counts what is committed. A guest emits 500 events, or none, and both take turns in each round; a round's time is the
// median of its calls, the figure the median over the rounds. Events of a type with a schema are what counts; those
// without are shown beside. The time is that of the caller: it includes handing the events over to the subscriber.
// Bar: at most 2 us.
import { emitter } from "./bench-packages.ts";
import { print, readFlags } from "./bench-terminal.ts";
import { loadBuiltHost } from "./built-host.ts";
import { type LoadEffort, loadInTurn, quantile } from "./load.ts";

const EVENTS = 500;
const FULL: LoadEffort = { rounds: 30, roundMs: 80, warmUpMs: 2_000, inFlight: 1 };
const QUICK: LoadEffort = { rounds: 12, roundMs: 60, warmUpMs: 1_000, inFlight: 1 };

const flags = readFlags();
const { createHost } = await loadBuiltHost();
const host = await createHost({ threads: 1 });
const { id } = await host.install(await emitter());
let committed = 0;
host.subscribe({}, () => {
  committed++;
});
const emits = (name: string, count: number, declared: boolean) => ({
  name,
  call: async (): Promise<void> => {
    committed = 0;
    const outcome = await host.run(id, { count, declared }).outcome;
    if (outcome.kind !== "succeeded" || outcome.output !== 0) throw new Error(`${name}: ${JSON.stringify(outcome)}`);
    if (committed !== count) throw new Error(`${name}: ${committed} events were committed`);
  },
});
const none = emits("no event", 0, true);
const checked = emits(`${EVENTS} events with a schema`, EVENTS, true);
const plain = emits(`${EVENTS} events without`, EVENTS, false);
const loads = await loadInTurn([none, checked, plain], flags.quick ? QUICK : FULL);
await host.close();

const each = ({ name }: { readonly name: string }): number => {
  const base = loads.get(none.name)!;
  return quantile(loads.get(name)!.map(({ p50Ms }, round) => (1_000 * (p50Ms - base[round]!.p50Ms)) / EVENTS));
};
const event = { microseconds: each(checked), plainMicroseconds: each(plain) };
// The bar is an upper one: noise must not pass it.
if (!(event.microseconds > 0))
  throw new Error(`An event took ${event.microseconds} us: the machine is too busy to tell`);
const rows = [...loads].map(([name, rounds]) => ({ name, microseconds: 1_000 * quantile(rounds.map((r) => r.p50Ms)) }));
print(flags, { event, rows }, [
  ...rows.map((row) => `${row.name.padEnd(26)}${row.microseconds.toFixed(1).padStart(9)} us`),
  `one event with a schema   ${event.microseconds.toFixed(2).padStart(9)} us`,
  `one event without         ${event.plainMicroseconds.toFixed(2).padStart(9)} us`,
]);
