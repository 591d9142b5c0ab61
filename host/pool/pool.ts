/**
 * The threads. In: a `Call`. Out: a `PoolAnswer`, exactly one, also when the thread dies. Holds always: a thread carries out
 * one call at a time; a call that is aborted takes its thread with it, and no other call, and is answered at once; late
 * answers of a host call reach nobody. Not promised: that an ended thread is gone at once; fuel bounds how long it runs.
 *
 * Piscina makes the threads, replaces those that die and ends them all (`ThreadFactory`). Calls go past its task queue, over a
 * port for each thread: so a few wait in front of a thread, which need not sleep between them, and can still be taken back.
 */
import { channel } from "node:diagnostics_channel";
import { PoolRun, type RunListener } from "./pool-run.ts";
import type { Deployable, Deployment } from "./protocol.ts";
import type { Thread, ThreadOwner } from "./thread.ts";
import { ThreadFactory } from "./thread-factory.ts";

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
  /** Threads that have nothing to do. */
  readonly free: number;
  /** Runs that wait for a thread. */
  readonly waiting: number;
  /** Garbage collections of all threads so far; null where they are not timed. */
  readonly gc: { readonly pauses: number; readonly totalMs: number } | null;
}

/** Calls that a thread is given at a time, the one that it carries out included. */
export const MOST_POSTED = 4;
/** A larger input waits in one place only. */
const MOST_POSTED_BYTES = 16 * 1024;
/** From the first answer to the start of the spare thread. */
const SPARE_AFTER_MS = 100;
/** Longer than a timer can be; it never fires. */
const FOREVER_MS = 2 ** 31 - 1;

const startings = channel("airlock:pool:thread-started");
const endings = channel("airlock:pool:thread-ended");

export class Pool implements ThreadOwner {
  readonly #options: PoolOptions;
  readonly #factory: ThreadFactory;
  readonly #deployments = new Map<string, Deployable>();
  /** The one used last comes last. */
  readonly #idle: Thread[] = [];
  readonly #busy = new Set<Thread>();
  /** First come first served. */
  readonly #waiting: PoolRun[] = [];
  #inFlight = 0;
  /** Keeps the process alive while a call is in flight. */
  readonly #alive = setInterval(() => {}, FOREVER_MS).unref();
  #hasSpare = false;
  #balancing = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#factory = new ThreadFactory(options, this, this.#connect, () => this.#dispatch());
    this.#factory.start(options.threads);
  }

  /** Makes a deployment known to the threads. They ask for it when they first need it. */
  deploy(deployment: Deployable): void {
    this.#deployments.set(deployment.key, deployment);
  }

  undeploy(key: string): void {
    this.#deployments.delete(key);
  }

  /** Starts one call, or lets it wait for a thread. `size`: bytes of its input, about. */
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
      do {
        // What waits behind it must not begin on a thread that is about to end. First of all: whoever hears below may end that too.
        this.#waiting.unshift(...thread.takeBackLast(thread.load));
        // Its reply may be here: the thread replies before it goes on.
        thread.drain();
        // A reply to a run before it made room for others.
      } while (run.answer === null && thread.load > 1);
      if (run.answer !== null) {
        this.#dispatch();
        return;
      }
      thread.end();
      this.#drop(thread, "its run was ended");
    }
    run.answer = { kind: "aborted" };
    this.#answered(run);
    this.#dispatch();
  }

  stats(): PoolStats {
    const { threads } = this.#options;
    return {
      threads,
      free: Math.max(0, threads - this.#inFlight),
      waiting: Math.max(0, this.#inFlight - threads),
      gc: this.#factory.gcTimes,
    };
  }

  /** Ends all threads. Calls still running end as lost; drain before. */
  async close(): Promise<void> {
    await this.#factory.close();
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
    this.#rest(thread);
    this.#dispatch();
    this.#answered(run);
    if (thread.load === 0) this.#balance();
    if (this.#hasSpare) return;
    this.#hasSpare = true;
    // Later: it should take no time from a process that does one run.
    setTimeout(() => this.#factory.start(1), SPARE_AFTER_MS).unref();
  }

  died(thread: Thread): void {
    thread.drain();
    const unbegun = thread.takeBackLast(thread.load);
    const lost = thread.takeAll();
    this.#drop(thread, thread.problem);
    this.#waiting.unshift(...unbegun);
    for (const run of lost) this.#lose(run, `the thread ended: ${thread.problem}`);
    this.#dispatch();
  }

  // Where calls go.

  #dispatch(): void {
    while (this.#waiting.length > 0) {
      const run = this.#waiting[0]!;
      const thread = this.#placeFor(run);
      if (thread === null) break;
      this.#waiting.shift();
      this.#post(run, thread);
    }
    const { problem } = this.#factory;
    if (problem === null || this.#idle.length + this.#busy.size > 0) return;
    // Nobody knows when there will be a thread again.
    for (const run of this.#waiting.splice(0)) this.#lose(run, `no thread can be started: ${problem}`);
  }

  /** An idle thread while one may be used; else one that has little to do. */
  #placeFor(run: PoolRun): Thread | null {
    if (this.#busy.size < this.#options.threads && this.#idle.length > 0) return this.#idle.at(-1)!;
    if (run.size > MOST_POSTED_BYTES) return null;
    let least: Thread | null = null;
    for (const thread of this.#busy) {
      if (thread.hasRoom && thread.load < MOST_POSTED && (least === null || thread.load < least.load)) least = thread;
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
      this.#rest(thread);
    }
  }

  /** A thread that has no call left is idle. */
  #rest(thread: Thread): void {
    if (thread.load === 0 && this.#busy.delete(thread)) this.#idle.push(thread);
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

  #drop(thread: Thread, reason: string): void {
    const index = this.#idle.indexOf(thread);
    if (index >= 0) this.#idle.splice(index, 1);
    const known = this.#busy.delete(thread) || index >= 0;
    if (known && endings.hasSubscribers) endings.publish({ threadId: thread.threadId, reason });
  }

  readonly #connect = (thread: Thread): void => {
    if (startings.hasSubscribers) startings.publish({ threadId: thread.threadId });
    this.#idle.unshift(thread);
    this.#dispatch();
    this.#balance();
  };
}
