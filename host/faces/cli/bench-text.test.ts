import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import type { BenchResults } from "../../measure/measure.ts";
import { BenchProgressBar } from "./bench-progress.ts";
import { benchLines, guardLines, preciseMs, shownChange, shownRate } from "./bench-text.ts";
import { paint } from "./paint.ts";
import { Terminal } from "./terminal.ts";

const colours = paint(false);
const summary = (ms: number) => ({ median: ms, min: ms / 2, max: ms * 2, rounds: [ms / 2, ms, ms * 2] });
const UNSAFE = "\u001b[2J\u202e";
const row = {
  measure: "warm call p50",
  case: UNSAFE,
  concurrency: 1,
  unit: "ms",
  first: 1,
  second: 1.5,
  change: 0.5,
} as const;

const RESULTS: BenchResults = {
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
    memoryBytes: 1,
    load: 0.25,
  },
  settings: { rounds: 3, durationMs: 100, warmUpMs: 0, concurrency: [1], cold: false, tier: "fresh", threads: 2 },
  subjects: [
    {
      name: "sample@1.0.0",
      title: null,
      source: UNSAFE,
      componentSha256: "0123456789abcdef",
      scheduleId: "s",
      admissionMs: summary(1_200),
      compileMs: summary(34.56),
      firstCallMs: summary(5.678),
      coldStartMs: null,
      cases: [
        {
          name: UNSAFE,
          operation: "run",
          outcome: "succeeded",
          fuel: 1_234,
          fuelExact: false,
          setupFuel: 0,
          peakMemoryBytes: 65_536,
          hostCalls: 0,
          events: 2,
        },
      ],
      loads: [],
    },
  ],
  comparison: [
    { ...row, probability: 0.001, verdict: "worse" },
    { ...row, case: "b", probability: 0.9, verdict: "unclear" },
    { ...row, measure: "fuel", unit: "fuel", case: "c", change: 0, second: 1, probability: null, verdict: "same" },
  ],
};

describe("benchLines()", () => {
  it("shows medians with their spread, and nothing that a terminal would obey", () => {
    const text = benchLines(RESULTS, colours).join("\n");
    expect(text).not.toMatch(/[\u001b\u202e]/);
    expect(text).toContain("\nadmission   1.20 s   (600 ms to 2.40 s)\ncompile     34.6 ms  (17.3 ms to 69.1 ms)\n");
    expect(text).toMatch(/\n\\u001b\[2J\\u202e +succeeded +about 1,234 +0 +64 KiB +0 +2\n/);
  });

  it("names what differs and counts the rest", () => {
    const text = benchLines(RESULTS, colours).join("\n");
    expect(text).toMatch(/\nwarm call p50 .* 1\.00 ms +1\.50 ms +\+50\.0 % +slower\n/);
    expect(text).toContain("\nof the cases, 1 value the same, 1 with no difference that the spread allows to name");
  });
});

describe("guardLines()", () => {
  const report = { ok: true, worse: [], unclear: [], better: [], compared: 9, warnings: ["Node was 1"] };

  it("says what passed, with its warnings first", () => {
    expect(guardLines(report, 0.15, colours)).toEqual([
      "",
      "warning  Node was 1",
      "passed  9 measures against the baseline, none is worse by more than 15 %",
    ]);
  });

  it("says when the spread leaves something open", () => {
    const unclear = [{ ...row, probability: 0.4, verdict: "unclear" as const }];
    const lines = guardLines({ ...report, unclear, warnings: [] }, 0.15, colours);
    expect(lines[1]).toMatch(/^passed .* worse by more than 15 %, though for 1 the spread leaves it open$/);
    expect(lines[3]).toBe("past 15 %, but within the spread of the rounds");
  });

  it("lists what failed with both values", () => {
    const worse = [{ ...row, probability: 0.001, verdict: "worse" as const }];
    const lines = guardLines({ ...report, ok: false, worse, warnings: [] }, 0.15, colours);
    expect(lines[1]).toBe("failed  1 measure of 9 got worse");
    expect(lines.at(-1)).toMatch(
      /^warm call p50 {2}\\u001b\[2J\\u202e {2}1 {10}1\.00 ms {2}1\.50 ms {2}\+50\.0 % {2}slower$/,
    );
  });
});

it.each([
  [preciseMs(0.0123), "0.012 ms"],
  [preciseMs(1_234), "1.23 s"],
  [preciseMs(0), "0.000 ms"],
  [shownChange(-0.123), "-12.3 %"],
  [shownRate(12_345.6), "12,346/s"],
  [shownRate(0.25), "0.3/s"],
])("%s is %s", (shown, wanted) => {
  expect(shown).toBe(wanted);
});

describe("BenchProgressBar", () => {
  it("is a bar on a terminal and says nothing at once elsewhere", () => {
    const [live, pipe] = [stream(true), stream(false)];
    for (const err of [live, pipe]) {
      const bar = new BenchProgressBar(new Terminal(stream(false), err, {}));
      bar.show({ done: 1, total: 4, text: `round 1${UNSAFE}` });
      bar.end();
    }
    expect(live.read().toString()).toMatch(
      /^\r\u001b\[K█{6}░{18} {2}25 % {2}round 1\\u001b\[2J\\u202e {2}.* left\r\u001b\[K$/,
    );
    expect(pipe.read()).toBeNull();
  });
});

function stream(isTTY: boolean): PassThrough & { isTTY: boolean; columns: number } {
  return Object.assign(new PassThrough(), { isTTY, columns: 120 });
}
