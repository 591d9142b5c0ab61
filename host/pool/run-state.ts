import type { EventGate } from "../events/events.ts";
import type { HostAnswer, ImportCounters, ImportEnding, ImportScope, InvocationFacts } from "../imports/imports.ts";
import type { Limits } from "../manifest/manifest.ts";
import { type Counters, createCounters, EXHAUSTED, type FuelProfiler } from "../meter/meter.ts";
import { endingOf, type GuestReturn } from "./ending-of.ts";
import { FuelCharge } from "./fuel-charge.ts";
import { GuestStop } from "./guest-stop.ts";
import { mostLifted } from "./lift-bound.ts";
import type { Phase, WorkerEnding, WorkerUsage } from "./protocol.ts";
import { beginCounters, fuelOfCall, newImportCounters, PAGE_BYTES, type RunInit, workerUsage } from "./run-init.ts";

/** Past the run's deadline the main thread has ended this one; this is for a main thread that is gone. */
const ASK_MARGIN_MS = 60_000;

/**
 * One run on this thread: its fuel, its phase, its counters, and how it ends. Everything that serves an instance holds on to it, so
 * where an instance serves another run, this begins anew.
 */
export class RunState implements ImportScope {
  readonly meter: Counters = createCounters({ fuel: 0, pages: 0, elements: 0 });
  readonly #fuelCharge = new FuelCharge(this.meter.fuel);
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
  #isExact!: boolean;

  constructor(init: RunInit) {
    this.begin(init);
  }

  /** Begins a run: nothing is left of the one before. */
  begin(init: RunInit): void {
    const { limits } = init;
    this.#init = init;
    this.counters = newImportCounters();
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
    this.#isExact = true;
    beginCounters(this.meter, limits);
    this.profiler?.begin("setup", limits.setupFuel);
  }

  get invocation(): InvocationFacts {
    return this.#init.invocation;
  }

  get input(): string {
    return this.#init.input;
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

  get profiler(): FuelProfiler | null {
    return this.#init.profiler;
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
    this.#setupFuel = BigInt(spared) + this.#fuelGiven - this.meter.fuel.value;
    this.#fuelGiven = BigInt(fuelOfCall(this.#init, this.setupFuel));
    this.meter.fuel.value = this.#fuelGiven;
    this.phase = "lower";
    this.profiler?.begin("run", Number(this.#fuelGiven));
  }

  /** Records the ending; the first one stays. */
  record(ending: WorkerEnding): void {
    if (this.#ending !== null) return;
    this.#ending = ending;
    this.#fuelLeftAtEnding = this.meter.fuel.value;
    this.profiler?.finish(Number(this.#fuelLeftAtEnding));
  }

  /** Records, then takes the fuel away, then throws: a guest that catches the exception runs into an empty tank. */
  end(ending: WorkerEnding): never {
    this.record(ending);
    this.meter.fuel.value = EXHAUSTED;
    throw new GuestStop();
  }

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

  memoryLeft(): number {
    return Number(this.meter.pages.value) * PAGE_BYTES;
  }

  chargeNested(units: number, isExact: boolean): void {
    if (!isExact) this.#isExact = false;
    this.charge(units);
  }

  charge(units: number): void {
    if (!this.#fuelCharge.take(units)) this.end({ kind: "out-of-fuel", phase: this.phase });
  }

  stop(ending: ImportEnding): never {
    return this.end(ending.kind === "trapped" ? { ...ending, phase: this.phase } : ending);
  }

  publish(json: string): void {
    this.#init.bridge.say({ kind: "events", json });
  }

  atEnd(finish: () => void): void {
    this.#finishers.push(finish);
  }

  /** The guest has stopped for good: what waited for more is handed over. */
  finish(): void {
    for (const finish of this.#finishers.splice(0)) finish();
  }

  log(level: string, message: string): void {
    this.#init.bridge.say({ kind: "log", level, message });
  }

  askHost(interfaceName: string, functionName: string, args: readonly unknown[]): HostAnswer {
    const startedAt = performance.now();
    const fuel = Number(this.#fuelGiven - this.meter.fuel.value);
    const timeoutMs = this.limits.wallMs + ASK_MARGIN_MS;
    const answer = this.#init.bridge.ask({ interfaceName, functionName, args, fuel }, timeoutMs);
    this.hostMs += performance.now() - startedAt;
    return answer ?? this.end({ kind: "lost", what: "the main thread did not answer a host call" });
  }

  enter(name: string): void {
    if (this.#ending !== null) throw new GuestStop();
    if (this.#inRealloc) this.end({ kind: "trapped", phase: this.phase, what: `the guest's allocator called ${name}` });
    this.#liftedBytes = 0;
    if (this.phase === "setup") this.calledInSetup = true;
    if (this.phase === "guest") this.phase = "host";
    this.profiler?.enterImport(name, Number(this.meter.fuel.value));
  }

  leave(): void {
    if (this.phase === "host") this.phase = "guest";
    this.profiler?.leaveImport(Number(this.meter.fuel.value));
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

  /** Pays for `bytes` that are about to be copied out of the guest, before they are, and counts the `held` that they become. */
  payLift(bytes: number, held = bytes): void {
    this.#liftedBytes += held;
    const limit = this.phase === "lift" ? "outputBytes" : "hostBytesOut";
    if (this.#liftedBytes > mostLifted(limit, this.limits)) this.end({ kind: "over-budget", limit });
    this.charge(bytes);
    this.profiler?.lift(bytes);
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

  trap(what: string): never {
    return this.stop({ kind: "trapped", what });
  }

  // Where a run ends.

  /** What the end of the call means: the recorded ending, else empty fuel, else what was thrown, where. */
  classify(outcome: GuestReturn): WorkerEnding {
    if (this.#ending !== null) return this.#ending;
    this.record(endingOf(outcome, this.phase, this.meter));
    return this.#ending!;
  }

  usage(): WorkerUsage {
    const used = Number(this.#fuelGiven - (this.#fuelLeftAtEnding ?? this.meter.fuel.value));
    const inSetup = this.phase === "setup";
    return workerUsage(this.counters, this.memories, {
      fuel: inSetup ? 0 : Math.min(used, Number(this.#fuelGiven)),
      setupFuel: inSetup ? Math.min(used, this.limits.setupFuel) : Number(this.#setupFuel),
      fuelExact: this.#isExact && this.#ending?.kind !== "trapped" && this.#ending?.kind !== "out-of-stack",
    });
  }
}
