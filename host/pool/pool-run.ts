import { type Event, parseEvents } from "../events/events.ts";
import type { HostAnswer } from "../imports/imports.ts";
import type { Call, Reply, Saying } from "./protocol.ts";
import type { RunTimes } from "./run-clock.ts";
import type { Thread } from "./thread.ts";

/** A call of a guest to a function of the embedding application. */
export interface HostCall {
  readonly interfaceName: string;
  readonly functionName: string;
  readonly args: readonly unknown[];
  /** Fuel that the run has used so far. */
  readonly fuel: number;
}

/** What became of a call. */
export type PoolAnswer =
  | { readonly kind: "replied"; readonly reply: Reply }
  | { readonly kind: "aborted" }
  /** The thread died, or broke. */
  | { readonly kind: "lost"; readonly what: string };

/** What the caller of a run hears. */
export interface RunListener {
  event(event: Event): void;
  log(level: string, message: string): void;
  /** Never throws or rejects. */
  hostCall(call: HostCall): HostAnswer | Promise<HostAnswer>;
  /** Exactly once, and last. */
  answered(answer: PoolAnswer): void;
}

/** A call in the pool. */
export class PoolRun {
  readonly call: Omit<Call, "epoch">;
  readonly listener: RunListener;
  /** Bytes, about, that the input takes wherever it waits. */
  readonly size: number;
  /** The thread that it was posted to; null while it waits. */
  thread: Thread | null = null;
  /** Its number on that thread. */
  epoch = 0;
  /** Null while it has none. */
  answer: PoolAnswer | null = null;

  constructor(call: Omit<Call, "epoch">, size: number, listener: RunListener) {
    this.call = call;
    this.size = size;
    this.listener = listener;
  }

  /** When it was taken up and entered; null while it was not, and once its thread has gone on. */
  times(): RunTimes | null {
    return this.thread?.timesOf(this) ?? null;
  }

  hear(sayings: readonly Saying[]): void {
    for (const saying of sayings) {
      if (saying.kind === "log") this.listener.log(saying.level, saying.message);
      else for (const event of parseEvents(saying.json)) this.listener.event(event);
    }
  }
}
