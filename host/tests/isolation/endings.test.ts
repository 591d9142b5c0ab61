import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHost, type EmbedderImports, type Host, type RunEvent } from "../../index.ts";
import { answeringDesk, DESK, workbench } from "./workbench.ts";

const ID = "test.workbench";

/** Called when a guest has asked the desk and waits. */
let whenAsked: () => void = () => {};
const imports: EmbedderImports = {
  [DESK]: {
    ask: (...args) => {
      whenAsked();
      return answeringDesk[DESK]!["ask"]!(...args);
    },
  },
};

describe.each(["fresh", "recycled", "reset"] as const)("runs on %s instances", (tier) => {
  let host: Host;

  beforeAll(async () => {
    host = await createHost({ threads: 2, tier, imports });
    await host.install(await workbench());
  });
  afterAll(() => host.close());

  const run = (operation: string, input: unknown = {}, options = {}) => host.run(ID, input, { operation, ...options });

  it("a function of plain values gives its result as JSON", async () => {
    expect(await run("add", { x: 2, y: 40 }).outcome).toMatchObject({ kind: "succeeded", output: 42 });
    expect(await run("echo", { text: "naïve \u{1F680}" }).outcome).toMatchObject({
      kind: "succeeded",
      output: "naïve \u{1F680}",
    });
  });

  it("an instance sees nothing of the run before, neither globals nor memory", async () => {
    for (let i = 0; i < 20; i++) expect(await run("visits").outcome).toMatchObject({ output: 101 });
  });

  it("the same run burns the same fuel, whichever thread and however often", async () => {
    const runs = await Promise.all(Array.from({ length: 40 }, () => run("burn", { rounds: 1_000 }).outcome));
    const fuel = new Set(runs.map(({ usage }) => usage.fuel));
    expect([...fuel]).toHaveLength(1);
    expect([...fuel][0]).toBeGreaterThan(5_000);
  });

  it("cancel reaches a tight loop, and the host serves the next call", async () => {
    const spinning = run("spin", {}, { limits: { fuel: 50_000_000_000 } });
    for await (const event of spinning) if (event.kind === "started") break;
    spinning.cancel("enough");
    expect(await spinning.outcome).toMatchObject({ kind: "cancelled", reason: "enough" });
    expect(await run("add", { x: 1, y: 1 }).outcome).toMatchObject({ kind: "succeeded" });
  });

  it("cancel reaches a guest that is blocked in a host call, by signal too, and the late answer reaches nobody", async () => {
    const abort = new AbortController();
    whenAsked = () => abort.abort(new Error("the client left"));
    const blocked = run("ask", { question: "never" }, { signal: abort.signal });
    expect(await blocked.outcome).toMatchObject({ kind: "cancelled", reason: "the client left" });
    expect(await run("ask", { question: "now" }).outcome).toMatchObject({ output: "answer to now" });
  });

  it("the wall clock ends a tight loop and a blocked host call", async () => {
    // Enough for a busy machine to get a new thread as far as the guest.
    const limits = { wallMs: 600 };
    expect(await run("spin", {}, { limits }).outcome).toMatchObject({
      kind: "past-deadline",
      limit: "wallMs",
      phase: "guest",
    });
    expect(await run("ask", { question: "never" }, { limits }).outcome).toMatchObject({
      kind: "past-deadline",
      limit: "wallMs",
      usage: { hostCalls: 1, fuelExact: false },
    });
  });

  it("the deadline counts the queue: a run that never starts ends past it", async () => {
    const busy = [1, 2].map(() => run("spin", {}, { limits: { wallMs: 400 } }));
    const waiting = await run("add", { x: 1, y: 1 }, { deadlineMs: 60 }).outcome;
    expect(waiting).toMatchObject({
      kind: "past-deadline",
      limit: "deadlineMs",
      phase: "queue",
      usage: { guestMs: 0 },
    });
    for (const each of busy) expect(await each.outcome).toMatchObject({ kind: "past-deadline" });
  });

  it("a trap ends one run and hurts no other", async () => {
    expect(await run("trap").outcome).toMatchObject({ kind: "trapped", trap: { phase: "guest" } });
    expect(await run("add", { x: 1, y: 2 }).outcome).toMatchObject({ output: 3 });
  });

  it("growth is bounded by memoryBytes, and by what is left after it", async () => {
    expect(await run("grow", { pages: 3 }, { limits: { memoryBytes: 4 * 65_536 } }).outcome).toMatchObject({
      output: 1,
      usage: { peakMemoryBytes: 4 * 65_536 },
    });
    expect(await run("grow", { pages: 4 }, { limits: { memoryBytes: 4 * 65_536 } }).outcome).toMatchObject({
      output: -1,
    });
  });

  it("recursion ends out-of-stack or out-of-fuel, never in a crash", async () => {
    expect(await run("down", { depth: 4_000_000_000 }).outcome).toMatchObject({
      kind: "out-of-stack",
      limit: "engine",
    });
  });

  it("a host function that throws or lies ends the run without its secret, and its error goes to the application", async () => {
    const heard: unknown[] = [];
    const listen = (message: unknown): void => void heard.push(message);
    subscribe("airlock:invocation:host-function-failed", listen);
    const thrown = await run("ask", { question: "throw" }).outcome;
    const wrong = await run("ask", { question: "wrong" }).outcome;
    unsubscribe("airlock:invocation:host-function-failed", listen);
    expect(thrown).toMatchObject({ kind: "trapped" });
    expect(JSON.stringify(thrown)).not.toContain("secret");
    expect(wrong).toMatchObject({ kind: "trapped" });
    expect(heard).toHaveLength(2);
  });

  it("host calls are counted, bounded and timed", async () => {
    expect(await run("ask", { question: "now" }).outcome).toMatchObject({
      kind: "succeeded",
      output: "answer to now",
      usage: { hostCalls: 1, hostBytesIn: 13, hostBytesOut: 19 },
    });
    expect(await run("ask", { question: "now" }, { limits: { hostCalls: 0 } }).outcome).toMatchObject({
      kind: "over-budget",
      limit: "hostCalls",
    });
    expect(await run("ask", { question: "now" }, { limits: { hostBytesIn: 5 } }).outcome).toMatchObject({
      kind: "over-budget",
      limit: "hostBytesIn",
    });
    expect(await run("ask", { question: "now" }, { limits: { hostBytesOut: 5 } }).outcome).toMatchObject({
      kind: "over-budget",
      limit: "hostBytesOut",
    });
  });

  it("host calls cost fuel: a price for each, and one for each byte that goes out and comes in", async () => {
    const [short, long] = [await run("ask", { question: "a" }).outcome, await run("ask", { question: "abcd" }).outcome];
    expect(short.usage.fuel).toBeGreaterThan(200_000);
    // Three more go out, three more come back, and three more are lifted out of the guest at the end.
    expect(long.usage.fuel - short.usage.fuel).toBe(9);
  });

  it("a run that nobody iterates or awaits leaves no unhandled rejection, and its events end with one terminal", async () => {
    run("trap");
    const events: RunEvent[] = [];
    const observed = run("add", { x: 1, y: 1 });
    for await (const event of observed) events.push(event);
    expect(events.map(({ kind }) => kind)).toEqual(["started", "complete"]);
    observed.cancel("too late");
    expect(await observed.outcome).toMatchObject({ kind: "succeeded" });
  });
});

