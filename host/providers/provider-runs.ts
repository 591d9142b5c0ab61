import { channel } from "node:diagnostics_channel";
import { ENDINGS, HostError, isHostError, messageOf, type OutcomeKind, quote } from "../errors/errors.ts";
import { type Clock, SYSTEM_CLOCK } from "./clock.ts";
import { answerCommand } from "./command-answer.ts";
import { parseCommand } from "./command-request.ts";
import type { CommandAnswers, CommandName } from "./commands.ts";
import type { LateCounts } from "./emitter.ts";
import type { PoolCatalog } from "./pool-catalog.ts";
import type { Provider, RunRequest, TerminalEvent } from "./provider.ts";
import { type ProviderPool, type ProviderPoolStats, unreachable, type Waiter } from "./provider-pool.ts";
import { ProviderRun, type RunKeeper, type RunSink } from "./provider-run.ts";
import { checkPriority, checkRunId, checkRunRequest } from "./run-request.ts";
import type { ProviderInfo } from "./seat.ts";
import { Seating, type Slots } from "./seating.ts";

/** How a run may be started, besides its request. */
export interface StartOptions {
  /** Cancels the run. */
  readonly signal?: AbortSignal;
  /** Of those who wait for a slot the highest is served first. A whole number, default 0. */
  readonly priority?: number;
  /** Hears every event as it happens. */
  readonly sink?: RunSink;
  /** Of a provider that shares the slots of somebody else, the run takes one of these instead: of a candidate of the same name. */
  readonly slots?: () => ProviderPool;
}

/** What the runs of a host have in common. */
export interface ProviderRunsOptions {
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** Hears of every run's end before anyone else does. What it throws goes to the diagnostics channel. */
  readonly ended?: (run: ProviderRun, terminal: TerminalEvent) => void;
}

/** Numbers of all runs. */
export interface ProviderRunsStats {
  readonly inFlight: number;
  readonly started: number;
  readonly endings: Readonly<Record<OutcomeKind, number>>;
  /** What came after its run's end and was dropped. */
  readonly late: Readonly<LateCounts>;
  /** By the pool's name, or the provider's id where its slots are its own. */
  readonly pools: Readonly<Record<string, ProviderPoolStats>>;
}

const startings = channel("airlock:providers:run-started");
const endings = channel("airlock:providers:run-ended");
const failures = channel("airlock:providers:ended-failed");

/**
 * Registry, slots and runs together: starts a request with the provider, or the pool, that it names, and knows every run until its
 * end. What is refused before a run has started is thrown, as a HostError with its `failure`; after that there are only events.
 */
export class ProviderRuns {
  readonly #clock: Clock;
  readonly #seating: Seating;
  readonly #runs = new Map<string, ProviderRun>();
  readonly #late: LateCounts = { events: 0, endings: 0 };
  readonly #endings = Object.fromEntries(Object.keys(ENDINGS).map((kind) => [kind, 0])) as Record<OutcomeKind, number>;
  readonly #keeper: RunKeeper;
  readonly #ended: ProviderRunsOptions["ended"] | null;
  /** Aborts the commands that are still unanswered. */
  readonly #closed = new AbortController();
  #started = 0;
  #open = true;
  #closing: Promise<void> | null = null;

