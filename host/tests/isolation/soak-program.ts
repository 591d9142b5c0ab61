// 10,000 runs of good and hostile guests on two threads, in a process of its own: prints one JSON object of what it saw.
// It runs what users run: the built host.
import { readdirSync } from "node:fs";
import type { createHost as CreateHost, OutcomeKind } from "../../index.ts";
import { answeringDesk, workbench } from "./workbench.ts";

const RUNS = Number(process.argv[2] ?? 10_000);
const IN_FLIGHT = 8;
const ID = "test.workbench";

interface Kind {
  readonly operation: string;
  readonly input: unknown;
  readonly limits?: Record<string, number>;
  readonly expected: OutcomeKind;
  /** Cancelled when the guest is at it. */
  readonly cancel?: boolean;
}

/** Nineteen in twenty are over quickly; the rest cost a thread. */
const QUICK: readonly Kind[] = [
  { operation: "add", input: { x: 1, y: 2 }, expected: "succeeded" },
  { operation: "echo", input: { text: "x".repeat(2_000) }, expected: "succeeded" },
  { operation: "visits", input: {}, expected: "succeeded" },
  { operation: "burn", input: { rounds: 2_000 }, expected: "succeeded" },
  { operation: "ask", input: { question: "now" }, expected: "succeeded" },
  { operation: "grow", input: { pages: 20 }, expected: "succeeded" },
  { operation: "spin", input: {}, limits: { fuel: 100_000 }, expected: "out-of-fuel" },
  { operation: "trap", input: {}, expected: "trapped" },
  { operation: "down", input: { depth: 4_000_000_000 }, expected: "out-of-stack" },
  { operation: "ask", input: { question: "throw" }, expected: "trapped" },
  { operation: "ask", input: { question: "now" }, limits: { hostCalls: 0 }, expected: "over-budget" },
  { operation: "echo", input: { text: "x".repeat(2_000) }, limits: { outputBytes: 100 }, expected: "over-budget" },
];
const COSTLY: readonly Kind[] = [
  { operation: "spin", input: {}, limits: { wallMs: 20, fuel: 50_000_000_000 }, expected: "past-deadline" },
  { operation: "ask", input: { question: "never" }, expected: "cancelled", cancel: true },
  { operation: "spin", input: {}, limits: { fuel: 50_000_000_000 }, expected: "cancelled", cancel: true },
];

const built = new URL("../../../dist/index.js", import.meta.url).href;
const { createHost } = (await import(built)) as { readonly createHost: typeof CreateHost };
const problems: string[] = [];
process.on("unhandledRejection", (reason) => problems.push(`unhandled rejection: ${String(reason)}`));
const fuel = new Map<Kind, Set<number>>();
const host = await createHost({ threads: 2, imports: answeringDesk });
await host.install(await workbench());

// The collector settles on a size of heap only after some thousand runs; threads are replaced in the warm-up too.
await runAll(Math.min(RUNS, 3_000));
const before = await resources();
const startedAt = performance.now();
await runAll(RUNS);
const ms = performance.now() - startedAt;
const after = await settled();
for (const [kind, seen] of fuel) if (seen.size > 1) problems.push(`${kind.operation} burned ${[...seen].join(", ")}`);
const stats = host.stats();
await host.close();
process.stdout.write(
  JSON.stringify({ runs: RUNS, ms, before, after, closed: await resources(), problems: problems.slice(0, 20), stats }),
);

async function runAll(runs: number): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      while (next < runs) await runOne(kindOf(next++));
    }),
  );
}

function kindOf(index: number): Kind {
  return index % 100 === 99 ? COSTLY[Math.floor(index / 100) % COSTLY.length]! : QUICK[index % QUICK.length]!;
}

async function runOne(kind: Kind): Promise<void> {
  const run = host.run(ID, kind.input, { operation: kind.operation, limits: kind.limits ?? {} });
  if (kind.cancel) setTimeout(() => run.cancel(), 15);
  const outcome = await run.outcome;
  if (outcome.kind !== kind.expected) problems.push(`${kind.operation} ended ${outcome.kind}, not ${kind.expected}`);
  if (!outcome.usage.fuelExact || kind.operation === "ask") return;
  const seen = fuel.get(kind) ?? new Set();
  fuel.set(kind, seen.add(outcome.usage.fuel));
}

/** The resources once threads that were ended are gone, which takes a busy machine a while; the last look is what counts. */
async function settled(): ReturnType<typeof resources> {
  for (let left = 100; ; left--) {
    const now = await resources();
    if (left === 0 || (now.threads <= before.threads && now.descriptors <= before.descriptors)) return now;
  }
}

async function resources(): Promise<{ rss: number; descriptors: number; threads: number }> {
  for (let i = 0; i < 5; i++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
  return {
    rss: process.memoryUsage().rss,
    descriptors: readdirSync("/proc/self/fd").length,
    threads: readdirSync("/proc/self/task").length,
  };
}
