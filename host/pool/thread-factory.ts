import type { Worker } from "node:worker_threads";
import { Piscina } from "piscina";
import { findEntryPoint } from "../compile/compile.ts";
import { messageOf } from "../errors/errors.ts";
import { PROCESS_MEMORIES } from "./memories.ts";
import type { PoolOptions } from "./pool.ts";
import { GC_FIELDS, type Hello } from "./protocol.ts";
import { Thread, type ThreadOwner } from "./thread.ts";
import type { WorkerStart } from "./worker.ts";

const STACK_MEGABYTES = 4;
const CLOSE_TIMEOUT_MS = 10_000;
/** Until threads that could not be started are tried again. */
const AGAIN_AFTER_MS = 1_000;

/** Makes the threads of a pool, by Piscina, which replaces one that has ended by a new one. */
export class ThreadFactory {
  readonly #options: PoolOptions;
  readonly #owner: ThreadOwner;
  readonly #connected: (thread: Thread) => void;
  readonly #failed: () => void;
  readonly #piscinas = new Set<Piscina>();
  /** Int32 counter of the Wasm memories of the whole process. */
  readonly #memories = new Int32Array(PROCESS_MEMORIES);
  /** See `GC_FIELDS`; written by all threads. */
  readonly #gc: SharedArrayBuffer | null;
  #problem: string | null = null;
  #closed = false;

  /** Hands each thread that can be used to `connected`; calls `failed` when one could not be started. */
  constructor(options: PoolOptions, owner: ThreadOwner, connected: (thread: Thread) => void, failed: () => void) {
    this.#options = options;
    this.#owner = owner;
    this.#connected = connected;
    this.#failed = failed;
    this.#gc = options.gcTimes ? new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * GC_FIELDS.count) : null;
  }

  /** Why threads cannot be started; null while they can. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Garbage collections of all threads so far; null where they are not timed. */
  get gcTimes(): { readonly pauses: number; readonly totalMs: number } | null {
    if (this.#gc === null) return null;
    const fields = new Int32Array(this.#gc);
    const microseconds = Atomics.load(fields, GC_FIELDS.microseconds);
    return { pauses: Atomics.load(fields, GC_FIELDS.pauses), totalMs: microseconds / 1_000 };
  }

  /** Starts `count` more threads. */
  start(count: number): void {
    if (this.#closed) return;
    const entry = findEntryPoint(import.meta.url, "pool", "worker");
    const { heapMegabytes, deployments } = this.#options;
    const workerData: WorkerStart = { memories: PROCESS_MEMORIES, gc: this.#gc, deployments };
    const piscina = new Piscina({
      filename: entry.file,
      name: "task",
      minThreads: count,
      maxThreads: count,
      // The thread's own event loop must turn between calls, or no finalizer would ever run there.
      atomics: "disabled",
      recordTiming: false,
      workerData,
      env: {},
      argv: [],
      execArgv: [...entry.execArgv],
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytes, stackSizeMb: STACK_MEGABYTES },
      closeTimeout: CLOSE_TIMEOUT_MS,
    });
    this.#piscinas.add(piscina);
    const ready = new Set<number>();
    const hellos = new Map<number, Hello>();
    // Piscina replaces a thread only once it calls it ready, so none is used before that.
    const connect = (threadId: number): void => {
      const hello = hellos.get(threadId);
      if (hello === undefined || !ready.has(threadId)) return;
      ready.delete(threadId);
      hellos.delete(threadId);
      const worker = piscina.threads.find((each: Worker) => each.threadId === threadId);
      if (worker === undefined) return;
      this.#problem = null;
      this.#connected(new Thread(hello, worker, this.#memories, this.#owner));
    };
    piscina.on("workerCreate", ({ id }: { readonly id: number }) => {
      ready.add(id);
      connect(id);
    });
    piscina.on("message", (message: unknown) => {
      if (!isHello(message)) return;
      hellos.set(message.threadId, message);
      connect(message.threadId);
    });
    piscina.on("error", (error: unknown) => {
      const missing = count - piscina.threads.length;
      // One that had started was replaced already; who waits for an answer of it hears of its end from the thread.
      if (missing === 0 || this.#closed) return;
      this.#problem = messageOf(error);
      if (piscina.threads.length === 0) this.#startAgain(piscina, count);
      this.#failed();
    });
  }

  /** Ends all threads. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#piscinas].map((piscina) => piscina.destroy()));
  }

  /** Piscina starts no thread any more once one has failed to start. */
  #startAgain(failed: Piscina, count: number): void {
    this.#piscinas.delete(failed);
    void failed.destroy();
    setTimeout(() => this.start(count), AGAIN_AFTER_MS).unref();
  }
}

function isHello(message: unknown): message is Hello {
  return typeof message === "object" && message !== null && "kind" in message && message.kind === "airlock-hello";
}