  constructor({ clock = SYSTEM_CLOCK, ended }: ProviderRunsOptions = {}) {
    this.#clock = clock;
    this.#seating = new Seating(clock);
    this.#ended = ended ?? null;
    this.#keeper = {
      clock,
      late: this.#late,
      seatOf: (candidate) => this.#seating.resolve(candidate),
      took: (run) => this.#took(run),
      forget: (run) => this.#forget(run),
    };
  }

  /**
   * Sets up a pool: a run that names it is carried out by one of its candidates. Providers that stand in a catalog take its slots
   * from then on, also when a run names them. Throws AIRLOCK_PROVIDERS_CATALOG_INVALID, AIRLOCK_PROVIDERS_DUPLICATE.
   */
  addPool(name: string, catalog: PoolCatalog): ProviderPool {
    return this.#seating.addPool(name, catalog);
  }

  /**
   * Starts a provider and registers it as connected. `slots` is left out for one that stands in the catalog of a pool. One without a
   * `lifecycle.start` is registered when the call returns. Rejects with AIRLOCK_PROVIDERS_DEFINITION_INVALID, AIRLOCK_PROVIDERS_DUPLICATE,
   * AIRLOCK_PROVIDERS_CATALOG_INVALID, AIRLOCK_PROVIDERS_START_FAILED.
   */
  add(provider: Provider, slots?: Slots): Promise<void> {
    return this.#seating.add(provider, slots);
  }

  /** Takes a provider out: nothing new starts, runs in flight finish, then it is stopped. Rejects with AIRLOCK_PROVIDERS_MISSING. */
  remove(id: string): Promise<void> {
    return this.#seating.remove(id, (waiters, seat) => disconnectAll(waiters, `the provider ${seat.id} was removed`));
  }

  /** The provider of that name; null for a pool. Throws AIRLOCK_PROVIDERS_MISSING. */
  resolve(name: string): Provider | null {
    return this.#seating.find(name).seat?.provider ?? null;
  }

  /** The newest version of a provider inside of a semver range; null when there is none. */
  newestWithin(id: string, range: string): Provider | null {
    return this.#seating.newestWithin(id, range)?.provider ?? null;
  }

  /** The providers, in the order in which they were registered. */
  list(): readonly Provider[] {
    return this.#seating.list();
  }

  /** Whether a provider of that id stands in the catalog of a pool, and so is added without slots. */
  isCatalogued(id: string): boolean {
    return this.#seating.isCatalogued(id);
  }

  /** What is known of each provider now. */
  describe(): readonly ProviderInfo[] {
    return this.#seating.describe();
  }

  /**
   * Says that the connection to a provider is gone, or is back. When it goes, the provider's runs end as `disconnected`, and so does
   * every run that waits for a slot which nobody can give any more. Throws AIRLOCK_PROVIDERS_MISSING.
   */
  setConnected(id: string, connected: boolean, message = `the connection to ${id} is gone`): void {
    const seat = this.#seating.resolve(id);
    // First the slots, or those that become free would go to runs that end next.
    const stranded = this.#seating.connect(seat, connected);
    if (stranded === null || connected) return;
    disconnectAll(stranded, message);
    for (const run of [...this.#runs.values()]) if (run.seat === seat) run.disconnect(message);
  }

  /**
   * Starts a run with the provider or the pool that the request names. Throws, and then nothing has started: AIRLOCK_INVOCATION_REQUEST_INVALID,
   * AIRLOCK_INVOCATION_RUN_ID_TAKEN, AIRLOCK_PROVIDERS_MISSING, AIRLOCK_PROVIDERS_UNAVAILABLE, AIRLOCK_PROVIDERS_CHECK_FAILED,
   * AIRLOCK_POOL_QUEUE_FULL, AIRLOCK_HOST_CLOSED, and the HostError that the provider's own check throws.
   */
  start<Output = unknown>(request: RunRequest, options: StartOptions = {}): ProviderRun<Output> {
    // What a run needs that is in flight, it gets also while the host waits for its end.
    if (request.nested === undefined) this.#checkOpen("start the run");
    checkRunRequest(request);
    const { runId, providerId } = request;
    if (this.#runs.has(runId)) {
      throw new HostError(
        "AIRLOCK_INVOCATION_RUN_ID_TAKEN",
        `Cannot start the run: a run ${quote(runId)} is in flight`,
      );
    }
    const { priority = 0, signal = null, sink = null, slots } = options;
    checkPriority(priority);
    const { seat, pool } = this.#seating.find(providerId);
    if (seat !== null) {
      if (!seat.connected) throw unreachable(seat.id);
      checkBy(seat.provider, request);
    }
    const given = slots !== undefined && seat?.kind === "shared" ? slots() : pool;
    const run = new ProviderRun<Output>(request, this.#keeper, given, seat, sink);
    run.open(priority, signal);
    return run;
  }

  /** The run in flight with that id. Throws AIRLOCK_INVOCATION_REQUEST_INVALID for an empty id, AIRLOCK_INVOCATION_RUN_UNKNOWN. */
  find(runId: string): ProviderRun {
    checkRunId(runId, "find the run");
    const run = this.#runs.get(runId);
    if (run !== undefined) return run;
    throw new HostError("AIRLOCK_INVOCATION_RUN_UNKNOWN", `Cannot find the run: no run ${quote(runId)} is in flight`);
  }

  /** Cancels one run. Throws as `find` does, and then cancels nothing. */
  cancel(runId: string, reason?: string): void {
    this.find(runId).cancel(reason);
  }

  /**
   * Asks a provider. A command that is not on the list, or asks for what is not, is refused before the provider is looked up. Rejects with
   * AIRLOCK_PROVIDERS_COMMAND_NOT_ALLOWED, AIRLOCK_PROVIDERS_COMMAND_INVALID, AIRLOCK_PROVIDERS_MISSING, AIRLOCK_PROVIDERS_COMMAND_UNSUPPORTED,
   * AIRLOCK_PROVIDERS_COMMAND_FAILED.
   */
  async command<Name extends CommandName>(
    id: string,
    command: Name,
    args: unknown = {},
    signal?: AbortSignal,
  ): Promise<CommandAnswers[Name]> {
    const request = parseCommand(command, args);
    this.#checkOpen("run the command");
    const seat = this.#seating.resolve(id);
    // A server that never answers would keep the process alive after the host's end.
    const ended = AbortSignal.any([this.#closed.signal, ...(signal === undefined ? [] : [signal])]);
    return (await answerCommand(seat, request, ended)) as CommandAnswers[Name];
  }

  stats(): ProviderRunsStats {
    return {
      inFlight: this.#runs.size,
      started: this.#started,
      endings: { ...this.#endings },
      late: { ...this.#late },
      pools: this.#seating.stats(),
    };
  }

  /**
   * Starts nothing any more, waits for the runs in flight, at most `drainMs` milliseconds, cancels what is left, commands too, and stops
   * every provider. Idempotent; never rejects.
   */
  close({ drainMs = 0 }: { readonly drainMs?: number } = {}): Promise<void> {
    // First of all, or a listener of a run that is cancelled could start another.
    this.#open = false;
    this.#closing ??= this.#close(drainMs);
    return this.#closing;
  }

  async #close(drainMs: number): Promise<void> {
    this.#seating.close();
    if (drainMs > 0 && this.#runs.size > 0) {
      const drained = Promise.all([...this.#runs.values()].map(({ outcome }) => outcome));
      await within(drainMs, drained, this.#clock);
    }
    // With a run, those that it has asked for end.
    for (const run of [...this.#runs.values()]) if (run.terminal === null) run.cancel("the host is closing");
    this.#closed.abort(new DOMException("the host is closing", "AbortError"));
    await this.#seating.retire();
  }

  #took(run: ProviderRun): void {
    const { runId, providerId } = run.request;
    this.#runs.set(runId, run);
    this.#started++;
    if (startings.hasSubscribers) startings.publish({ runId, providerId });
  }

  #forget(run: ProviderRun): void {
    const { runId, providerId } = run.request;
    this.#runs.delete(runId);
    const terminal = run.terminal!;
    const { outcome, kind } = terminal;
    this.#endings[outcome.kind]++;
    try {
      this.#ended?.(run, terminal);
    } catch (error) {
      failures.publish({ error, runId });
    }
    if (endings.hasSubscribers) endings.publish({ runId, providerId, kind, outcome });
  }

  #checkOpen(action: string): void {
    if (!this.#open) throw new HostError("AIRLOCK_HOST_CLOSED", `Cannot ${action}: the host is closed`);
  }
}

/** Throws the provider's refusal, and AIRLOCK_PROVIDERS_CHECK_FAILED for anything else that it throws. */
function checkBy(provider: Provider, request: RunRequest): void {
  try {
    provider.check?.(request);
  } catch (error) {
    if (isHostError(error)) throw error;
    throw new HostError(
      "AIRLOCK_PROVIDERS_CHECK_FAILED",
      `Cannot start the run: the provider ${quote(provider.id)} failed as it checked the request: ${messageOf(error)}`,
      { cause: error },
    );
  }
}

function disconnectAll(waiters: readonly Waiter[], message: string): void {
  for (const waiter of waiters) (waiter as ProviderRun).disconnect(message);
}

/** Waits for a promise that does not reject, but no longer than `ms`. */
async function within(ms: number, promise: Promise<unknown>, clock: Clock): Promise<void> {
  let alarm: object | undefined;
  const slept = new Promise<void>((wake) => {
    alarm = clock.after(ms, { wake });
  });
  await Promise.race([promise, slept]);
  clock.cancel(alarm!);
}
