// What does a run cost besides what its provider does: registry, slot, state machine, events, outcome?
//
// npm run bench -- provider-run [--quick] [--json]
//
// Needs dist/, which npm run bench builds. Rows: a provider that hands in a whole outcome, as components do; the same under a
// deadline that never comes, so with a timer; with 100 deltas that nobody reads; and a function of the application, whose input
// and output are copied and whose wall clock is a timer. Each is the fastest of several rounds, one run after the other, and
// stands as a ratio beside an async function that is called and awaited as often in the same round.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Outcome, Provider, RunRequest, RunResult } from "../providers/providers.ts";
import { print, readFlags } from "./bench-terminal.ts";

const flags = readFlags();
const { functionProvider, ProviderRuns } = await loadBuiltRoom();
const ROUNDS = flags.quick ? 5 : 20;
const TIMES = flags.quick ? 5_000 : 20_000;
const FAR = 3_600_000;
const DELTAS = 100;

const OUTCOME = { kind: "succeeded", output: 1, usage: {} } as unknown as Outcome;
const delta = { kind: "delta", text: "token" } as const;
const whole: Provider = { id: "bench.whole@1.0.0", execute: async () => OUTCOME };
const talking: Provider = {
  id: "bench.talking@1.0.0",
  async execute(_request, emitter): Promise<RunResult> {
    for (let i = 0; i < DELTAS; i++) emitter.emit(delta);
    return OUTCOME;
  },
};
const runs = new ProviderRuns();
await runs.add(whole, { capacity: 1 });
await runs.add(talking, { capacity: 1 });
await runs.add(functionProvider({ id: "bench.function@1.0.0", call: () => 1 }), { capacity: 1 });

const rows = [
  { name: "whole outcome", id: whole.id, timed: false },
  { name: "with a deadline", id: whole.id, timed: true },
  { name: `with ${DELTAS} deltas`, id: talking.id, timed: false },
  { name: "function", id: "bench.function@1.0.0", timed: false },
];
const figures: Record<string, { readonly us: number; readonly ratio: number }> = {};
for (const { name, id, timed } of rows) {
  let us = Number.POSITIVE_INFINITY;
  let baseUs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    us = Math.min(us, await microseconds((request) => runs.start(request).outcome, id, timed));
    baseUs = Math.min(baseUs, await microseconds(async () => OUTCOME, id, timed));
  }
  figures[name] = { us, ratio: us / baseUs };
}
print(
  flags,
  figures,
  Object.entries(figures).map(([name, { us, ratio }]) => {
    return `${name.padEnd(18)} ${us.toFixed(2).padStart(7)} us a run   ${ratio.toFixed(1).padStart(6)} times an awaited call`;
  }),
);

async function microseconds(
  run: (request: RunRequest) => Promise<Outcome>,
  providerId: string,
  timed: boolean,
): Promise<number> {
  const beganAt = performance.now();
  for (let index = 0; index < TIMES; index++) {
    await run({
      runId: `run-${index}`,
      providerId,
      operation: "call",
      input: null,
      limits: {},
      deadline: timed ? Date.now() + FAR : null,
    });
  }
  return ((performance.now() - beganAt) / TIMES) * 1_000;
}

async function loadBuiltRoom(): Promise<typeof import("../providers/providers.ts")> {
  const entry = new URL("../../dist/providers/providers.js", import.meta.url);
  if (!existsSync(fileURLToPath(entry))) throw new Error("There is no dist/: npm run build makes it");
  return (await import(entry.href)) as typeof import("../providers/providers.ts");
}
