import { resourceLimits } from "node:worker_threads";
import type { Event, EventGate } from "../events/events.ts";
import type { HostAnswer, ImportCounters, ImportEnding, ImportScope, InvocationFacts } from "../imports/imports.ts";
import type { Limits } from "../manifest/manifest.ts";
import { type Counters, createCounters, EXHAUSTED, REFUSED } from "../meter/meter.ts";
import { GuestStop, textOfThrown } from "./guest-stop.ts";
import { longestTextBytes } from "./heap-share.ts";
import type { Phase, WorkerEnding, WorkerUsage } from "./protocol.ts";
import type { WorkerBridge } from "./worker-bridge.ts";

const PAGE_BYTES = 65_536;
/** What one call may bring out of the guest: a share of the thread's heap, or V8 would abort the process. */
const LONGEST_LIFT_BYTES = longestTextBytes(resourceLimits?.maxOldGenerationSizeMb);
/** A call may always bring this much out of the guest, whatever is left for host calls. */
const LEAST_LIFT_BYTES = 1024 * 1024;
/** Past the run's deadline the main thread has ended this one; this is for a main thread that is gone. */
const ASK_MARGIN_MS = 60_000;

/** More than any guest can use up. */
const NO_DEPTH_LIMIT = 2n ** 62n;

/** What a run starts with. */
export interface RunInit {
  readonly invocation: InvocationFacts;
  readonly limits: Limits;
  /** Asked at most once, when something that looks random is wanted. */
  readonly seed: () => Uint8Array;
  readonly events: EventGate;
  readonly bridge: WorkerBridge;
  readonly filesystem: { readonly root: string } | null;
}

/**
 * One run on this thread: its fuel, its phase, its counters, and how it ends. Everything that serves an instance holds on to it, so
 * where an instance serves another run, this begins anew.
 */
export class RunState implements ImportScope {
  readonly meter: Counters = createCounters({ fuel: 0, pages: 0, elements: 0 });
  counters!: ImportCounters;
  memories!: WebAssembly.Memory[];
  phase!: Phase;
  hostMs!: number;
  /** Whether instantiation called an import, so that another run's might go otherwise. */
  calledInSetup!: boolean;
  #init!: RunInit;
  #seed!: Uint8Array | null;
  #enteredAt!: number;
  #guestMs!: number;
  #ending!: WorkerEnding | null;
  #fuelGiven!: bigint;
  #setupFuel!: bigint;
  #fuelLeftAtEnding!: bigint | null;
  #finishers!: (() => void)[];
  #inRealloc!: boolean;
  #liftedBytes!: number;

  constructor(init: RunInit) {
    this.begin(init);
  }

  /** Begins a run: nothing is left of the one before. */
  begin(init: RunInit): void {
    const { limits } = init;
    this.#init = init;
    this.counters = {
      hostCalls: 0,
      hostBytesIn: 0,
      hostBytesOut: 0,
      logBytes: 0,
      logDropped: 0,
      randomBytes: 0,
      handles: 0,
    };
    this.memories = [];
    this.phase = "setup";
    this.hostMs = 0;
    this.calledInSetup = false;
    this.#seed = null;
    this.#enteredAt = 0;
    this.#guestMs = 0;
    this.#ending = null;
    this.#fuelGiven = BigInt(limits.setupFuel);
    this.#setupFuel = 0n;
    this.#fuelLeftAtEnding = null;
    this.#finishers = [];
    this.#inRealloc = false;
    this.#liftedBytes = 0;
    const { fuel, pages, elements, refused, depth } = this.meter;
    fuel.value = this.#fuelGiven;
    pages.value = BigInt(Math.floor(limits.memoryBytes / PAGE_BYTES));
    elements.value = BigInt(limits.tableElements);
    refused.value = REFUSED.none;
    depth.value = limits.callDepth === null ? NO_DEPTH_LIMIT : BigInt(limits.callDepth);
  }

  get invocation(): InvocationFacts {
    return this.#init.invocation;
  }

  get limits(): Limits {
    return this.#init.limits;
  }

  get events(): EventGate {
    return this.#init.events;
  }

  get filesystem(): { readonly root: string } | null {
    return this.#init.filesystem;
  }

