import { PerformanceObserver } from "node:perf_hooks";
import type { GcPauses } from "./results.ts";

/** Counts the garbage collections of this thread. Those of a host's threads are in its stats. */
export class GcWatch {
  readonly #observer: PerformanceObserver;
  #pauses = 0;
  #totalMs = 0;

  constructor() {
    this.#observer = new PerformanceObserver((list) => this.#count(list.getEntries()));
    this.#observer.observe({ entryTypes: ["gc"] });
  }

  /** Up to now. */
  read(): GcPauses {
    this.#count(this.#observer.takeRecords());
    return { pauses: this.#pauses, totalMs: this.#totalMs };
  }

  close(): void {
    this.#observer.disconnect();
  }

  #count(entries: readonly { readonly duration: number }[]): void {
    for (const { duration } of entries) {
      this.#pauses++;
      this.#totalMs += duration;
    }
  }
}

export function pausesBetween(before: GcPauses, after: GcPauses): GcPauses {
  return { pauses: after.pauses - before.pauses, totalMs: after.totalMs - before.totalMs };
}

export function sumOfPauses(all: readonly GcPauses[]): GcPauses {
  return all.reduce((sum, each) => ({ pauses: sum.pauses + each.pauses, totalMs: sum.totalMs + each.totalMs }), {
    pauses: 0,
    totalMs: 0,
  });
}
