// How soon is the caller of a cancelled tight loop answered, and how soon does the next run of a full pool succeed?
//
// npm run bench -- cancel [--quick] [--json]
//
// Needs dist/, which npm run bench builds: the built host is measured, with one thread, so that the loop fills the
// pool. The loop is known to run by an event that it emits first. "Answered" is from `cancel()` to the outcome.
// "Capacity back" is from `cancel()` to the success of a run that was asked for right after the answer: a new thread,
// its first instance and the run are in it. Not a ratio: both are times that somebody waits. Both figures are the p99
// of 200 cancels (quick: of 40); median and worst beside.
// Bars: p99 of the answer at most 5 ms, of the capacity at most 150 ms.
import { nativeEcho, tightLoop } from "./bench-packages.ts";
import { print, readFlags } from "./bench-terminal.ts";
import { loadBuiltHost } from "./built-host.ts";
import { quantile } from "./load.ts";
import { MESSAGE } from "./message.ts";

const flags = readFlags();
const { createHost } = await loadBuiltHost();
const host = await createHost({ threads: 1 });
const loop = await host.install(await tightLoop());
const echo = await host.install(await nativeEcho());
const answers: number[] = [];
const returns: number[] = [];
const count = flags.quick ? 40 : 200;
const WARM_UPS = 5;
for (let index = -WARM_UPS; index < count; index++) {
  const run = host.run(loop.id, {});
  for await (const { kind } of run) if (kind === "event") break;
  const cancelledAt = performance.now();
  run.cancel();
  const { kind } = await run.outcome;
  const answeredAt = performance.now();
  if (kind !== "cancelled") throw new Error(`The loop ended ${kind}`);
  const next = await host.run(echo.id, MESSAGE).outcome;
  const backAt = performance.now();
  if (next.kind !== "succeeded") throw new Error(`The next run ended ${next.kind}`);
  if (index < 0) continue;
  answers.push(answeredAt - cancelledAt);
  returns.push(backAt - cancelledAt);
}
await host.close();

const spread = (times: readonly number[]) => ({
  p50: quantile(times),
  p99: quantile(times, 0.99),
  max: Math.max(...times),
});
const rows = { answer: spread(answers), capacityBack: spread(returns) };
const cancel = { answerP99Ms: rows.answer.p99, capacityBackMs: rows.capacityBack.p99 };
print(
  flags,
  { cancel, rows, cancels: count },
  Object.entries(rows).map(([name, { p50, p99, max }]) => {
    const figures = [p50, p99, max].map((ms) => ms.toFixed(2).padStart(8));
    return `${name.padEnd(14)}p50 ${figures[0]} ms   p99 ${figures[1]} ms   worst ${figures[2]} ms`;
  }),
);
