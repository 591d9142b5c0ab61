import type { Worker } from "node:worker_threads";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createHost, type Host } from "../../index.ts";
import { any, calling, chain, errorOf, guest, inUse, nothing, PATIENT } from "./guest.ts";

const FUEL = 50_000_000_000;
const CALL = { operation: "call" };
let host: Host;

async function open(threads: number): Promise<void> {
  host = await createHost({ threads, queue: 1_000, limits: { defaults: { fuel: FUEL, ...PATIENT.defaults } } });
  await host.install(await guest("test.leaf"));
  for (const id of ["test.a", "test.b"]) {
    await host.install(await guest(id, { invoke: any("test.a", "test.b", "test.leaf") }));
  }
}

/** A run of `test.a` whose nested run, below `via`, goes round in circles. */
async function spinning(via: readonly string[] = [], options = {}): Promise<ReturnType<Host["run"]>> {
  const run = host.run("test.a", chain([...via, "test.leaf"], "spin", {}), { ...CALL, ...options });
  await vi.waitFor(() => expect(host.stats().lanes[via.length + 1]?.slots.inUse).toBe(1), { timeout: 20_000 });
  return run;
}

describe("runs that call others", { timeout: 180_000 }, () => {
  afterEach(() => host.close());

  it("cost no thread before somebody does", async () => {
    await open(1);
    await host.run("test.leaf", { text: "x" }, { operation: "echo" }).outcome;
    expect(host.stats().lanes).toHaveLength(1);
    await host.run("test.a", calling("test.leaf", "echo", { text: "x" }), CALL).outcome;
    expect(host.stats().lanes).toHaveLength(2);
  });

  it("end a cycle with a typed error once they are nested as deep as they may be", async () => {
    await open(1);
    const deepest = chain(["test.b", "test.a", "test.b", "test.leaf"], "echo", { text: "deep" });
    const outcome = await host.run("test.a", deepest, CALL).outcome;
    expect(outcome).toMatchObject({ kind: "succeeded", output: expect.stringContaining("deep") });
    const cycle = ["test.b", "test.a", "test.b", "test.a", "test.b", "test.a"];
    let error = errorOf(await host.run("test.a", chain(cycle, "call", {}), CALL).outcome) as ErrorValue;
    let callers = 0;
    for (; error.tag === "declined"; callers++) error = JSON.parse(error.value.detail) as ErrorValue;
    expect([callers, error]).toEqual([4, { tag: "too-deep" }]);
    expect(inUse(host)).toEqual(nothing(5));
  });

  it.each([1, 2])("all end when 100 call others at once on %i threads", async (threads) => {
    await open(threads);
    const runs = Array.from({ length: 100 }, (_, index) => {
      const input = chain(["test.b", "test.leaf"], "echo", { text: String(index) });
      return host.run("test.a", { times: 3, ...calling("test.a", "call", input) }, { operation: "again" }).outcome;
    });
    const outcomes = await Promise.all(runs);
    expect(outcomes.map((outcome) => (outcome.kind === "succeeded" ? outcome.output : outcome))).toEqual(
      Array.from({ length: 100 }, () => 3),
    );
    expect(host.stats().endings.succeeded).toBe(100 + 300 * 3);
    expect(inUse(host)).toEqual(nothing(4));
  });

  it("all end when 100 go in circles at once, each as deep as it may", async () => {
    await open(1);
    const cycle = chain(["test.b", "test.a", "test.b", "test.a", "test.b"], "call", {});
    const outcomes = await Promise.all(Array.from({ length: 100 }, () => host.run("test.a", cycle, CALL).outcome));
    expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(["failed"]));
    expect(inUse(host)).toEqual(nothing(5));
  });

  it("take their nested runs with them when they are cancelled, and leave every slot free", async () => {
    await open(1);
    const run = await spinning(["test.b"]);
    run.cancel("enough");
    const outcome = await run.outcome;
    expect(outcome).toMatchObject({
      kind: "cancelled",
      reason: "enough",
      nested: [{ providerId: "test.b@1.0.0", kind: "cancelled", nested: [{ providerId: "test.leaf@1.0.0" }] }],
    });
    expect(inUse(host)).toEqual(nothing(3));
    expect(host.stats().endings).toMatchObject({ cancelled: 3 });
    const next = host.run("test.a", chain(["test.b", "test.leaf"], "echo", { text: "x" }), CALL);
    expect(await next.outcome).toMatchObject({ kind: "succeeded" });
  });

  it.each([
    ["deadlineMs", { deadlineMs: 3_000 }],
    ["wallMs", { limits: { wallMs: 3_000 } }],
  ])("take their nested runs with them at the end of their %s", async (limit, options) => {
    await open(1);
    await host.run("test.a", calling("test.leaf", "echo", { text: "x" }), CALL).outcome;
    const run = await spinning([], options);
    const outcome = await run.outcome;
    // Whoever's timer came first: the nested run's deadline is the same instant.
    if (outcome.kind === "failed") expect(outcome.failure.detail).toEqual({ tag: "out-of-budget", value: "time" });
    else expect(outcome).toMatchObject({ kind: "past-deadline", limit });
    expect(inUse(host)).toEqual(nothing(2));
  });

  it("go on when the nested run alone is cancelled by its id", async () => {
    await open(1);
    const ids: string[] = [];
    const seen = ({ runId, providerId }: { runId: string; providerId: string }) => {
      if (providerId === "test.leaf@1.0.0") ids.push(runId);
    };
    const { subscribe, unsubscribe } = await import("node:diagnostics_channel");
    subscribe("airlock:providers:run-started", seen as never);
    const run = await spinning();
    unsubscribe("airlock:providers:run-started", seen as never);
    host.cancel(ids[0]!, "not this one");
    expect(errorOf(await run.outcome)).toEqual({ tag: "ended", value: { kind: "cancelled", message: "not this one" } });
    expect(inUse(host)).toEqual(nothing(2));
  });

  it("go on when the thread of the nested run is killed", async () => {
    await open(1);
    const workers: Worker[] = [];
    const made = (worker: Worker): void => void workers.push(worker);
    process.on("worker", made);
    await host.run("test.a", calling("test.leaf", "echo", { text: "x" }), CALL).outcome;
    const first = workers.filter(({ threadId }) => threadId > 0);
    const run = await spinning();
    process.off("worker", made);
    await Promise.all(first.map((worker) => worker.terminate()));
    const outcome = await run.outcome;
    expect(errorOf(outcome)).toEqual({
      tag: "ended",
      value: { kind: "lost", message: expect.stringContaining("thread") },
    });
    expect(outcome.nested).toMatchObject([{ kind: "lost" }]);
    expect(inUse(host)).toEqual(nothing(2));
    const next = host.run("test.a", calling("test.leaf", "echo", { text: "again" }), CALL);
    expect(await next.outcome).toMatchObject({ output: '"again"' });
  });

  it("leave nothing in use, whatever is cancelled when", async () => {
    await open(2);
    let seed = 11;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * below);
    };
    const kinds: Promise<string>[] = [];
    for (let each = 0; each < 40; each++) {
      const via = ["test.b", "test.a", "test.b"].slice(random(4));
      const [operation, input] =
        random(8) === 0 ? ["spin", {}] : random(4) === 0 ? ["trap", {}] : ["burn", { rounds: 9 }];
      const limits = { wallMs: 1 + random(400) };
      const run = host.run("test.a", chain([...via, "test.leaf"], operation, input), { ...CALL, limits });
      if (random(3) === 0) setTimeout(() => run.cancel(), random(60));
      kinds.push(run.outcome.then(({ kind }) => kind));
      if (random(4) === 0) await new Promise((turn) => setTimeout(turn, random(20)));
    }
    expect(
      (await Promise.all(kinds)).filter((kind) => !/^(succeeded|failed|cancelled|past-deadline)$/.test(kind)),
    ).toEqual([]);
    expect(inUse(host)).toEqual(nothing(host.stats().lanes.length));
    const last = chain(["test.b", "test.a", "test.b", "test.leaf"], "echo", { text: "x" });
    expect(await host.run("test.a", last, CALL).outcome).toMatchObject({ kind: "succeeded" });
  });

  it("call what they need also while the host waits for their end", async () => {
    await open(1);
    const input = { times: 20, ...calling("test.leaf", "burn", { rounds: 100_000 }) };
    const run = host.run("test.a", input, { operation: "again" });
    await vi.waitFor(() => expect(host.stats().lanes[1]?.slots.granted).toBeGreaterThan(0), { timeout: 20_000 });
    await host.close();
    expect(await run.outcome).toMatchObject({ kind: "succeeded", output: 20 });
  });

  it("end with their nested runs when the host does not wait", async () => {
    await open(1);
    const run = await spinning(["test.b"]);
    await host.close({ drainMs: 0 });
    expect(await run.outcome).toMatchObject({ kind: "cancelled", nested: [{ kind: "cancelled" }] });
    expect(inUse(host)).toEqual(nothing(3));
    expect(host.stats().late).toEqual({ events: 0, endings: 3 });
  });
});

type ErrorValue = { tag: "declined"; value: { detail: string } } | { tag: "too-deep" };
