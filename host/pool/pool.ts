/**
 * The threads. In: a `Call`. Out: a `Reply`, exactly one, also when the thread dies; or the reason for which the caller's
 * signal ended it. Holds always: one call a thread, a call that is aborted takes its thread with it and is answered at once,
 * late answers of a host call reach nobody. Not promised: that an ended thread is gone at once; fuel bounds how long it runs.
 */
import { Piscina } from "piscina";
import { findEntryPoint } from "../compile/compile.ts";
import { messageOf } from "../errors/errors.ts";
import { Bridge, hear, type RunListener } from "./bridge.ts";
import { Lanes } from "./lanes.ts";
import { PROCESS_MEMORIES } from "./memories.ts";
import { type Call, type Deployable, type Deployment, GC_FIELDS, type Hello, type Reply } from "./protocol.ts";
import type { RunTimes } from "./run-clock.ts";
import type { WorkerStart } from "./worker.ts";

export type { HostCallHandler, RunListener } from "./bridge.ts";
export { longestTextBytes } from "./heap-share.ts";
export type { Slot } from "./lanes.ts";
export type {
  Call,
  Deployable,
  Operation,
  Phase,
  Reply,
  Tier,
  WorkerEnding,
  WorkerTimes,
  WorkerUsage,
} from "./protocol.ts";
export { TIERS } from "./protocol.ts";
export type { RunTimes } from "./run-clock.ts";
export { StopSignal } from "./stop-signal.ts";

/** How many threads there are and what they may hold. */
export interface PoolOptions {
  readonly threads: number;
  /** Runs that may wait for a thread. */
  readonly queue: number;
  /** V8 heap of a thread, in megabytes; Wasm memories and buffers do not count. */
  readonly heapMegabytes: number;
  /** Whether the threads time their garbage collections. */
  readonly gcTimes: boolean;
  /** Deployments, and with them compiled code, that one thread keeps ready. */
  readonly deployments: number;
}

/** What became of a call. */
export type PoolAnswer =
  | { readonly kind: "replied"; readonly reply: Reply }
  | { readonly kind: "aborted" }
  /** The thread died, or broke. */
  | { readonly kind: "lost"; readonly what: string };

/** A call that was started. */
export interface PoolRun {
  /** Never rejects. */
  readonly answer: Promise<PoolAnswer>;
  /** When it was taken up and entered; null while it was not, and once its thread has gone on or is gone. */
  times(): RunTimes | null;
}

/** Numbers of the pool. */
export interface PoolStats {
  readonly threads: number;
  readonly free: number;
  readonly waiting: number;
  /** Garbage collections of all threads so far; null where they are not timed. */
  readonly gc: { readonly pauses: number; readonly totalMs: number } | null;
}

const STACK_MEGABYTES = 4;
const CLOSE_TIMEOUT_MS = 10_000;

export class Pool {
  readonly lanes: Lanes;
  readonly #options: PoolOptions;
  readonly #piscina: Piscina;
  readonly #bridge: Bridge;
  readonly #deployments = new Map<string, Deployable>();
  /** See `GC_FIELDS`; written by all threads. */
  readonly #gc: Int32Array | null;
  #epoch = 0;

  constructor(options: PoolOptions) {
    this.#options = options;
    const entry = findEntryPoint(import.meta.url, "pool", "worker");
    this.lanes = new Lanes(options.threads, options.queue);
    this.#bridge = new Bridge((key) => this.#deployment(key), new Int32Array(PROCESS_MEMORIES));
    const gc = options.gcTimes ? new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * GC_FIELDS.count) : null;
    this.#gc = gc === null ? null : new Int32Array(gc);
    const workerData: WorkerStart = { memories: PROCESS_MEMORIES, gc, deployments: options.deployments };
    this.#piscina = new Piscina({
      filename: entry.file,
      name: "run",
      minThreads: options.threads,
      maxThreads: options.threads,
      // The thread's own event loop must turn between calls, or no finalizer would ever run there.
      atomics: "disabled",
      recordTiming: false,
      workerData,
      env: {},
      argv: [],
      execArgv: [...entry.execArgv],
      resourceLimits: { maxOldGenerationSizeMb: options.heapMegabytes, stackSizeMb: STACK_MEGABYTES },
      closeTimeout: CLOSE_TIMEOUT_MS,
    });
    this.#piscina.on("message", (message: unknown) => {
      if (isHello(message)) this.#bridge.connect(message);
    });
    // A thread that dies idle is replaced; there is no call that could be told.
    this.#piscina.on("error", () => {});
  }

  /** Makes a deployment known to the threads. They ask for it when they first need it. */
  deploy(deployment: Deployable): void {
    this.#deployments.set(deployment.key, deployment);
  }

  undeploy(key: string): void {
    this.#deployments.delete(key);
  }

  /** Starts one call; the caller holds a slot of `lanes`. */
  run(call: Omit<Call, "kind" | "epoch">, listener: RunListener): PoolRun {
    const epoch = ++this.#epoch;
    this.#bridge.listen(epoch, listener);
    return { answer: this.#answer(call, epoch, listener), times: () => this.#bridge.timesOf(epoch) };
  }

  async #answer(call: Omit<Call, "kind" | "epoch">, epoch: number, listener: RunListener): Promise<PoolAnswer> {
    try {
      const message: Call = { ...call, kind: "call", epoch };
      const reply = (await this.#piscina.run(message, { signal: listener.signal })) as Reply;
      if (reply.said) this.#bridge.drain();
      hear(listener, reply.sayings);
      return { kind: "replied", reply };
    } catch (thrown) {
      if (listener.signal.aborted) return { kind: "aborted" };
      return { kind: "lost", what: `the thread ended: ${messageOf(thrown)}` };
    } finally {
      this.#bridge.forget(epoch);
    }
  }

  stats(): PoolStats {
    const gc =
      this.#gc === null
        ? null
        : {
            pauses: Atomics.load(this.#gc, GC_FIELDS.pauses),
            totalMs: Atomics.load(this.#gc, GC_FIELDS.microseconds) / 1_000,
          };
    return { threads: this.#options.threads, free: this.lanes.free, waiting: this.lanes.waiting, gc };
  }

  /** Ends all threads. Calls still running end as lost; drain before. */
  async close(): Promise<void> {
    await this.#piscina.destroy();
    this.#bridge.close();
    this.#deployments.clear();
  }

  async #deployment(key: string): Promise<Deployment> {
    const deployable = this.#deployments.get(key);
    if (deployable === undefined) throw new Error(`no deployment ${key}`);
    return { ...deployable, artifact: await deployable.artifact.load() };
  }
}

function isHello(message: unknown): message is Hello {
  return typeof message === "object" && message !== null && "kind" in message && message.kind === "airlock-hello";
}
