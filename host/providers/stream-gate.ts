import { channel } from "node:diagnostics_channel";
import { messageOf } from "../errors/errors.ts";
import type { Encoded, Endpoint } from "./endpoint.ts";
import type { Outcome, RunResult } from "./outcome.ts";
import type { RunEvent, TerminalEvent } from "./provider.ts";
import type { RunReader } from "./run-reader.ts";
import { type GateBounds, UnreadQueue } from "./unread-queue.ts";

/** How a gate closed. */
export interface GateEnd<Output = unknown> {
  /** Everything was handed to the endpoint, the terminal event last. False when whoever it was for left before. */
  readonly delivered: boolean;
  readonly outcome: Outcome<Output>;
}

/** Numbers of one gate. */
export interface GateStats {
  /** Messages that wait now, and at most did; the terminal event, whose outcome the run keeps anyway, is not among them. */
  readonly unreadEvents: number;
  readonly mostUnreadEvents: number;
  readonly unreadBytes: number;
  readonly mostUnreadBytes: number;
  /** Messages that the endpoint has taken. */
  readonly sent: number;
  /** How often a provider that can pause was asked to. */
  readonly pauses: number;
}

const closings = channel("airlock:providers:gate-closed");

/**
 * Between a run and an endpoint. Everything that the run says goes there in order, its terminal event last, and nothing after it. Takes
 * terminals of the run and of the endpoint, and nothing else, as an end: silence is no input, of neither side. When the endpoint is
 * gone the run ends as `disconnected`. What a slow reader leaves unread is bounded: a provider that can pause is
 * paused, the run of another one ends as `over-budget`, and then what was taken before still goes out.
 */
export class StreamGate<Output = unknown, Message = unknown> implements RunReader {
  /** Settles once nothing more will be sent. Never rejects. */
  readonly done: Promise<GateEnd<Output>>;
  readonly #runId: string;
  readonly #endpoint: Endpoint<Message>;
  readonly #cut: (result: RunResult) => void;
  readonly #unread: UnreadQueue<Message>;
  #settle: ((end: GateEnd<Output>) => void) | null = null;
  #unwatch: (() => void) | null = null;
  #terminal: TerminalEvent | null = null;
  /** What waits has found its end: an event had no room, or was none that can be said. */
  #refusing = false;
  #pumping = false;
  #closed = false;
  #sequence = 0;
  #sent = 0;
  #pauses = 0;
  #room: Promise<void> | null = null;
  #wake: (() => void) | null = null;

  /** `cut` ends the run, if it has not. */
  constructor(
    runId: string,
    endpoint: Endpoint<Message>,
    bounds: Required<GateBounds>,
    cut: (result: RunResult) => void,
  ) {
    this.#runId = runId;
    this.#endpoint = endpoint;
    this.#cut = cut;
    this.#unread = new UnreadQueue(bounds);
    this.done = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** Begins to watch the endpoint. Once. */
  open(): void {
    const unwatch = this.#endpoint.watch((message) => this.#leave(message));
    if (this.#closed) unwatch();
    else this.#unwatch = unwatch;
  }

  push(event: RunEvent, last: boolean): RunResult | null {
    if (last) {
      this.#terminal = event as TerminalEvent;
      this.#resume();
      if (this.#closed) this.#close(false);
      else this.#schedule();
      return null;
    }
    if (this.#closed || this.#refusing) return null;
    const refusal = this.#take(event);
    if (refusal === null) this.#schedule();
    else this.#refusing = true;
    return refusal;
  }

  room(): Promise<void> | null {
    if (this.#room !== null) return this.#room;
    if (this.#closed || this.#terminal !== null || !this.#unread.crowded) return null;
    this.#pauses++;
    this.#room = new Promise((resolve) => {
      this.#wake = resolve;
    });
    return this.#room;
  }

  stats(): GateStats {
    const { events, bytes, mostEvents, mostBytes } = this.#unread;
    return {
      unreadEvents: events,
      mostUnreadEvents: mostEvents,
      unreadBytes: bytes,
      mostUnreadBytes: mostBytes,
      sent: this.#sent,
      pauses: this.#pauses,
    };
  }

  #take(event: RunEvent): RunResult | null {
    let encoded: Encoded<Message> | null;
    try {
      encoded = this.#endpoint.encode(event, this.#sequence + 1);
    } catch (error) {
      return { kind: "provider-failed", message: `An event of the provider cannot be sent: ${messageOf(error)}` };
    }
    if (encoded === null) return null;
    const limit = this.#unread.add(encoded);
    if (limit !== null) return { kind: "over-budget", limit };
    this.#sequence++;
    return null;
  }

  /** Later, but in this turn: an endpoint may do anything to the run, and not in the middle of an event. */
  #schedule(): void {
    if (this.#pumping || this.#closed) return;
    this.#pumping = true;
    queueMicrotask(() => void this.#pump());
  }

  async #pump(): Promise<void> {
    try {
      for (let next = this.#unread.first; next !== undefined && !this.#closed; next = this.#unread.first) {
        const wait = this.#endpoint.send(next.message);
        if (wait !== null) await wait;
        if (this.#closed) return;
        this.#unread.removeFirst();
        this.#sent++;
        if (this.#unread.roomy) this.#resume();
      }
      this.#pumping = false;
      if (this.#closed || this.#terminal === null) return;
      this.#pumping = true;
      await this.#finish(this.#terminal);
    } catch (error) {
      this.#leave(messageOf(error));
    }
  }

  async #finish(terminal: TerminalEvent): Promise<void> {
    const last = this.#encodeLast(terminal);
    if (last !== null) {
      const wait = this.#endpoint.send(last.message);
      if (wait !== null) await wait;
      if (this.#closed) return;
      this.#sent++;
    }
    const wait = this.#endpoint.end();
    if (wait !== null) await wait;
    if (!this.#closed) this.#close(true);
  }

  /** Only now, and not when it came: nobody else holds an outcome twice while it waits. */
  #encodeLast(terminal: TerminalEvent): Encoded<Message> | null {
    const sequence = this.#sequence + 1;
    try {
      return this.#endpoint.encode(terminal, sequence);
    } catch (error) {
      return this.#endpoint.encode(unsayable(terminal, messageOf(error)), sequence);
    }
  }

  #leave(message: string): void {
    if (this.#closed) return;
    this.#closed = true;
    // The run answers with its terminal event, which then closes the gate.
    if (this.#terminal === null) this.#cut({ kind: "disconnected", message });
    else this.#close(false);
  }

  #close(delivered: boolean): void {
    this.#closed = true;
    this.#unread.clear();
    this.#unwatch?.();
    this.#unwatch = null;
    const outcome = this.#terminal!.outcome as Outcome<Output>;
    if (closings.hasSubscribers) closings.publish({ runId: this.#runId, delivered, stats: this.stats() });
    this.#settle?.({ delivered, outcome });
    this.#settle = null;
  }

  #resume(): void {
    this.#wake?.();
    this.#wake = null;
    this.#room = null;
  }
}

/** What stands for a terminal event whose output no endpoint of this kind can carry. */
function unsayable({ outcome }: TerminalEvent, why: string): TerminalEvent {
  const { runId, providerId, operation, usage, limits, events, evidence } = outcome;
  const message = `the output cannot be sent: ${why}`;
  return {
    kind: "error",
    failure: "output_invalid",
    outcome: { kind: "invalid-output", message, runId, providerId, operation, usage, limits, events, evidence },
  };
}
