import type { Column } from "./column.ts";
import { BOOLEAN, DATE, INTEGER, type Kind, MISSING, NUMBER, STRING } from "./kind.ts";
import type { Emit } from "./profile.ts";
import { type NumberSummary, outliersOf, summarize } from "./statistics.ts";

/** What is known of a column in the end. */
export interface ColumnProfile {
  readonly name: string;
  readonly index: number;
  readonly type: "integer" | "number" | "boolean" | "date" | "string" | "empty";
  readonly missing: number;
  /** Different values that are not missing; at least so many when `distinctExact` is false. */
  readonly distinct: number;
  readonly distinctExact: boolean;
  /** The most frequent values, cells as they are without the space around them. */
  readonly top: readonly { readonly value: string; readonly count: number }[];
  /** For integers and numbers. */
  readonly numbers?: NumberSummary;
  /** For dates, in the order of the text. */
  readonly dates?: { readonly first: string; readonly last: string };
  /** For strings. */
  readonly lengths?: { readonly min: number; readonly max: number };
}

interface Settings {
  readonly topValues: number;
  readonly outlierFactor: number;
  readonly emit: Emit;
}

/** From this share of one kind on, cells of another kind are an anomaly and not the nature of the column. */
const DOMINANT_SHARE = 0.8;

/** Sums a column up once all rows are read, and tells of what is odd in it. */
export function finishColumn(name: string, index: number, column: Column, settings: Settings): ColumnProfile {
  const counts = column.others.slice();
  let missingValues = 0;
  for (let i = 0; i < column.counts.length; i++) {
    const kind = column.kinds[i]!;
    counts[kind]! += column.counts[i]!;
    if (kind === MISSING) missingValues++;
  }
  const type = typeOf(counts);
  tellMixed(name, index, column, counts, settings.emit);
  return {
    name,
    index,
    type,
    missing: counts[MISSING]!,
    distinct: column.counts.length - missingValues,
    distinctExact: column.complete,
    top: topOf(column, settings.topValues),
    ...(type === "integer" || type === "number" ? { numbers: numbersOf(name, index, column, counts, settings) } : {}),
    ...(type === "date" ? { dates: datesOf(column) } : {}),
    ...(type === "string" ? { lengths: lengthsOf(column) } : {}),
  };
}

function typeOf(counts: readonly number[]): ColumnProfile["type"] {
  const { [INTEGER]: integers, [NUMBER]: numbers, [BOOLEAN]: booleans, [DATE]: dates, [STRING]: strings } = counts;
  const numeric = integers! + numbers!;
  const others = [numeric, booleans!, dates!, strings!].filter((count) => count > 0);
  if (others.length === 0) return "empty";
  if (others.length > 1 || strings! > 0) return "string";
  if (numeric > 0) return numbers! > 0 ? "number" : "integer";
  return booleans! > 0 ? "boolean" : "date";
}

function tellMixed(name: string, index: number, column: Column, counts: readonly number[], emit: Emit): void {
  const numeric = counts[INTEGER]! + counts[NUMBER]!;
  const groups: { kind: string; count: number; kinds: Kind[] }[] = [
    { kind: "number", count: numeric, kinds: [INTEGER, NUMBER] },
    { kind: "boolean", count: counts[BOOLEAN]!, kinds: [BOOLEAN] },
    { kind: "date", count: counts[DATE]!, kinds: [DATE] },
    { kind: "string", count: counts[STRING]!, kinds: [STRING] },
  ];
  const total = groups.reduce((sum, { count }) => sum + count, 0);
  const dominant = groups.find(({ count }) => count >= total * DOMINANT_SHARE);
  // Text that happens to look like something else is nothing to tell of.
  if (dominant === undefined || dominant.kind === "string" || dominant.count === total) return;
  const others = groups.filter((group) => group !== dominant && group.count > 0);
  emit("mixed-types", {
    column: name,
    index,
    dominant: dominant.kind,
    others: others.map(({ kind, count }) => ({ kind, count })),
    examples: others.flatMap(({ kinds }) => kinds.flatMap((kind) => column.examples[kind]!.map(clipped))).slice(0, 3),
  });
}

function topOf({ cells, counts, kinds }: Column, limit: number): ColumnProfile["top"] {
  // Sorting a few is dear when there are thousands: keep the best in order as they come.
  const best: number[] = [];
  let threshold = 0;
  for (let i = 0; i < counts.length; i++) {
    const count = counts[i]!;
    if (count <= threshold || kinds[i] === MISSING) continue;
    let place = best.length;
    while (place > 0 && counts[best[place - 1]!]! < count) place--;
    best.splice(place, 0, i);
    if (best.length > limit) best.pop();
    if (best.length === limit) threshold = counts[best[limit - 1]!]!;
  }
  return best.map((i) => ({ value: clipped(cells[i]!.trim()), count: counts[i]! }));
}

function numbersOf(
  name: string,
  index: number,
  column: Column,
  counts: readonly number[],
  { outlierFactor, emit }: Settings,
): NumberSummary {
  const sorted = new Float64Array(counts[INTEGER]! + counts[NUMBER]!);
  let used = 0;
  for (let i = 0; i < column.counts.length; i++) {
    if (column.kinds[i] === MISSING) continue;
    for (let rest = column.counts[i]!; rest > 0; rest--) sorted[used++] = column.values[i]!;
  }
  sorted.set(column.otherNumbers, used);
  sorted.sort();
  const summary = summarize(sorted);
  const outliers = outliersOf(sorted, outlierFactor);
  if (outliers !== null) {
    emit("outlier-column", { column: name, index, ...outliers, min: summary.min, max: summary.max });
  }
  return summary;
}

function datesOf({ cells, kinds, otherDates }: Column): { first: string; last: string } {
  let { first, last } = otherDates ?? { first: "", last: "" };
  for (let i = 0; i < cells.length; i++) {
    if (kinds[i] === MISSING) continue;
    const cell = cells[i]!;
    if (first === "" || cell < first) first = cell;
    if (cell > last) last = cell;
  }
  return { first: first.trim(), last: last.trim() };
}

function lengthsOf({ cells, kinds, otherLengths }: Column): { min: number; max: number } {
  let { min, max } = otherLengths;
  for (let i = 0; i < cells.length; i++) {
    if (kinds[i] === MISSING) continue;
    const { length } = cells[i]!;
    if (length < min) min = length;
    if (length > max) max = length;
  }
  return { min, max };
}

function clipped(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
