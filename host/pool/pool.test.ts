import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { PROCESS_MEMORIES } from "./memories.ts";
import { Pool } from "./pool.ts";
import type { PoolAnswer, PoolRun, RunListener } from "./pool-run.ts";

const folder = mkdtempSync(join(tmpdir(), "airlock-pool-"));
const file = join(folder, "worker.mjs");
vi.mock("../compile/compile.ts", () => ({ findEntryPoint: () => ({ file, execArgv: [] }) }));
afterAll(() => rmSync(folder, { recursive: true }));

// A thread in place of the real one, which needs a component. An input tells the state of its run, 1 once the thread has begun it and 2
// when it may end, and how often it was begun.
writeFileSync(
  file,
  `import { MessageChannel, parentPort, threadId } from "node:worker_threads";
  const { port1, port2 } = new MessageChannel();
  const bytes = (count) => new SharedArrayBuffer(count);
  const claims = bytes(32);
  const shared = bytes(8);
  const memories = new Int32Array(shared);
  const places = new Int32Array(claims);
  parentPort.postMessage({ kind: "airlock-hello", threadId, port: port2, shared, clock: bytes(24), claims }, [port2]);
  port1.on("message", ([epoch, , , operation, input]) => {
    if (epoch === undefined || operation === undefined) return;
    if (Atomics.compareExchange(places, epoch % 8, epoch, 0) !== epoch) return;
    const state = new Int32Array(input);
    Atomics.add(state, 1, 1);
    if (operation === "hold") Atomics.add(memories, 1, 3);
    if (operation === "ask") port1.postMessage(["host-call", epoch, 1, "i", "f", [], 0]);
    Atomics.store(state, 0, 1);
    Atomics.notify(state, 0);
    while (operation !== "answer" && Atomics.load(state, 0) !== 2) Atomics.wait(state, 0, 1, 1_000);
    port1.postMessage({ kind: "broken", epoch, what: "answered" });
  });
  export const task = () => {};`,
);

const ANSWERED = { kind: "lost", what: "answered" };
const ABORTED = { kind: "aborted" };
let pool: Pool;

interface Started {
  readonly run: PoolRun;
  readonly answer: Promise<PoolAnswer>;
  /** Whether it was begun, and how often. */
  readonly state: Int32Array;
}

/** Starts a run that ends at once, when it is let go, or not before it has asked. */
function start(operation: "answer" | "hold" | "ask", hostCall: () => void = () => {}): Started {
  const state = new Int32Array(new SharedArrayBuffer(8));
  const call = {
    deployment: "d",
    runId: "r",
    operation,
    input: state.buffer,
    seedText: null,
    limits: null,
    tier: "reset",
  };
  const { promise, resolve } = withResolvers<PoolAnswer>();
  const listener: Partial<RunListener> = {
    answered: resolve,
    hostCall: () => {
      hostCall();
      return { kind: "value", value: 0 };
    },
  };
  return { run: pool.run(call as never, 2, listener as RunListener), answer: promise, state };
}

function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** Blocks the main thread, which hears of nothing meanwhile, until the run has begun. */
function awaitBegun({ state }: Started): void {
  expect(Atomics.wait(state, 0, 0, 20_000)).not.toBe("timed-out");
}

function letGo({ state }: Started): void {
  Atomics.store(state, 0, 2);
  Atomics.notify(state, 0);
}

describe("Pool", () => {
  beforeEach(async () => {
    pool = new Pool({ threads: 1, heapMegabytes: 64, gcTimes: false, deployments: 1 });
    await start("answer").answer;
  });
  afterEach(() => pool.close());

  it("a run that waits in front of a thread is carried out, however many behind it were taken back", async () => {
    const before = start("hold");
    awaitBegun(before);
    const waiting = start("answer");
    for (let count = 0; count < 20; count++) pool.abort(start("answer").run);
    letGo(before);
    expect(await Promise.all([before.answer, waiting.answer])).toEqual([ANSWERED, ANSWERED]);
    expect(pool.stats()).toMatchObject({ free: 1, waiting: 0 });
  });

  it("a run that is ended takes none with it that come to its thread while it is ended", async () => {
    const first = start("answer");
    const ended = start("hold");
    // More than are posted: some wait for the place of the first, whose answer is heard of only when the second is ended.
    const others = Array.from({ length: 6 }, () => start("answer"));
    awaitBegun(ended);
    pool.abort(ended.run);
    expect(await Promise.all([first, ended].map(({ answer }) => answer))).toEqual([ANSWERED, ABORTED]);
    expect(await Promise.all(others.map(({ answer }) => answer))).toEqual(others.map(() => ANSWERED));
    expect(others.map(({ state }) => state[1])).toEqual(others.map(() => 1));
    expect(pool.stats()).toMatchObject({ free: 1, waiting: 0 });
  });

  it("a run may be ended while another one is", async () => {
    const ended = start("ask", () => pool.abort(behind[1]!.run));
    const behind = Array.from({ length: 6 }, () => start("answer"));
    awaitBegun(ended);
    pool.abort(ended.run);
    expect(await ended.answer).toEqual(ABORTED);
    const answers = await Promise.all(behind.map(({ answer }) => answer));
    expect(answers).toEqual(behind.map((_, index) => (index === 1 ? ABORTED : ANSWERED)));
    expect(behind.map(({ state }) => state[1])).toEqual([1, 0, 1, 1, 1, 1]);
    expect(pool.stats()).toMatchObject({ free: 1, waiting: 0 });
  });

  it("counts the Wasm memories of a thread until it is gone, and no longer", async () => {
    const memories = new Int32Array(PROCESS_MEMORIES);
    Atomics.store(memories, 0, 7);
    const held = start("hold");
    awaitBegun(held);
    pool.abort(held.run);
    expect(await held.answer).toEqual(ABORTED);
    expect(Atomics.load(memories, 0)).toBe(7);
    await vi.waitFor(() => expect(Atomics.load(memories, 0)).toBe(4), { timeout: 10_000 });
    Atomics.store(memories, 0, 0);
  });
});
