/** The file that a pool thread runs. It says hello with its end of the bridge, then answers one call after the other. */
import { PerformanceObserver } from "node:perf_hooks";
import { MessageChannel, parentPort, workerData } from "node:worker_threads";
import { MemoryPool } from "./memory-pool.ts";
import { BRIDGE_FIELDS, type Call, GC_FIELDS, type Hello, type Reply } from "./protocol.ts";
import { RunClock } from "./run-clock.ts";
import { Runner } from "./runner.ts";
import { WorkerBridge } from "./worker-bridge.ts";

/** Given by the pool to each thread. */
export interface WorkerStart {
  /** Int32 counter of the Wasm memories of the whole process. */
  readonly memories: SharedArrayBuffer;
  /** See `GC_FIELDS`; null where garbage collections are not timed. */
  readonly gc: SharedArrayBuffer | null;
  /** Deployments that the thread keeps ready. */
  readonly deployments: number;
}

const runner = start();

/** Carries out one call. Named for Piscina; it always resolves to a reply. */
export function run(call: Call): Reply {
  return runner.run(call);
}

function start(): Runner {
  const { port1, port2 } = new MessageChannel();
  const shared = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * BRIDGE_FIELDS.count);
  const clock = new SharedArrayBuffer(RunClock.BYTES);
  const hello: Hello = { kind: "airlock-hello", port: port2, shared, clock };
  parentPort?.postMessage(hello, [port2]);
  // Piscina hands its own `workerData` through as it is.
  const { memories, gc, deployments } = workerData as WorkerStart;
  if (gc !== null) timeGarbageCollections(new Int32Array(gc));
  port1.unref();
  return new Runner(
    new WorkerBridge(port1, shared),
    new RunClock(clock),
    new MemoryPool(new Int32Array(memories), new Int32Array(shared)),
    deployments,
  );
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
