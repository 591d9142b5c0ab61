import type { Outcome, Usage } from "../providers/providers.ts";
import { type GcWatch, pausesBetween, sumOfPauses } from "./gc-watch.ts";
import { Histogram } from "./histogram.ts";
import type { MeasuredHost } from "./measured-host.ts";
import type { CaseLoad, GcPauses, LoadResult } from "./results.ts";
import { ascending, median, percentile, summarize } from "./statistics.ts";
import type { Subject } from "./subject.ts";

type Parts = Pick<Usage, "queueMs" | "setupMs" | "guestMs" | "hostMs">;
const PARTS = ["queueMs", "setupMs", "guestMs", "hostMs"] as const;

/** What one round measured of one case. */
interface CaseRound {
  readonly latencies: number[];
  readonly parts: Readonly<Record<keyof Parts, number[]>>;
}

/** What one round measured, as its slices come in. */
interface Round {
  readonly cases: ReadonlyMap<string, CaseRound>;
  elapsedMs: number;
  events: number;
}

/** Calls of one subject with so many in flight, over all rounds. */
export class Load {
  readonly concurrency: number;
  readonly #subject: Subject;
  readonly #histograms = new Map<string, Histogram>();
  readonly #gc: { readonly main: GcPauses; readonly threads: GcPauses }[] = [];
  readonly #done: ClosedRound[] = [];
  #round: Round | null = null;
  #next = 0;

  constructor(subject: Subject, concurrency: number) {
    this.#subject = subject;
    this.concurrency = concurrency;
  }

  /**
   * Keeps the calls going for `durationMs`, through the cases in turn, and at least until each was called once. The caller
   * alternates slices of several subjects; `endRound` puts those of a round together.
   */
  async slice(host: MeasuredHost, durationMs: number, gc: GcWatch, signal: AbortSignal | null): Promise<void> {
    const { cases } = this.#subject;
    const round = this.#openRound();
    const before = { main: gc.read(), threads: host.stats().pool.gc };
    const startedAt = performance.now();
    const until = startedAt + durationMs;
    const atLeast = this.#next + cases.length;
    const call = async (): Promise<void> => {
      while (performance.now() < until || this.#next < atLeast) {
        signal?.throwIfAborted();
        const each = cases[this.#next++ % cases.length]!;
        const calledAt = performance.now();
        const outcome = await this.#subject.call(host, each);
        this.#count(round, each.name, performance.now() - calledAt, outcome);
      }
    };
    await Promise.all(Array.from({ length: this.concurrency }, call));
    round.elapsedMs += performance.now() - startedAt;
    const { gc: threads } = host.stats().pool;
    this.#gc.push({
      main: pausesBetween(before.main, gc.read()),
      threads: threads === null || before.threads === null ? NO_PAUSES : pausesBetween(before.threads, threads),
    });
  }

  endRound(): void {
    if (this.#round !== null) this.#done.push(closeRound(this.#round));
    this.#round = null;
  }

  result(): LoadResult {
    const over = (pick: (round: ClosedRound) => number) => summarize(this.#done.map(pick));
    return {
      concurrency: this.concurrency,
      calls: this.#done.reduce((sum, { calls }) => sum + calls, 0),
      callsPerSecond: over(({ callsPerSecond }) => callsPerSecond),
      eventsPerSecond: over(({ eventsPerSecond }) => eventsPerSecond),
      instantiateMs: over(({ instantiateMs }) => instantiateMs),
      gc: {
        main: sumOfPauses(this.#gc.map(({ main }) => main)),
        threads: sumOfPauses(this.#gc.map(({ threads }) => threads)),
      },
      cases: this.#subject.cases.map(({ name }): CaseLoad => {
        const ofCase = (pick: (round: ClosedCase) => number) =>
          summarize(this.#done.map(({ cases }) => pick(cases.get(name)!)));
        return {
          name,
          calls: this.#done.reduce((sum, { cases }) => sum + cases.get(name)!.calls, 0),
          latencyMs: {
            p50: ofCase(({ p50 }) => p50),
            p90: ofCase(({ p90 }) => p90),
            p99: ofCase(({ p99 }) => p99),
            max: ofCase(({ max }) => max),
          },
          queueMs: ofCase(({ queueMs }) => queueMs),
          instantiateMs: ofCase(({ setupMs }) => setupMs),
          guestMs: ofCase(({ guestMs }) => guestMs),
          hostMs: ofCase(({ hostMs }) => hostMs),
          histogram: this.#histograms.get(name)!.buckets(),
        };
      }),
    };
  }

  #openRound(): Round {
    this.#round ??= {
      cases: new Map(this.#subject.cases.map(({ name }) => [name, emptyCase()])),
      elapsedMs: 0,
      events: 0,
    };
    return this.#round;
  }

  #count(round: Round, name: string, ms: number, { usage, events }: Outcome): void {
    const { latencies, parts } = round.cases.get(name)!;
    latencies.push(ms);
    for (const part of PARTS) parts[part].push(usage[part]);
    round.events += events.accepted;
    const histogram = this.#histograms.get(name) ?? new Histogram();
    this.#histograms.set(name, histogram);
    histogram.add(ms);
  }
}

const NO_PAUSES: GcPauses = { pauses: 0, totalMs: 0 };

interface ClosedCase extends Parts {
  readonly calls: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

interface ClosedRound {
  readonly cases: ReadonlyMap<string, ClosedCase>;
  readonly calls: number;
  readonly callsPerSecond: number;
  readonly eventsPerSecond: number;
  readonly instantiateMs: number;
}

function emptyCase(): CaseRound {
  return { latencies: [], parts: { queueMs: [], setupMs: [], guestMs: [], hostMs: [] } };
}

/** The numbers of a round; its single times are not kept. */
function closeRound({ cases, elapsedMs, events }: Round): ClosedRound {
  const closed = new Map<string, ClosedCase>();
  let calls = 0;
  for (const [name, { latencies, parts }] of cases) {
    const sorted = ascending(latencies);
    calls += sorted.length;
    closed.set(name, {
      calls: sorted.length,
      p50: percentile(sorted, 0.5),
      p90: percentile(sorted, 0.9),
      p99: percentile(sorted, 0.99),
      max: sorted.at(-1)!,
      queueMs: median(parts.queueMs),
      setupMs: median(parts.setupMs),
      guestMs: median(parts.guestMs),
      hostMs: median(parts.hostMs),
    });
  }
  const seconds = elapsedMs / 1_000;
  return {
    cases: closed,
    calls,
    callsPerSecond: calls / seconds,
    eventsPerSecond: events / seconds,
    instantiateMs: median([...cases.values()].flatMap(({ parts }) => parts.setupMs)),
  };
}
