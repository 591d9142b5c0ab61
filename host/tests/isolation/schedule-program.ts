// Runs of components, of functions and of a pool, many at once, with cancels, deadlines, disconnects and crashes at random
// moments, in a process of its own: prints one JSON object of what it saw. It runs what users run: the built host.
import { subscribe } from "node:diagnostics_channel";
import { loadGuest } from "../../doctor/guest.ts";
import type { createHost as CreateHost, Outcome, Run, RunOptions } from "../../index.ts";
import { parseManifest } from "../../manifest/manifest.ts";
import { answeringDesk, workbench } from "./workbench.ts";

const RUNS = Number(process.argv[2] ?? 100_000);
const SEED = Number(process.argv[3] ?? 1);
const IN_FLIGHT = 32;
const COMPONENT = "test.workbench";
const FUEL = { fuel: 50_000_000_000 };

const built = new URL("../../../dist/index.js", import.meta.url).href;
const { createHost } = (await import(built)) as { readonly createHost: typeof CreateHost };
const problems: string[] = [];
process.on("unhandledRejection", (reason) => problems.push(`unhandled rejection: ${String(reason)}`));
const ended = new Map<string, number>();
subscribe("airlock:providers:run-ended", (message) => {
  const { runId } = message as { readonly runId: string };
  ended.set(runId, (ended.get(runId) ?? 0) + 1);
});
// So little heap that the bomb below ends its thread soon.
const caps = { inputBytes: 4 * 1024 * 1024, outputBytes: 4 * 1024 * 1024 };
const host = await createHost({
  threads: 2,
  queue: 32,
  heapMegabytes: 48,
  limits: { defaults: caps, caps },
  imports: answeringDesk,
});
await host.install(await workbench());
const { manifestText, component } = await loadGuest("json-heap-bomb");
await host.install({ manifest: parseManifest(manifestText, "bomb"), component });
const wait = (ms: number, signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve, reject) => {
    setTimeout(resolve, ms);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
const work = async (input: unknown, { signal }: { readonly signal: AbortSignal }): Promise<unknown> => {
  if (input === "throw") throw new Error("on purpose");
  if (input === "wait") await wait(2, signal);
  return input;
};
await host.providers.addFunction({ id: "test.alone@1.0.0", call: work }, { capacity: 4, queue: 16 });
const candidates = ["test.left@1.0.0", "test.right@1.0.0"].map((providerId) => ({ providerId, capacity: 2 }));
host.providers.addPool("test.both", { candidates, queue: 8 });
for (const { providerId } of candidates) await host.providers.addFunction({ id: providerId, call: work });

/** Each with how often it is taken. */
const KINDS: readonly (readonly [number, string, unknown, RunOptions])[] = [
  [300, COMPONENT, { x: 1, y: 2 }, { operation: "add" }],
  [100, COMPONENT, { text: "x".repeat(200) }, { operation: "echo" }],
  [50, COMPONENT, { question: "now" }, { operation: "ask" }],
  [50, COMPONENT, {}, { operation: "trap" }],
  [20, COMPONENT, {}, { operation: "spin", limits: { fuel: 100_000 } }],
  [2, COMPONENT, {}, { operation: "spin", limits: FUEL }],
  [2, COMPONENT, { question: "never" }, { operation: "ask" }],
  [150, "test.alone", "give", {}],
  [50, "test.alone", "throw", {}],
  [50, "test.alone", "wait", {}],
  [100, "test.both", "give", { operation: "call" }],
  [50, "test.both", "throw", { operation: "call" }],
  [50, "test.both", "wait", { operation: "call" }],
];
const ALL = KINDS.reduce((sum, [weight]) => sum + weight, 0);

let state = SEED;
/** A whole number below `below`, the same ones for the same seed. */
function random(below: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}

let started = 0;
let refused = 0;
const seen = new Map<string, number>();
const startedAt = performance.now();
let next = 0;
await Promise.all(
  Array.from({ length: IN_FLIGHT }, async () => {
    while (next < RUNS) await runOne(next++);
  }),
);
const ms = performance.now() - startedAt;
for (const [runId, times] of ended) if (times !== 1) problems.push(`${runId} ended ${times} times`);
if (ended.size !== started) problems.push(`${started} runs were started and ${ended.size} have ended`);
const stats = host.stats();
await host.close();
process.stdout.write(
  JSON.stringify({ ms, started, refused, seen: Object.fromEntries(seen), problems: problems.slice(0, 20), stats }),
);

async function runOne(index: number): Promise<void> {
  // A crash takes a while, so it is not left to chance.
  const crashes = index % 5_000 === 4_999;
  if (index % 400 === 0) host.providers.setConnected(random(2) === 0 ? "test.alone" : "test.left", false);
  if (index % 400 === 30) for (const id of ["test.alone", "test.left"]) host.providers.setConnected(id, true);
  const [, id, input, options] = crashes ? ([1, "doctor.json-heap-bomb", "", {}] as const) : kind();
  const isEndless = input === KINDS[6]![2] || options.limits === FUEL;
  const how = isEndless ? random(2) : random(10);
  const runId = `run-${index}`;
  let run: Run;
  try {
    const deadline = how === 1 && !crashes ? { deadlineMs: 1 + random(isEndless ? 30 : 4) } : {};
    run = host.run(id, input, { ...options, ...deadline, runId, priority: random(3) });
  } catch (thrown) {
    // A full queue and a provider that is away are refusals, before anything has started.
    const { failure } = thrown as { readonly failure?: string };
    if (failure !== "queue_full" && failure !== "provider_unavailable") problems.push(String(thrown));
    refused++;
    await new Promise((turn) => setImmediate(turn));
    return;
  }
  started++;
  if (how === 0 && !crashes) {
    const after = random(4);
    if (after === 0) run.cancel();
    else if (after === 1) setImmediate(() => run.cancel());
    else setTimeout(() => host.stats().runsInFlight > 0 && run.cancel(), after * (isEndless ? 8 : 1));
  }
  const outcome = await terminalOf(run);
  seen.set(outcome.kind, (seen.get(outcome.kind) ?? 0) + 1);
}

function kind(): (typeof KINDS)[number] {
  let left = random(ALL);
  for (const each of KINDS) {
    if (left < each[0]) return each;
    left -= each[0];
  }
  throw new Error("the weights do not add up");
}

/** One in ten reads the events too, and wants one terminal, at the end. */
async function terminalOf(run: Run): Promise<Outcome> {
  if (random(10) === 0) {
    const kinds: string[] = [];
    for await (const event of run) kinds.push(event.kind);
    const terminals = kinds.filter((each) => ["complete", "error", "cancelled"].includes(each));
    if (kinds[0] !== "started" || terminals.length !== 1 || kinds.at(-1) !== terminals[0]) {
      problems.push(`${run.runId} said ${kinds.join(", ")}`);
    }
  }
  return run.outcome;
}
