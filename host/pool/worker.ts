/** The file that a pool thread runs. It says hello with its end of the bridge, then answers one call after the other. */
import { MessageChannel, parentPort, workerData } from "node:worker_threads";
import { MemoryPool } from "./memory-pool.ts";
import { BRIDGE_FIELDS, type Call, type Hello, type Reply } from "./protocol.ts";
import { Runner } from "./runner.ts";
import { WorkerBridge } from "./worker-bridge.ts";

/** Given by the pool to each thread. */
export interface WorkerStart {
  /** Int32 counter of the Wasm memories of the whole process. */
  readonly memories: SharedArrayBuffer;
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
  const hello: Hello = { kind: "airlock-hello", port: port2, shared };
  parentPort?.postMessage(hello, [port2]);
  // Piscina hands its own `workerData` through as it is.
  const { memories, deployments } = workerData as WorkerStart;
  port1.unref();
  return new Runner(
    new WorkerBridge(port1, shared),
    new MemoryPool(new Int32Array(memories), new Int32Array(shared)),
    deployments,
  );
}
