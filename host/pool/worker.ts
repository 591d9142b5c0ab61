/** The file that a pool thread runs. It says hello with its end of the bridge, then answers one call after the other. */
import { PerformanceObserver } from "node:perf_hooks";
import { MessageChannel, type MessagePort, parentPort, threadId, workerData } from "node:worker_threads";
import { messageOf } from "../errors/errors.ts";
import { Claims } from "./claims.ts";
import { MemoryPool } from "./memory-pool.ts";
import { packReply, unpackCall } from "./packed.ts";
import { BRIDGE_FIELDS, type BridgeMessage, type Call, GC_FIELDS, type Hello } from "./protocol.ts";
import { RunClock } from "./run-clock.ts";
import { Runner } from "./runner.ts";
import { isCall, WorkerBridge } from "./worker-bridge.ts";

/** Given by the pool to each thread. */
export interface WorkerStart {
  /** Int32 counter of the Wasm memories of the whole process. */
  readonly memories: SharedArrayBuffer;
  /** See `GC_FIELDS`; null where garbage collections are not timed. */
  readonly gc: SharedArrayBuffer | null;
  /** Deployments that the thread keeps ready. */
  readonly deployments: number;
}

/** Calls after which the thread's event loop turns, so that finalizers run. */
const CALLS_A_TURN = 32;

start();

/** Piscina looks for a function; no task is given to it. */
export function task(): void {}

function start(): void {
  const { port1: port, port2 } = new MessageChannel();
  const shared = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * BRIDGE_FIELDS.count);
  const clock = new SharedArrayBuffer(RunClock.BYTES);
  const claims = new SharedArrayBuffer(Claims.BYTES);
  const hello: Hello = { kind: "airlock-hello", threadId, port: port2, shared, clock, claims };
  // Piscina hands its own `workerData` through as it is.
  const { memories, gc, deployments } = workerData as WorkerStart;
  if (gc !== null) timeGarbageCollections(new Int32Array(gc));
  const bridge = new WorkerBridge(port, shared);
  const runner = new Runner(
    bridge,
    new RunClock(clock),
    new MemoryPool(new Int32Array(memories), new Int32Array(shared)),
    deployments,
  );
  serve(port, bridge, runner, new Claims(claims));
  parentPort?.postMessage(hello, [port2]);
}

/** Carries out the calls that come, one at a time, in their order. */
function serve(port: MessagePort, bridge: WorkerBridge, runner: Runner, claims: Claims): void {
  const carryOutAll = (): void => {
    for (let left = CALLS_A_TURN; left > 0; left--) {
      const next = bridge.nextCall();
      if (next === undefined) return;
      carryOut(unpackCall(next));
    }
    setImmediate(carryOutAll);
  };
  const carryOut = (call: Call): void => {
    if (!claims.take(call.epoch)) return;
    try {
      port.postMessage(packReply(call.epoch, runner.run(call)));
    } catch (thrown) {
      port.postMessage({ kind: "broken", epoch: call.epoch, what: messageOf(thrown) } satisfies BridgeMessage);
    }
  };
  port.on("message", (message: Parameters<typeof isCall>[0]) => {
    if (!isCall(message)) return;
    bridge.putAside(message);
    carryOutAll();
  });
}

/** An observer sees the garbage collections of its own thread only. */
function timeGarbageCollections(counters: Int32Array): void {
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      Atomics.add(counters, GC_FIELDS.pauses, 1);
      Atomics.add(counters, GC_FIELDS.microseconds, Math.round(duration * 1_000));
    }
  }).observe({ entryTypes: ["gc"] });
}
