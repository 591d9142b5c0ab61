import type {
  BenchResults,
  ComparisonRow,
  GuardReport,
  LoadResult,
  SubjectResult,
  Summary,
} from "../../measure/measure.ts";
import type { Paint } from "./paint.ts";
import { printable } from "./printable.ts";
import { alignedRows } from "./table.ts";
import { counted, shownBytes, shownCount, shownMs } from "./units.ts";

const NAME_LENGTH = 40;
const UNCLEAR = "no difference that the spread allows to name";

/** What a bench measured, for people. */
export function benchLines(results: BenchResults, colours: Paint): readonly string[] {
  const { machine, settings, subjects, comparison } = results;
  const { rounds, durationMs, concurrency, threads, tier } = settings;
  return [
    colours.faint(
      `${printable(machine.cpu)}, ${machine.cores} cores, load ${machine.load.toFixed(1)}, Node ${machine.node}; ${counted(rounds, "round")} of ${shownMs(durationMs)} at concurrency ${concurrency.join(", ")}, ${counted(threads, "thread")}, tier ${tier}`,
    ),
    ...(machine.load > machine.cores
      ? [colours.warn("The machine was busy with other work: the spread will be wide, and little can be told apart")]
      : []),
    ...subjects.flatMap((subject) => ["", ...subjectLines(subject, colours)]),
    ...(comparison === null ? [] : ["", ...comparisonLines(comparison, subjects, colours)]),
  ];
}

/** How results stand against a baseline. */
export function guardLines(report: GuardReport, allowance: number, colours: Paint): readonly string[] {
  const { ok, worse, unclear, better, compared, warnings } = report;
  const past = `${Number((allowance * 100).toFixed(1))} %`;
  const part = (title: string, rows: readonly ComparisonRow[]) =>
    rows.length === 0 ? [] : ["", title, ...comparedRows(rows, colours)];
  const verdict = ok
    ? `${colours.good("passed")}  ${counted(compared, "measure")} against the baseline, none is worse by more than ${past}${unclear.length === 0 ? "" : `, though for ${unclear.length} the spread leaves it open`}`
    : `${colours.bad("failed")}  ${counted(worse.length, "measure")} of ${compared} got worse`;
  return [
    "",
    ...warnings.map((warning) => `${colours.warn("warning")}  ${printable(warning)}`),
    verdict,
    ...part("", worse).slice(2),
    ...part(colours.strong(`past ${past}, but within the spread of the rounds`), unclear),
    ...part(colours.strong("better"), better),
  ];
}

/** A time as precise as three digits are: `0.412 ms`, `12.3 ms`, `1.20 s`. */
export function preciseMs(ms: number): string {
  if (ms >= 1_000) return `${(ms / 1_000).toFixed(2)} s`;
  return `${ms >= 100 ? ms.toFixed(0) : ms >= 10 ? ms.toFixed(1) : ms >= 1 ? ms.toFixed(2) : ms.toFixed(3)} ms`;
}

/** `+12.3 %`, `-4.0 %`. */
export function shownChange(change: number): string {
  return `${change < 0 ? "-" : "+"}${(Math.abs(change) * 100).toFixed(1)} %`;
}

export function shownRate(perSecond: number): string {
  return `${perSecond >= 100 ? shownCount(Math.round(perSecond)) : perSecond.toFixed(1)}/s`;
}

function subjectLines(subject: SubjectResult, colours: Paint): readonly string[] {
  const once: readonly (readonly [string, Summary | null])[] = [
    ["admission", subject.admissionMs],
    ["compile", subject.compileMs],
    ["first call", subject.firstCallMs],
    ["cold start", subject.coldStartMs],
  ];
  return [
    `${colours.strong(printable(subject.name))}  sha256 ${subject.componentSha256.slice(0, 12)}`,
    ...alignedRows(
      once.flatMap(([name, summary]) =>
        summary === null ? [] : [[name, preciseMs(summary.median), spreadOf(summary)]],
      ),
      [undefined, undefined, colours.faint],
    ),
    "",
    ...alignedRows(
      [
        ["case", "ends", "fuel", "setup fuel", "peak memory", "host calls", "events"],
        ...subject.cases.map((each) => [
          printable(each.name, NAME_LENGTH),
          each.outcome,
          each.fuelExact ? shownCount(each.fuel) : `about ${shownCount(each.fuel)}`,
          shownCount(each.setupFuel),
          shownBytes(each.peakMemoryBytes),
          shownCount(each.hostCalls),
          shownCount(each.events),
        ]),
      ],
      headed(7, colours),
    ),
    ...subject.loads.flatMap((load) => ["", ...loadLines(load, colours)]),
  ];
}

