import type { BenchResults, SubjectResult } from "./results.ts";
import { summarize } from "./statistics.ts";

/** Results as a bench would give them, with one case and one load. `slower` multiplies each time. */
export function sampleResults(
  change: {
    readonly slower?: number;
    readonly rounds?: number;
    readonly subject?: Partial<SubjectResult>;
    readonly machine?: Partial<BenchResults["machine"]>;
    readonly fuel?: number;
    readonly memory?: number;
    readonly name?: string;
  } = {},
): BenchResults {
  const { slower = 1, rounds = 7, subject = {}, machine = {}, fuel = 1_000, memory = 65_536, name = "first" } = change;
  const times = (ms: number) =>
    summarize(Array.from({ length: rounds }, (_, round) => ms * slower * (1 + 0.001 * ((round * 3) % 7))));
  const rates = (rate: number) =>
    summarize(Array.from({ length: rounds }, (_, round) => rate / slower / (1 + 0.001 * ((round * 3) % 7))));
  return {
    format: "airlock-bench",
    formatVersion: 1,
    startedAt: "2026-01-01T00:00:00.000Z",
    elapsedMs: 1_000,
    machine: {
      node: "20.19.0",
      v8: "11.3",
      platform: "linux",
      arch: "x64",
      cpu: "sample",
      cores: 2,
      memoryBytes: 2 ** 33,
      load: 0.5,
      ...machine,
    },
    settings: { rounds, durationMs: 100, warmUpMs: 10, concurrency: [1], cold: false, tier: "recycled", threads: 2 },
    subjects: [
      {
        name: "sample@1.0.0",
        title: null,
        source: "sample",
        componentSha256: "0".repeat(64),
        scheduleId: "schedule",
        admissionMs: times(200),
        compileMs: times(100),
        firstCallMs: times(10),
        coldStartMs: null,
        cases: [
          {
            name,
            operation: "run",
            outcome: "succeeded",
            fuel,
            fuelExact: true,
            setupFuel: 0,
            peakMemoryBytes: memory,
            hostCalls: 0,
            events: 0,
          },
        ],
        loads: [
          {
            concurrency: 1,
            calls: 700,
            callsPerSecond: rates(1_000),
            eventsPerSecond: rates(0),
            instantiateMs: times(0.4),
            gc: { main: { pauses: 0, totalMs: 0 }, threads: { pauses: 0, totalMs: 0 } },
            cases: [
              {
                name,
                calls: 700,
                latencyMs: { p50: times(1), p90: times(1.2), p99: times(2), max: times(5) },
                queueMs: times(0.1),
                instantiateMs: times(0.4),
                guestMs: times(0.4),
                hostMs: times(0),
                histogram: [[72, 700]],
              },
            ],
          },
        ],
        ...subject,
      },
    ],
    comparison: null,
  };
}
