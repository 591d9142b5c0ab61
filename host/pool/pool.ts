/**
 * The threads. In: a `Call`. Out: a `PoolAnswer`, exactly one, also when the thread dies. Holds always: a thread carries out
 * one call at a time; a call that is aborted takes its thread with it, and no other call, and is answered at once; late
 * answers of a host call reach nobody. Not promised: that an ended thread is gone at once; fuel bounds how long it runs.
 *
 * Piscina makes the threads, replaces those that die and ends them all. The calls go past its task queue, over a port for each
 * thread: so a few can wait in front of a thread, which then need not sleep between them, and can still be taken back.
 */
import { Piscina } from "piscina";
import { findEntryPoint } from "../compile/compile.ts";
import { HostError } from "../errors/errors.ts";
import { PROCESS_MEMORIES } from "./memories.ts";
import { PoolRun, type RunListener } from "./pool-run.ts";
import { type Deployable, type Deployment, GC_FIELDS, type Hello } from "./protocol.ts";
import { Thread, type ThreadOwner } from "./thread.ts";
import type { WorkerStart } from "./worker.ts";

/** One run, as the pool gets it. */
export type Call = PoolRun["call"];
export { longestTextBytes } from "./heap-share.ts";
export type { HostCall, PoolAnswer, PoolRun, RunListener } from "./pool-run.ts";
export type {
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

/** How many threads there are and what they may hold. */
export interface PoolOptions {
  /** Threads that run guests. One more is kept ready to take the place of one that has to be ended. */
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
/** Calls that a thread is given at a time, the one that it carries out included. */
const MOST_POSTED = 4;
/** A larger input waits in one place only. */
const MOST_POSTED_BYTES = 16 * 1024;
/** The spare thread is started this long after the first answer, so that it takes no time from a process that does one run. */
const SPARE_AFTER_MS = 100;
/** Longer than a timer can be; it never fires. */
const FOREVER_MS = 2 ** 31 - 1;

export class Pool implements ThreadOwner {
  readonly #options: PoolOptions;
  readonly #piscinas: Piscina[] = [];
  readonly #deployments = new Map<string, Deployable>();
  /** See `GC_FIELDS`; written by all threads. */
  readonly #gc: Int32Array | null;
  readonly #memories = new Int32Array(PROCESS_MEMORIES);
  /** The one used last comes last. */
  readonly #idle: Thread[] = [];
  readonly #busy = new Set<Thread>();
  /** First come first served. */
  #waiting: PoolRun[] = [];
  #inFlight = 0;
  /** Keeps the process alive while a call is in flight. */
  readonly #alive = setInterval(() => {}, FOREVER_MS).unref();
  #spare: "none" | "asked" | "started" = "none";
  #balancing = false;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    const gc = options.gcTimes ? new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * GC_FIELDS.count) : null;
    this.#gc = gc === null ? null : new Int32Array(gc);
    this.#startThreads(options.threads);
  }

  /** Makes a deployment known to the threads. They ask for it when they first need it. */
  deploy(deployment: Deployable): void {
    this.#deployments.set(deployment.key, deployment);
  }

  undeploy(key: string): void {
    this.#deployments.delete(key);
  }

  /** Throws AIRLOCK_POOL_QUEUE_FULL when a run would have to wait and as many wait already as may. */
  checkRoom(): void {
    const { threads, queue } = this.#options;
    if (this.#inFlight < threads + queue) return;
    throw new HostError(
      "AIRLOCK_POOL_QUEUE_FULL",
      `Cannot start the run: ${this.#inFlight - threads} runs wait and the queue holds ${queue}; try again later or raise the option queue`,
    );
  }

  /** Starts one call, or lets it wait for a thread. `size`: bytes of its input, about. Throws when it cannot be cloned. */
  run(call: Call, size: number, listener: RunListener): PoolRun {
    const run = new PoolRun(call, size, listener);
    if (this.#inFlight++ === 0) this.#alive.ref();
    this.#waiting.push(run);
    this.#dispatch();
    return run;
  }

  /** Ends a run: takes it back, or else ends its thread. Does nothing for one that has its answer. */
  abort(run: PoolRun): void {
    if (run.answer !== null) return;
    const { thread } = run;
    if (thread === null) {
      this.#waiting.splice(this.#waiting.indexOf(run), 1);
    } else if (!thread.takeBack(run)) {
      // What waits behind it must not begin on a thread that is about to end.
      const unbegun = thread.takeBackLast(thread.load);
      // Its reply may be here: the thread replies before it goes on.
      thread.drain();
      this.#waiting.unshift(...unbegun);
      if (run.answer !== null) {
        this.#dispatch();
        return;
      }
      thread.end();
      this.#drop(thread);
    }
    run.answer = { kind: "aborted" };
    this.#answered(run);
    this.#dispatch();
  }

  stats(): PoolStats {
    const { threads } = this.#options;
    const gc =
      this.#gc === null
        ? null
        : {
            pauses: Atomics.load(this.#gc, GC_FIELDS.pauses),
            totalMs: Atomics.load(this.#gc, GC_FIELDS.microseconds) / 1_000,
          };
    return {
      threads,
      free: Math.max(0, threads - this.#inFlight),
      waiting: Math.max(0, this.#inFlight - threads),
      gc,
    };
  }

  /** Ends all threads. Calls still running end as lost; drain before. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#piscinas.map((piscina) => piscina.destroy()));
    for (const run of this.#waiting.splice(0)) this.#lose(run, "the pool was closed");
    this.#deployments.clear();
    clearInterval(this.#alive);
  }

  // What the threads call.

  async deployment(key: string): Promise<Deployment> {
    const deployable = this.#deployments.get(key);
    if (deployable === undefined) throw new Error(`no deployment ${key}`);
    return { ...deployable, artifact: await deployable.artifact.load() };
  }

  ended(run: PoolRun, thread: Thread): void {
    if (thread.load === 0 && this.#busy.delete(thread)) this.#idle.push(thread);
    this.#dispatch();
    this.#answered(run);
    if (thread.load === 0) this.#balance();
    if (this.#spare === "none") this.#askForSpare();
  }

  died(thread: Thread): void {
    thread.drain();
    const unbegun = thread.takeBackLast(thread.load);
    const lost = thread.takeAll();
    this.#drop(thread);
    this.#waiting.unshift(...unbegun);
    for (const run of lost) this.#lose(run, `the thread ended: ${thread.problem}`);
    this.#dispatch();
  }

  // Where calls go.

  #dispatch(): void {
    while (this.#waiting.length > 0) {
      const run = this.#waiting[0]!;
      const thread = this.#placeFor(run);
      if (thread === null) return;
      this.#waiting.shift();
      this.#post(run, thread);
    }
  }

  /** An idle thread while one may be used; else one that has little to do. */
  #placeFor(run: PoolRun): Thread | null {
    if (this.#busy.size < this.#options.threads && this.#idle.length > 0) return this.#idle.at(-1)!;
    if (run.size > MOST_POSTED_BYTES) return null;
    let least: Thread | null = null;
    for (const thread of this.#busy) {
      if (thread.load < MOST_POSTED && (least === null || thread.load < least.load)) least = thread;
    }
    return least;
  }

  #post(run: PoolRun, thread: Thread): void {
    if (this.#idle.at(-1) === thread) this.#idle.pop();
    this.#busy.add(thread);
    try {
      thread.post(run);
    } catch (thrown) {
      // Only what cannot be cloned is refused, and inputs are JSON values and bytes.
      this.#lose(run, `the call cannot be sent: ${String(thrown)}`);
      if (thread.load === 0 && this.#busy.delete(thread)) this.#idle.push(thread);
    }
  }

  /** A thread that has nothing to do takes over what waits in front of another one. */
  #balance(): void {
    if (this.#balancing || this.#busy.size === 0) return;
    this.#balancing = true;
    // Not now: whoever gets an answer often asks for the next run at once.
    setImmediate(() => {
      this.#balancing = false;
      if (this.#waiting.length > 0 || this.#idle.length === 0 || this.#busy.size >= this.#options.threads) return;
      let most: Thread | null = null;
      for (const thread of this.#busy) if (most === null || thread.load > most.load) most = thread;
      if (most === null || most.load < 2) return;
      this.#waiting.push(...most.takeBackLast(Math.floor(most.load / 2)));
      this.#dispatch();
    });
  }

  #lose(run: PoolRun, what: string): void {
    run.answer = { kind: "lost", what };
    this.#answered(run);
  }

  #answered(run: PoolRun): void {
    if (--this.#inFlight === 0) this.#alive.unref();
    run.listener.answered(run.answer!);
  }

  // The threads.

  #drop(thread: Thread): void {
    this.#busy.delete(thread);
    const index = this.#idle.indexOf(thread);
    if (index >= 0) this.#idle.splice(index, 1);
  }

  #askForSpare(): void {
    this.#spare = "asked";
    setTimeout(() => {
      if (this.#closed) return;
      this.#spare = "started";
      this.#startThreads(1);
    }, SPARE_AFTER_MS).unref();
  }

  #startThreads(count: number): void {
    const entry = findEntryPoint(import.meta.url, "pool", "worker");
    const gc = (this.#gc?.buffer ?? null) as SharedArrayBuffer | null;
    const workerData: WorkerStart = { memories: PROCESS_MEMORIES, gc, deployments: this.#options.deployments };
    const piscina = new Piscina({
      filename: entry.file,
      minThreads: count,
      maxThreads: count,
      // The thread's own event loop must turn between calls, or no finalizer would ever run there.
      atomics: "disabled",
      recordTiming: false,
      workerData,
      env: {},
      argv: [],
      execArgv: [...entry.execArgv],
      resourceLimits: { maxOldGenerationSizeMb: this.#options.heapMegabytes, stackSizeMb: STACK_MEGABYTES },
      closeTimeout: CLOSE_TIMEOUT_MS,
    });
    const ready = new Set<number>();
    const said = new Map<number, Hello>();
    // Piscina replaces a thread only once it calls it ready, so none is used before that.
    const connect = (threadId: number): void => {
      const hello = said.get(threadId);
      if (hello === undefined || !ready.has(threadId)) return;
      ready.delete(threadId);
      said.delete(threadId);
      const worker = piscina.threads.find((each) => each.threadId === threadId);
      if (worker === undefined) return;
      this.#idle.unshift(new Thread(hello, worker, this.#memories, this));
      this.#dispatch();
      this.#balance();
    };
    piscina.on("workerCreate", ({ id }: { readonly id: number }) => {
      ready.add(id);
      connect(id);
    });
    piscina.on("message", (message: unknown) => {
      if (!isHello(message)) return;
      said.set(message.threadId, message);
      connect(message.threadId);
    });
    // A thread that dies is replaced; who waits for an answer of it hears of it from the thread.
    piscina.on("error", () => {});
    this.#piscinas.push(piscina);
  }
}

function isHello(message: unknown): message is Hello {
  return typeof message === "object" && message !== null && "kind" in message && message.kind === "airlock-hello";
}