describe("the host", () => {
  it("that closes while it admits refuses as closed, and says nothing about the component", async () => {
    const host = await createHost({ threads: 1, imports: answeringDesk });
    const source = await workbench();
    const closed = expect.objectContaining({ code: "AIRLOCK_HOST_CLOSED" });
    const refused = [host.install(source), host.inspect(source)].map((each) => expect(each).rejects.toThrow(closed));
    await host.close();
    await Promise.all(refused);
  });

  it("drains on close, cancels what is left, refuses what comes after, and closes twice", async () => {
    const host = await createHost({ threads: 1, imports: answeringDesk });
    await host.install(await workbench());
    const quick = host.run(ID, { x: 1, y: 2 }, { operation: "add" });
    const endless = host.run(ID, {}, { operation: "spin", limits: { fuel: 50_000_000_000 } });
    const closing = host.close({ drainMs: 100 });
    expect(() => host.run(ID, {}, { operation: "spin" })).toThrow(
      expect.objectContaining({ code: "AIRLOCK_HOST_CLOSED" }),
    );
    await closing;
    expect(await quick.outcome).toMatchObject({ kind: "succeeded" });
    expect(await endless.outcome).toMatchObject({ kind: "cancelled", reason: "the host is closing" });
    await host.close();
  });

  it("finishes the runs of a version that is uninstalled", async () => {
    const host = await createHost({ threads: 1, imports: answeringDesk });
    await host.install(await workbench());
    const running = host.run(ID, { rounds: 1_000_000 }, { operation: "burn" });
    const queued = host.run(ID, { x: 1, y: 2 }, { operation: "add" });
    host.uninstall(ID);
    expect(() => host.run(ID, {}, { operation: "add" })).toThrow(
      expect.objectContaining({ code: "AIRLOCK_PROVIDERS_MISSING" }),
    );
    expect(await running.outcome).toMatchObject({ kind: "succeeded" });
    expect(await queued.outcome).toMatchObject({ kind: "succeeded", output: 3 });
    await host.install(await workbench());
    // One hit is the thread's, which asked for the artifact when it first ran it.
    expect(host.stats().cache).toMatchObject({ entries: 1, misses: 1, hits: 2 });
    await host.close();
  });

  it("refuses a run when as many wait as the queue holds", async () => {
    const host = await createHost({ threads: 1, queue: 1, imports: answeringDesk });
    await host.install(await workbench());
    const spin = () => host.run(ID, {}, { operation: "spin", limits: { wallMs: 300 } });
    const runs = [spin(), spin()];
    expect(spin).toThrow(expect.objectContaining({ code: "AIRLOCK_POOL_QUEUE_FULL", failure: "queue_full" }));
    for (const each of runs) expect(await each.outcome).toMatchObject({ kind: "past-deadline" });
    await host.close();
  });
});

describe("a package in memory", () => {
  it("is outside input: its manifest is parsed and its bytes must be bytes", async () => {
    const host = await createHost({ threads: 1, imports: answeringDesk });
    const { manifest, component } = await workbench();
    const install = (source: unknown) => host.install(source as Parameters<typeof host.install>[0]);
    await expect(install({ manifest: { ...manifest, sha256: "short" }, component })).rejects.toMatchObject({
      code: "AIRLOCK_MANIFEST_INVALID",
      message: expect.stringContaining("sha256"),
    });
    await expect(install({ component })).rejects.toMatchObject({ code: "AIRLOCK_MANIFEST_INVALID" });
    await expect(install({ manifest, component: "bytes" })).rejects.toMatchObject({
      code: "AIRLOCK_ADMISSION_BINARY_LOAD_FAILED",
    });
    expect(await install({ manifest: { ...manifest }, component })).toMatchObject({
      id: "test.workbench@1.0.0",
    });
    await host.close();
  });
});
