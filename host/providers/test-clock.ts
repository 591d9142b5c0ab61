import type { Clock, Sleeper } from "./clock.ts";

interface Alarm {
  readonly at: number;
  readonly sleeper: Sleeper;
}

/** A clock that moves when it is told to. */
export class TestClock implements Clock {
  #now = 1_000_000;
  readonly #alarms = new Set<Alarm>();

  get alarms(): number {
    return this.#alarms.size;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, sleeper: Sleeper): object {
    const alarm = { at: this.#now + ms, sleeper };
    this.#alarms.add(alarm);
    return alarm;
  }

  cancel(alarm: object): void {
    this.#alarms.delete(alarm as Alarm);
  }

  /** Moves on and wakes whoever is due, in the order of their times. */
  pass(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      let next: Alarm | null = null;
      for (const alarm of this.#alarms) if (alarm.at <= until && (next === null || alarm.at < next.at)) next = alarm;
      if (next === null) break;
      this.#alarms.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.sleeper.wake();
    }
    this.#now = until;
  }

  /** Moves on without waking anyone, as a busy event loop does. */
  stall(ms: number): void {
    this.#now += ms;
  }
}
