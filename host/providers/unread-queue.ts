import { HostError } from "../errors/errors.ts";
import type { Encoded } from "./endpoint.ts";
import type { UnreadLimit } from "./outcome.ts";

/** What may wait for a slow reader. */
export interface GateBounds {
  /** Default 4,096. */
  readonly events?: number;
  /** As the endpoint encodes them. Default 4 MiB. */
  readonly bytes?: number;
}

/** As many as a run keeps for its iterator. */
const MOST_EVENTS = 4_096;
/** Holds all that a provider under default limits may say in one run, so that only a policy of one's own can meet the bound. */
const MOST_BYTES = 4 * 1024 * 1024;
/** Who can pause does so early: what he leaves free is for those who cannot. */
const CROWDED = 1 / 4;
const ROOMY = 1 / 8;

/** Throws AIRLOCK_PROVIDERS_GATE_INVALID. */
export function resolveGateBounds({ events = MOST_EVENTS, bytes = MOST_BYTES }: GateBounds): Required<GateBounds> {
  for (const [key, value] of Object.entries({ events, bytes })) {
    if (Number.isSafeInteger(value) && value >= 1) continue;
    const wanted = "a whole number from 1 on is wanted: an endless queue bounds nothing";
    throw new HostError(
      "AIRLOCK_PROVIDERS_GATE_INVALID",
      `Cannot open the gate: ${key} is ${String(value)}, ${wanted}`,
    );
  }
  return { events, bytes };
}

/** Messages between a run and a slow reader, in order; never more of them, and never more bytes, than its bounds say. */
export class UnreadQueue<Message> {
  mostEvents = 0;
  mostBytes = 0;
  readonly #bounds: Required<GateBounds>;
  #messages: (Encoded<Message> | undefined)[] = [];
  #head = 0;
  #bytes = 0;

  constructor(bounds: Required<GateBounds>) {
    this.#bounds = bounds;
  }

  get events(): number {
    return this.#messages.length - this.#head;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The oldest message. */
  get first(): Encoded<Message> | undefined {
    return this.#messages[this.#head];
  }

  /** So much waits that who emits should wait as well. */
  get crowded(): boolean {
    return this.#fills(CROWDED);
  }

  /** So little waits that who emits may go on. */
  get roomy(): boolean {
    return !this.#fills(ROOMY);
  }

  /** Null when it was taken; else the bound that it would have broken. */
  add(message: Encoded<Message>): UnreadLimit | null {
    if (this.events >= this.#bounds.events) return "unreadEvents";
    if (this.#bytes + message.bytes > this.#bounds.bytes) return "unreadBytes";
    this.#messages.push(message);
    this.#bytes += message.bytes;
    this.mostEvents = Math.max(this.mostEvents, this.events);
    this.mostBytes = Math.max(this.mostBytes, this.#bytes);
    return null;
  }

  removeFirst(): void {
    this.#bytes -= this.first?.bytes ?? 0;
    this.#messages[this.#head++] = undefined;
    // What is taken off the front of a long array costs as much as its length: seldom, then.
    if (this.#head < 1_024 && this.#head < this.#messages.length) return;
    this.#messages = this.#messages.slice(this.#head);
    this.#head = 0;
  }

  clear(): void {
    this.#messages = [];
    this.#head = 0;
    this.#bytes = 0;
  }

  #fills(share: number): boolean {
    const { events, bytes } = this.#bounds;
    return this.events > events * share || this.#bytes > bytes * share;
  }
}
