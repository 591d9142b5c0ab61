/** What a clock wakes. */
export interface Sleeper {
  wake(): void;
}

/** The time, passed in so that tests have their own. */
export interface Clock {
  /** Milliseconds since the epoch, with fractions; never runs backwards. */
  now(): number;
  /** Wakes the sleeper once, `ms` from now or a little later. Answers what `cancel` takes. */
  after(ms: number, sleeper: Sleeper): object;
  cancel(alarm: object): void;
}

/** A timer past this fires at once. Whoever is woken looks at the time and sleeps on. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The clock of the machine. */
export const SYSTEM_CLOCK: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  // Node cuts fractions off, and would wake too early.
  after: (ms, sleeper) => setTimeout(wake, Math.min(Math.ceil(ms), LONGEST_TIMER_MS), sleeper),
  cancel: (alarm) => clearTimeout(alarm as NodeJS.Timeout),
};

function wake(sleeper: Sleeper): void {
  sleeper.wake();
}
