import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readBaseline, resultsProblem } from "./baseline.ts";
import { compareSubjects } from "./comparison.ts";
import { guard } from "./guard.ts";
import type { BenchResults, ComparisonRow } from "./results.ts";
import { sampleResults } from "./test-results.ts";

const TIMED = [
  "admission",
  "compile",
  "first call",
  "throughput at 1",
  "instantiate at 1",
  "warm call p50 of first at 1",
  "guest of first at 1",
];
const named = (rows: readonly ComparisonRow[]): readonly string[] =>
  rows.map(({ measure, case: name, concurrency }) =>
    [measure, ...(name === null ? [] : [`of ${name}`]), ...(concurrency === null ? [] : [`at ${concurrency}`])].join(
      " ",
    ),
  );

describe("guard()", () => {
  const baseline = sampleResults();

  it("passes what is the same", () => {
    expect(guard(sampleResults(), baseline, 0.15)).toEqual({
      ok: true,
      worse: [],
      unclear: [],
      better: [],
      compared: 10,
      warnings: [],
    });
  });

  it("names everything that got slower by more than the allowance, throughput in its own direction", () => {
    const { ok, worse } = guard(sampleResults({ slower: 1.2 }), baseline, 0.15);
    expect({ ok, worse: named(worse) }).toEqual({ ok: false, worse: TIMED });
    expect(worse[0]).toMatchObject({ measure: "admission", unit: "ms", verdict: "worse" });
    expect(worse[0]!.change).toBeCloseTo(0.2, 9);
  });

  it.each([1.14, 1, 0.9])("passes %d times as slow under an allowance of 15 %", (slower) => {
    expect(guard(sampleResults({ slower }), baseline, 0.15)).toMatchObject({ ok: true, worse: [], unclear: [] });
  });

  it("says what got better by as much", () => {
    const { ok, better } = guard(sampleResults({ slower: 0.8 }), baseline, 0.15);
    expect({ ok, better: named(better) }).toEqual({ ok: true, better: TIMED });
  });

  it("fails for one unit of fuel more and notes one less, whatever the allowance", () => {
    const more = guard(sampleResults({ fuel: 1_001 }), baseline, 0.15);
    expect({ ok: more.ok, worse: more.worse }).toEqual({
      ok: false,
      worse: [
        expect.objectContaining({ measure: "fuel", case: "first", first: 1_000, second: 1_001, probability: null }),
      ],
    });
    const less = guard(sampleResults({ fuel: 999 }), baseline, 0.15);
    expect({ ok: less.ok, better: named(less.better) }).toEqual({ ok: true, better: ["fuel of first"] });
  });

  it("holds memory to the allowance", () => {
    expect(guard(sampleResults({ memory: 70_000 }), baseline, 0.15).ok).toBe(true);
    expect(named(guard(sampleResults({ memory: 131_072 }), baseline, 0.15).worse)).toEqual(["peak memory of first"]);
  });

  it("fails nothing that the spread does not allow to name", () => {
    const wild = [0.1, 40, 0.1, 40, 0.1, 40, 40].map((ms) => ms * 10);
    const results = withFirstCall(sampleResults(), wild);
    const { ok, unclear } = guard(results, baseline, 0.15);
    expect({ ok, unclear: named(unclear) }).toEqual({ ok: true, unclear: ["first call"] });
  });

  it("goes by the medians alone where rounds are few, and says so", () => {
    const { ok, warnings } = guard(sampleResults({ slower: 1.3, rounds: 2 }), baseline, 0.15);
    expect({ ok, warnings }).toEqual({ ok: false, warnings: [expect.stringContaining("2 rounds say nothing")] });
  });

  it.each<[string, Parameters<typeof sampleResults>[0]]>([
    ["the machine's cpu was other and is sample: times do not compare", { machine: { cpu: "other" } }],
    ["Node was 22.0.0 and is 20.19.0: times do not compare", { machine: { node: "22.0.0" } }],
    ["the capability was another and is sample: is this the right baseline?", { subject: { name: "another@1.0.0" } }],
  ])("warns that %s", (warning, change) => {
    expect(guard(sampleResults(), sampleResults(change), 0.15).warnings).toEqual([expect.stringContaining(warning)]);
  });

  it("leaves fuel out under another schedule", () => {
    const { ok, warnings } = guard(sampleResults({ fuel: 2_000, subject: { scheduleId: "newer" } }), baseline, 0.15);
    expect({ ok, warnings }).toEqual({
      ok: true,
      warnings: ["the fuel schedule was schedule and is newer: fuel does not compare and was left out"],
    });
  });

  it("refuses a baseline without a case in common", () => {
    expect(() => guard(sampleResults(), sampleResults({ name: "other" }), 0.15)).toThrow(
      expect.objectContaining({ code: "AIRLOCK_MEASURE_BASELINE_INVALID" }),
    );
  });
});

