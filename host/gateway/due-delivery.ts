import { channel } from "node:diagnostics_channel";
import type { Schedule } from "../store/store.ts";
import type { StoredContent } from "./stored-payload.ts";

/** The time and a way to wait for it, passed in so that tests have their own. */
export interface SchedulerClock {
  /** Milliseconds since the epoch, as all processes on the store have it. */
  now(): number;
  /** Calls `wake` once, `ms` from now or a little later; answers what `cancel` takes. */
  after(ms: number, wake: () => void): unknown;
  cancel(alarm: unknown): void;
}

/** What a capability has scheduled, once it is due. Whoever has it holds its claim. */
export interface Due {
  readonly capabilityId: string;
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly dueAt: number;
  /** How much later than that it was claimed. */
  readonly lateMs: number;
  /** 1 the first time. More: it was claimed before and not settled in time, so that it may have been carried out, all or in part. */
  readonly attempt: number;
  /** What the capability gave with it; null for nothing. */
  readonly content:
    | { readonly kind: "bytes"; readonly body: Uint8Array }
    | { readonly kind: "json"; readonly value: unknown }
    | null;
  /** Never the same for two entries. With `attempt` it is the claim. */
  readonly serial: number;
}

/** How delivery is done, checked. */
export interface DeliveryOptions {
  readonly clock: SchedulerClock;
  readonly leaseMs: number;
  readonly everyMs: number;
  readonly atOnce: number;
}

/** `onDue` threw, took longer than the lease, or could not be settled: `{ capabilityId, id, attempt, error }`. The entry comes again. */
const failedDeliveries = channel("airlock:gateway:due-failed");
/** What is due could not be looked up: `{ error }`. It is tried again. */
const failedClaims = channel("airlock:gateway:schedule-failed");

/** The clock of the machine. A timer of it does not keep the process alive. */
export const MACHINE_CLOCK: SchedulerClock = {
  // Not a monotonic one: entries are due by the time of day, in every process and after every restart.
  now: () => Date.now(),
  after: (ms, wake) => setTimeout(wake, ms).unref(),
  cancel: (alarm) => clearTimeout(alarm as NodeJS.Timeout),
};

/** Claims what is due, and has it carried out, a bounded number at once. */
export class DueDelivery {
  readonly #schedule: Schedule;
  readonly #options: DeliveryOptions;
  readonly #inFlight = new Set<Promise<void>>();
  #onDue: ((due: Due) => unknown) | null = null;
  #alarm: { readonly at: number; readonly token: unknown } | null = null;
  #looking: Promise<void> | null = null;
  /** An alarm has rung while it was looking. */
  #lookAgain = false;

  constructor(schedule: Schedule, options: DeliveryOptions) {
    this.#schedule = schedule;
    this.#options = options;
  }

  async claimDue(limit: number): Promise<readonly Due[]> {
    const now = Math.floor(this.#options.clock.now());
    const claims = await this.#schedule.claimDue({ now, limit, leaseMs: this.#options.leaseMs });
    return claims.map(({ namespace, id, dueAt, attempt, serial, ...content }) => ({
      capabilityId: namespace,
      id,
      dueAt,
      lateMs: now - dueAt,
      attempt,
      content: contentOf(content),
      serial,
    }));
  }

  async settle({ serial, attempt }: Pick<Due, "serial" | "attempt">): Promise<boolean> {
    return this.#schedule.settle({ serial, attempt });
  }

  start(onDue: (due: Due) => unknown): void {
    if (this.#onDue !== null) return;
    this.#onDue = onDue;
    this.#lookIn(0);
  }

  /** Claims nothing more. Resolves when what was claimed has been carried out and settled, or has failed. */
  async stop(): Promise<void> {
    this.#onDue = null;
    this.#disarm();
    await this.#looking;
    await Promise.all(this.#inFlight);
  }

  /** Something was scheduled for then: the alarm may have to be earlier. */
  expect(dueAt: number): void {
    if (this.#onDue !== null) this.#lookIn(dueAt - this.#options.clock.now());
  }

  /** Whichever alarm is first stays. */
  #lookIn(ms: number): void {
    const { clock, everyMs } = this.#options;
    const wait = Math.min(Math.max(ms, 0), everyMs);
    const at = clock.now() + wait;
    if (this.#alarm !== null && this.#alarm.at <= at) return;
    this.#disarm();
    this.#alarm = { at, token: clock.after(wait, () => this.#wake()) };
  }

  #disarm(): void {
    if (this.#alarm !== null) this.#options.clock.cancel(this.#alarm.token);
    this.#alarm = null;
  }

  #wake(): void {
    this.#alarm = null;
    if (this.#onDue === null) return;
    this.#lookAgain = this.#looking !== null;
    if (this.#lookAgain) return;
    this.#looking = this.#look(this.#onDue).then((wait) => {
      this.#looking = null;
      if (this.#onDue === null) return;
      if (this.#lookAgain) this.#lookIn(0);
      else if (wait !== null) this.#lookIn(wait);
    });
  }

  /** Takes as many as have place, and answers when to look again; null: when one of them has ended. */
  async #look(onDue: (due: Due) => unknown): Promise<number | null> {
    const { atOnce, clock, everyMs } = this.#options;
    if (this.#inFlight.size === atOnce) return null;
    try {
      const claims = await this.claimDue(atOnce - this.#inFlight.size);
      for (const due of claims) this.#carryOut(due, onDue);
      if (this.#inFlight.size === atOnce) return null;
      const next = await this.#schedule.nextAt();
      return next === null ? everyMs : next - clock.now();
    } catch (error) {
      if (failedClaims.hasSubscribers) failedClaims.publish({ error });
      return everyMs;
    }
  }

  #carryOut(due: Due, onDue: (due: Due) => unknown): void {
    const ended = this.#deliver(due, onDue).then(() => {
      const wasFull = this.#inFlight.size === this.#options.atOnce;
      this.#inFlight.delete(ended);
      if (wasFull && this.#onDue !== null) this.#lookIn(0);
    });
    this.#inFlight.add(ended);
  }

  async #deliver(due: Due, onDue: (due: Due) => unknown): Promise<void> {
    try {
      await onDue(due);
      if (!(await this.settle(due)))
        throw new Error("it took longer than its lease, and comes again or has come again");
    } catch (error) {
      const { capabilityId, id, attempt } = due;
      if (failedDeliveries.hasSubscribers) failedDeliveries.publish({ capabilityId, id, attempt, error });
    }
  }
}

function contentOf({ format, body }: StoredContent): Due["content"] {
  if (format === "bytes") return body.length === 0 ? null : { kind: "bytes", body };
  return { kind: "json", value: JSON.parse(Buffer.from(body).toString("utf8")) };
}