function loadLines({ concurrency, calls, callsPerSecond, eventsPerSecond, gc, cases }: LoadResult, colours: Paint) {
  const events = eventsPerSecond.max === 0 ? "" : `, ${shownRate(eventsPerSecond.median)} events`;
  const pauses = `gc ${preciseMs(gc.threads.totalMs)} in threads, ${preciseMs(gc.main.totalMs)} in main`;
  return [
    `${colours.strong(`${concurrency} in flight`)}  ${shownRate(callsPerSecond.median)} ${colours.faint(`(${shownRate(callsPerSecond.min)} to ${shownRate(callsPerSecond.max)})`)}${events}, ${shownCount(calls)} calls, ${pauses}`,
    ...alignedRows(
      [
        ["warm call", "p50", "", "p90", "p99", "max", "queue", "instantiate", "guest", "host calls"],
        ...cases.map(({ name, latencyMs, queueMs, instantiateMs, guestMs, hostMs }) => [
          printable(name, NAME_LENGTH),
          preciseMs(latencyMs.p50.median),
          spreadOf(latencyMs.p50),
          preciseMs(latencyMs.p90.median),
          preciseMs(latencyMs.p99.median),
          preciseMs(latencyMs.max.max),
          preciseMs(queueMs.median),
          preciseMs(instantiateMs.median),
          preciseMs(guestMs.median),
          preciseMs(hostMs.median),
        ]),
      ],
      headed(10, colours),
    ),
  ];
}

/** What differs, and what concerns the whole package; of the rest only how much there is. */
function comparisonLines(all: readonly ComparisonRow[], subjects: readonly SubjectResult[], colours: Paint) {
  const [first, second] = subjects.map(({ name, source }) => printable(source ?? name, NAME_LENGTH));
  const rows = all.filter(({ verdict, case: name }) => name === null || verdict === "better" || verdict === "worse");
  const rest = all.filter((row) => !rows.includes(row));
  const same = rest.filter(({ verdict }) => verdict === "same").length;
  return [
    `${colours.strong("comparison")}  ${second} against ${first}`,
    ...comparedRows(rows, colours),
    ...(rest.length === 0
      ? []
      : [colours.faint(`of the cases, ${counted(same, "value")} the same, ${rest.length - same} with ${UNCLEAR}`)]),
  ];
}

/** A table of differences. */
export function comparedRows(rows: readonly ComparisonRow[], colours: Paint): readonly string[] {
  return alignedRows(
    [
      ["measure", "case", "in flight", "first", "second", "change", "verdict"],
      ...rows.map((row) => [
        row.measure,
        printable(row.case ?? "", NAME_LENGTH),
        row.concurrency === null ? "" : String(row.concurrency),
        shownValue(row.unit, row.first),
        shownValue(row.unit, row.second),
        row.change === 0 ? "" : shownChange(row.change),
        verdictText(row),
      ]),
    ],
    Array.from({ length: 7 }, (_, column) => (text: string, row: number) => {
      if (row === 0) return colours.faint(text);
      const { verdict } = rows[row - 1]!;
      if (column < 6) return text;
      return verdict === "better" ? colours.good(text) : verdict === "worse" ? colours.bad(text) : colours.faint(text);
    }),
  );
}

export function shownValue(unit: ComparisonRow["unit"], value: number): string {
  switch (unit) {
    case "ms":
      return preciseMs(value);
    case "per-second":
      return shownRate(value);
    case "bytes":
      return shownBytes(value);
    case "fuel":
      return shownCount(value);
  }
}

function verdictText({ verdict, unit }: ComparisonRow): string {
  if (verdict === "unclear") return UNCLEAR;
  if (verdict === "same") return "the same";
  if (unit === "ms" || unit === "per-second") return verdict === "better" ? "faster" : "slower";
  return verdict === "better" ? "less" : "more";
}

function spreadOf({ min, max }: Summary): string {
  return `(${preciseMs(min)} to ${preciseMs(max)})`;
}

function headed(columns: number, colours: Paint): ((text: string, row: number) => string)[] {
  return Array.from({ length: columns }, () => (text: string, row: number) => (row === 0 ? colours.faint(text) : text));
}