describe("compareSubjects()", () => {
  const [first] = sampleResults().subjects;

  it("is symmetric: who is better one way is worse the other way", () => {
    const [second] = sampleResults({ slower: 1.5, fuel: 900 }).subjects;
    const there = compareSubjects(first!, second!).map(({ verdict }) => verdict);
    const back = compareSubjects(second!, first!).map(({ verdict }) => verdict);
    const opposite = { better: "worse", worse: "better", same: "same", unclear: "unclear" } as const;
    expect(back).toEqual(there.map((verdict) => opposite[verdict]));
    expect(there.filter((verdict) => verdict === "worse")).toHaveLength(TIMED.length);
  });

  it("names no difference between equal packages", () => {
    for (const { verdict } of compareSubjects(first!, first!)) expect(["same", "unclear"]).toContain(verdict);
  });

  it("names no difference of so few rounds", () => {
    const [few, slower] = [sampleResults({ rounds: 3 }), sampleResults({ rounds: 3, slower: 3 })];
    const rows = compareSubjects(few.subjects[0]!, slower.subjects[0]!);
    expect(rows.filter(({ verdict }) => verdict === "worse")).toEqual([]);
  });
});

describe("readBaseline()", () => {
  const folder = mkdtempSync(join(tmpdir(), "airlock-baseline-"));
  const write = (text: string): string => {
    writeFileSync(join(folder, "results.json"), text);
    return join(folder, "results.json");
  };

  it("reads back what was written", () => {
    expect(readBaseline(write(JSON.stringify(sampleResults())))).toEqual(sampleResults());
  });

  it.each([
    ["{ no json", "is not JSON"],
    ["{}", "it must have required property 'format'"],
    [JSON.stringify({ ...sampleResults(), formatVersion: 2 }), "formatVersion must be equal to constant"],
    [JSON.stringify({ ...sampleResults(), subjects: [] }), "subjects must NOT have fewer than 1 items"],
  ])("refuses %.12s … and says what is wrong", (text, message) => {
    expect(() => readBaseline(write(text))).toThrow(
      expect.objectContaining({
        code: "AIRLOCK_MEASURE_BASELINE_INVALID",
        message: expect.stringContaining(message),
      }),
    );
  });

  it("says that a file is missing", () => {
    expect(() => readBaseline(join(folder, "missing.json"))).toThrow("there is no such file");
    rmSync(folder, { recursive: true });
  });

  it("knows a field of the wrong kind by its path", () => {
    const [subject] = sampleResults().subjects;
    const wrong = { ...sampleResults(), subjects: [{ ...subject, compileMs: 3 }] };
    expect(resultsProblem(wrong)).toBe("subjects.0.compileMs must be object");
  });
});

function withFirstCall(results: BenchResults, rounds: readonly number[]): BenchResults {
  const [subject] = results.subjects;
  const sorted = [...rounds].sort((a, b) => a - b);
  const firstCallMs = { median: sorted[3]!, min: sorted[0]!, max: sorted[6]!, rounds };
  return { ...results, subjects: [{ ...subject!, firstCallMs }] };
}
