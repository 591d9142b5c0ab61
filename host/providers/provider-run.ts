import { channel } from "node:diagnostics_channel";
import { isHostError, messageOf } from "../errors/errors.ts";
import type { AdmissionLease } from "./admission-lease.ts";
import type { Clock } from "./clock.ts";
import { type LateCounts, RunEmitter, type RunListener } from "./emitter.ts";
import type { Endpoint } from "./endpoint.ts";
import { EventBuffer } from "./event-buffer.ts";
import type { Outcome, RunResult } from "./outcome.ts";
import type { CapabilityEvent, NestedEvents, Provider, RunEvent, RunRequest, TerminalEvent } from "./provider.ts";
import type { ProviderPool, QueuePlace, Waiter } from "./provider-pool.ts";
import type { Seat } from "./seat.ts";
import { StreamGate } from "./stream-gate.ts";
import { type GateBounds, resolveGateBounds } from "./unread-queue.ts";

/** Hears every event of a run as it happens. */
export type RunSink = (event: RunEvent) => void;

const sinkFailures = channel("airlock:providers:sink-failed");
const providerFailures = channel("airlock:providers:provider-failed");
const queuings = channel("airlock:providers:run-queued");
const grants = channel("airlock:providers:lease-granted");
const releases = channel("airlock:providers:lease-released");

/** What a run needs to know of the one who keeps it. */
export interface RunKeeper {
  readonly clock: Clock;
  readonly late: LateCounts;
  /** The provider that stands as `candidate` in the catalog of a pool. */
  seatOf(candidate: string): Seat;
  /** The run was taken in. */
  took(run: ProviderRun): void;
  /** The run is over, and holds nothing any more. */
  forget(run: ProviderRun): void;
}

/**
 * One run: an async iterable of its events, for one reader, a promise of its outcome, and a way to cancel it. Not iterating is
 * fine. Events are live: they count only when the run has succeeded.
 */
export interface Run<Output = unknown> extends AsyncIterable<RunEvent> {
  readonly runId: string;
  /** How the run ends. Never rejects. */
  readonly outcome: Promise<Outcome<Output>>;
  /** Ends the run: it is not wanted any more. A run that has ended stays as it is. */
  cancel(reason?: string): void;
  /**
   * Sends the run to an endpoint, in place of an iterator: everything, in order, with the terminal event last. Throws
   * AIRLOCK_PROVIDERS_GATE_INVALID, AIRLOCK_PROVIDERS_EVENTS_TAKEN.
   */
  to<Message>(endpoint: Endpoint<Message>, bounds?: GateBounds): StreamGate<Output, Message>;
}

/** A run as its keeper knows it. */
export class ProviderRun<Output = unknown> implements Run<Output>, RunListener, Waiter {
  readonly request: RunRequest;
  readonly #keeper: RunKeeper;
  readonly #emitter: RunEmitter;
  readonly #pool: ProviderPool;
  #seat: Seat | null;
  readonly #buffer = new EventBuffer();
  #capabilityEvents: (CapabilityEvent | NestedEvents)[] | null = null;
  readonly #sink: RunSink | null;
  #lease: AdmissionLease | null = null;
  #begun = false;
  #place: QueuePlace | null = null;
  #callerSignal: AbortSignal | null = null;
  #callerLeft: (() => void) | null = null;
  #outcome: Promise<Outcome<Output>> | null = null;
  #resolve: ((outcome: Outcome<Output>) => void) | null = null;

  /** `seat` is null for a run that any candidate of the pool may carry out. Nothing happens before `open`. */
  constructor(request: RunRequest, keeper: RunKeeper, pool: ProviderPool, seat: Seat | null, sink: RunSink | null) {
    this.request = request;
    this.#keeper = keeper;
    this.#pool = pool;
    this.#seat = seat;
    this.#sink = sink;
    this.#emitter = new RunEmitter(request, this, keeper.clock, keeper.late);
  }

  get runId(): string {
    return this.request.runId;
  }

  /** How the run ended; null while it has not. */
  get terminal(): TerminalEvent | null {
    return this.#emitter.terminal;
  }

  get outcome(): Promise<Outcome<Output>> {
    const terminal = this.#emitter.terminal;
    this.#outcome ??=
      terminal === null
        ? new Promise((resolve) => {
            this.#resolve = resolve;
          })
        : Promise.resolve(terminal.outcome as Outcome<Output>);
    return this.#outcome;
  }

  /** The capability's events, and those of its nested runs: provisional until the run has succeeded, and worth nothing when it has not. */
  get capabilityEvents(): readonly (CapabilityEvent | NestedEvents)[] {
    return this.#capabilityEvents ?? [];
  }

  /** Whose run it is; null while that is open. */
  get seat(): Seat | null {
    return this.#seat;
  }

  /** As of `Run`. False for a run that has ended. */
  cancel(reason = "cancelled by the caller"): boolean {
    return this.#emitter.cancel(reason);
  }

  /** Ends the run: whoever it was for, or who carries it out, cannot be reached any more. False for a run that has ended. */
  disconnect(message: string): boolean {
    return this.#emitter.disconnect(message);
  }