  /** What instantiation burned. */
  get setupFuel(): number {
    return Number(this.#setupFuel);
  }

  get guestMs(): number {
    return Math.max(0, this.#guestMs - this.hostMs);
  }

  /**
   * Takes what a core instance holds from the start out of the budgets that growth draws on, before it is made. It counts
   * instances and not modules: a file with one memory can ask for a thousand.
   */
  hold(memory: { readonly initial: number } | null, tableElements: number): void {
    const { pages, elements } = this.meter;
    elements.value -= BigInt(tableElements);
    if (elements.value < 0n) this.end({ kind: "out-of-memory", phase: this.phase, limit: "tableElements" });
    if (memory === null) return;
    if (this.memories.length >= this.limits.memories) this.end({ kind: "over-budget", limit: "memories" });
    pages.value -= BigInt(memory.initial);
    if (pages.value < 0n) this.end({ kind: "out-of-memory", phase: this.phase, limit: "memoryBytes" });
  }

  /**
   * Setup is over: what it burned is counted apart, and the run's own fuel begins. `spared` is what it would have burned
   * where an instance was there already.
   */
  beginCall(spared = 0): void {
    this.#setupFuel = BigInt(spared) + this.#fuelGiven - this.#left();
    this.#fuelGiven = BigInt(this.limits.fuel);
    this.meter.fuel.value = this.#fuelGiven;
    this.phase = "lower";
  }

  /** Records the ending; the first one stays. */
  record(ending: WorkerEnding): void {
    if (this.#ending !== null) return;
    this.#ending = ending;
    this.#fuelLeftAtEnding = this.meter.fuel.value;
  }

  /** Records, then takes the fuel away, then throws: a guest that catches the exception runs into an empty tank. */
  end(ending: WorkerEnding): never {
    this.record(ending);
    this.meter.fuel.value = EXHAUSTED;
    throw new GuestStop();
  }

  // What imports see.

  get seed(): Uint8Array {
    this.#seed ??= this.#init.seed();
    return this.#seed;
  }

  fuelLeft(): bigint {
    const left = this.meter.fuel.value;
    return left < 0n ? 0n : left;
  }

  fuelAtStart(): bigint {
    return this.#fuelGiven;
  }

  charge(units: number): void {
    this.meter.fuel.value -= BigInt(Math.ceil(units));
    if (this.meter.fuel.value < 0n) this.end({ kind: "out-of-fuel", phase: this.phase });
  }

  stop(ending: ImportEnding): never {
    if (ending.kind === "over-budget") return this.end(ending);
    return this.end({ kind: "trapped", phase: this.phase, what: ending.what });
  }

  publish(event: Event): void {
    this.#init.bridge.say({ kind: "event", epoch: this.#init.bridge.epoch, event });
  }

  atEnd(finish: () => void): void {
    this.#finishers.push(finish);
  }

  /** The guest has stopped for good: what waited for more is handed over. */
  finish(): void {
    for (const finish of this.#finishers.splice(0)) finish();
  }

  log(level: string, message: string): void {
    this.#init.bridge.say({ kind: "log", epoch: this.#init.bridge.epoch, level, message });
  }

  askHost(interfaceName: string, functionName: string, args: readonly unknown[]): HostAnswer {
    const startedAt = performance.now();
    const fuel = Number(this.#fuelGiven - this.#left());
    const timeoutMs = this.limits.wallMs + ASK_MARGIN_MS;
    const reply = this.#init.bridge.ask({ kind: "host-call", interfaceName, functionName, args, fuel }, timeoutMs);
    this.hostMs += performance.now() - startedAt;
    if (reply?.answer === undefined)
      return this.end({ kind: "lost", what: "the main thread did not answer a host call" });
    return reply.answer;
  }

  enter(name: string): void {
    if (this.#ending !== null) throw new GuestStop();
    if (this.#inRealloc) this.end({ kind: "trapped", phase: this.phase, what: `the guest's allocator called ${name}` });
    this.#liftedBytes = 0;
    if (this.phase === "setup") this.calledInSetup = true;
    if (this.phase === "guest") this.phase = "host";
  }

  leave(): void {
    if (this.phase === "host") this.phase = "guest";
  }

  // What the linker calls, and what the glue is edited to call.

  /** Wraps the core function that a component's export enters. */
  entry<F extends (...args: never[]) => unknown>(core: F): F {
    const entered = (...args: Parameters<F>): unknown => {
      if (this.#ending !== null) throw new GuestStop();
      this.phase = "guest";
      this.#enteredAt = performance.now();
      try {
        return core(...args);
      } finally {
        this.#guestMs += performance.now() - this.#enteredAt;
        // A throw keeps the phase, so that the ending says where it happened.
        if (this.#ending === null) this.#liftedBytes = 0;
      }
    };
    return ((...args: Parameters<F>) => {
      const result = entered(...args);
      this.phase = "lift";
      return result;
    }) as F;
  }

  /** Wraps the guest's allocator: while it runs, the guest may call nothing. */
  realloc<F extends (...args: never[]) => unknown>(core: F): F {
    return ((...args: Parameters<F>): unknown => {
      const outer = this.#inRealloc;
      this.#inRealloc = true;
      try {
        return core(...args);
      } finally {
        this.#inRealloc = outer;
      }
    }) as F;
  }

  /** Wraps the function that frees a result. */
  postReturn<F extends (...args: never[]) => unknown>(core: F): F {
    return ((...args: Parameters<F>): unknown => {
      this.phase = "post";
      return core(...args);
    }) as F;
  }

  /** Pays for `bytes` that are about to be copied out of the guest, before they are. */
  payLift(bytes: number): void {
    this.#liftedBytes += bytes;
    const limit = this.phase === "lift" ? "outputBytes" : "hostBytesOut";
    // Events and log lines are no host calls: they have limits of their own, which answer the guest in their own way.
    const most =
      limit === "outputBytes" ? this.limits.outputBytes : Math.max(this.limits.hostBytesOut, LEAST_LIFT_BYTES);
    if (this.#liftedBytes > Math.min(most, LONGEST_LIFT_BYTES)) this.end({ kind: "over-budget", limit });
    this.charge(bytes);
  }

  /** What was lifted has gone to another component of the guest: it does not count towards what goes out next. */
  handedOn(): void {
    this.#liftedBytes = 0;
  }

  /** Counts the resources that components of the guest hold of one another. */
  countHandles(more: number): void {
    this.counters.handles += more;
    if (this.counters.handles > this.limits.handles) this.end({ kind: "over-budget", limit: "handles" });
  }

  /** The guest broke the canonical ABI. Recorded before it is thrown: a guest can catch what an import throws. */
  trap(what: string): never {
    return this.stop({ kind: "trapped", what });
  }

  // Where a run ends.

  /** What the end of the call means: the recorded ending, else empty fuel, else what was thrown, where. */
  classify(outcome: { readonly returned: unknown } | { readonly thrown: unknown }): WorkerEnding {
    if (this.#ending !== null) return this.#ending;
    const ending = this.#endingOf(outcome);
    this.record(ending);
    return ending;
  }

  usage(): WorkerUsage {
    const left = this.#fuelLeftAtEnding ?? this.meter.fuel.value;
    const used = Number(this.#fuelGiven - left);
    const inSetup = this.phase === "setup";
    return {
      hostCalls: this.counters.hostCalls,
      hostBytesIn: this.counters.hostBytesIn,
      hostBytesOut: this.counters.hostBytesOut,
      logBytes: this.counters.logBytes,
      logDropped: this.counters.logDropped,
      randomBytes: this.counters.randomBytes,
      fuel: inSetup ? 0 : Math.min(used, this.limits.fuel),
      setupFuel: inSetup ? Math.min(used, this.limits.setupFuel) : Number(this.#setupFuel),
      fuelExact: this.#ending?.kind !== "trapped" && this.#ending?.kind !== "out-of-stack",
      peakMemoryBytes: this.memories.reduce((sum, memory) => sum + memory.buffer.byteLength, 0),
    };
  }

  #endingOf(outcome: { readonly returned: unknown } | { readonly thrown: unknown }): WorkerEnding {
    const phase = this.phase;
    if (this.meter.fuel.value < 0n) return { kind: "out-of-fuel", phase };
    if ("returned" in outcome) return { kind: "succeeded", output: outcome.returned };
    const { thrown } = outcome;
    if (this.meter.depth.value < 0n) return { kind: "out-of-stack", phase, limit: "callDepth" };
    const refused = this.meter.refused.value;
    if (refused === REFUSED.engine)
      return { kind: "lost", what: "the engine had no memory for a growth within the limits" };
    if (refused !== REFUSED.none) {
      return { kind: "out-of-memory", phase, limit: refused === REFUSED.memory ? "memoryBytes" : "tableElements" };
    }
    // The glue throws the value of an `err` after the result was lifted: as it is, or in an error of its own.
    if (phase === "lift" || phase === "post") {
      if (!(thrown instanceof Error)) return { kind: "failed", failure: thrown };
      if (Object.hasOwn(thrown, "payload"))
        return { kind: "failed", failure: (thrown as { payload?: unknown }).payload };
    }
    if (thrown instanceof RangeError && phase === "guest") return { kind: "out-of-stack", phase, limit: "engine" };
    return { kind: "trapped", phase, what: textOfThrown(thrown) };
  }

  #left(): bigint {
    return this.meter.fuel.value;
  }
}