  /** Takes the run in. Throws what `ProviderPool.enter` throws, and then nothing has happened. */
  open(priority: number, signal: AbortSignal | null): void {
    const entered = this.#pool.enter(this, this.#seat?.candidate ?? null, priority);
    this.#seat?.took();
    this.#keeper.took(this as ProviderRun);
    if ("place" in entered) this.#queued(entered);
    else this.#leased(entered);
    this.#emitter.open();
    // A run whose deadline had passed is over by now.
    if (signal !== null && this.terminal === null) this.#follow(signal);
    // Whoever waited and has been served by now was begun by `granted`; who has ended holds nothing.
    if (!("place" in entered) && this.#lease !== null) this.#begin();
  }

  granted(lease: AdmissionLease): void {
    this.#place = null;
    this.#leased(lease);
    this.#begin();
  }

  /** Takes in what a nested run has said that has succeeded: it comes after what the run has said so far. */
  include(nested: NestedEvents): void {
    this.#capabilityEvents ??= [];
    this.#capabilityEvents.push(nested);
  }

  /** As of `Run`. */
  to<Message>(endpoint: Endpoint<Message>, bounds: GateBounds = {}): StreamGate<Output, Message> {
    const cut = (result: RunResult): void => void this.#emitter.cut(result);
    const gate = new StreamGate<Output, Message>(this.runId, endpoint, resolveGateBounds(bounds), cut);
    const refusal = this.#buffer.handOver(gate);
    gate.open();
    if (refusal !== null) cut(refusal);
    return gate;
  }

  heard(event: RunEvent): void {
    const refusal = this.#buffer.push(event, event === this.#emitter.terminal);
    if (event.kind === "event") {
      this.#capabilityEvents ??= [];
      this.#capabilityEvents.push(event.event);
    }
    if (this.#sink !== null) {
      try {
        this.#sink(event);
      } catch (error) {
        sinkFailures.publish({ error, runId: this.runId });
      }
    }
    // After the sink has heard the event, or it would hear of the end before.
    if (refusal !== null) this.#emitter.cut(refusal);
  }

  room(): Promise<void> | null {
    return this.#buffer.room();
  }

  /** The one place where a run gives back what it holds: its slot or its place, its listener, its name. */
  ended(terminal: TerminalEvent): void {
    if (this.#callerLeft !== null) this.#callerSignal?.removeEventListener("abort", this.#callerLeft);
    this.#keeper.forget(this as ProviderRun);
    const place = this.#place;
    this.#place = null;
    if (place !== null) this.#pool.leave(place);
    const lease = this.#lease;
    this.#lease = null;
    if (this.#begun) this.#seat!.inFlight--;
    if (lease !== null) {
      lease.release();
      if (releases.hasSubscribers) releases.publish({ runId: this.runId, slot: lease.providerId });
    }
    this.#seat?.left();
    this.#resolve?.(terminal.outcome as Outcome<Output>);
    this.#resolve = null;
  }

  /** The events, for one reader. Ends after the terminal event. */
  [Symbol.asyncIterator](): AsyncIterator<RunEvent> {
    return this.#buffer[Symbol.asyncIterator]();
  }

  #queued(place: QueuePlace): void {
    this.#place = place;
    const { runId, providerId } = this.request;
    if (queuings.hasSubscribers) queuings.publish({ runId, providerId });
  }

  #leased(lease: AdmissionLease): void {
    this.#lease = lease;
    if (grants.hasSubscribers) grants.publish({ runId: this.runId, slot: lease.providerId });
  }

  #begin(): void {
    let seat = this.#seat;
    const chosen = seat === null;
    if (seat === null) {
      seat = this.#keeper.seatOf(this.#lease!.providerId);
      seat.took();
      this.#seat = seat;
    }
    this.#begun = true;
    seat.inFlight++;
    if (this.#emitter.begin(seat.id)) void this.#carryOut(seat.provider, chosen);
  }

  /** `unchecked` is for a request that named a pool: who would check it was not known before. */
  async #carryOut(provider: Provider, unchecked: boolean): Promise<void> {
    try {
      if (unchecked && provider.check !== undefined) {
        const refusal = refusalOf(provider, this.request);
        if (refusal !== null) {
          this.#emitter.finish({ kind: "invalid-input", message: refusal });
          return;
        }
      }
      this.#emitter.finish(await provider.execute(this.request, this.#emitter, this.#emitter.signal));
    } catch (error) {
      // Whoever runs the host sees the error as it is, and also that of a run which has ended meanwhile.
      providerFailures.publish({ error, runId: this.runId, providerId: provider.id });
      this.#emitter.fail(error);
    }
  }

  #follow(signal: AbortSignal): void {
    const left = (): void => void this.#emitter.cancel(reasonOf(signal));
    this.#callerSignal = signal;
    this.#callerLeft = left;
    if (signal.aborted) left();
    else signal.addEventListener("abort", left, { once: true });
  }
}

/** Why the provider does not take the request; null when it does. Throws what is no refusal. */
function refusalOf(provider: Provider, request: RunRequest): string | null {
  try {
    provider.check?.(request);
    return null;
  } catch (error) {
    if (isHostError(error) && error.failure === "invalid_request") return messageOf(error);
    throw error;
  }
}

function reasonOf({ reason }: AbortSignal): string {
  if (typeof reason === "string") return reason;
  return reason instanceof Error ? messageOf(reason) : "cancelled by the caller";
}
