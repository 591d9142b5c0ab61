import type { AddedImport, FunctionReport, MemoryReport, MeterReport, TableReport } from "../../meter/meter.ts";
import type { Paint } from "./paint.ts";
import { printable } from "./printable.ts";
import { alignedRows } from "./table.ts";
import { counted, shownBytes, shownCount, shownMs } from "./units.ts";

/** A module that was metered, as it is told. */
export interface MeteredPart {
  /** The file, or where the module stands in a component. */
  readonly name: string;
  readonly report: MeterReport;
  /** Each function that the module defines, the dearest first. */
  readonly functions: () => readonly FunctionReport[];
  readonly ms: number;
  /** Bytes out for each byte in. */
  readonly ratio: number;
}

const PAGE_BYTES = 65_536;

/** All that is told of a component: how many core modules it holds, then each with at most `most` functions. */
export function componentLines(
  path: string,
  parts: readonly MeteredPart[],
  most: number,
  colours: Paint,
): readonly string[] {
  return [
    `component  ${colours.strong(printable(path))}  ${counted(parts.length, "core module")}`,
    ...parts.flatMap((part) => ["", ...meteredLines(part, most, colours)]),
  ];
}

/** The verdict alone. */
export function meteredLine({ name, report, ms, ratio }: MeteredPart, colours: Paint): string {
  const { bytesIn, bytesOut, functions } = report;
  const size = `${shownBytes(bytesIn)} to ${shownBytes(bytesOut)} (${ratio.toFixed(2)})`;
  const what = `${counted(functions.defined, "function")}, ${size}, in ${shownMs(ms)}`;
  return `${colours.good("metered")}  ${colours.strong(printable(name))}  ${what}`;
}

/** The whole report for people, with at most `most` functions. */
export function meteredLines(part: MeteredPart, most: number, colours: Paint): readonly string[] {
  const { report } = part;
  const { defined, free, direct, cached, guarded, leaf, injected, rescanned } = report.functions;
  const modes = { free, direct, cached, guarded, leaf };
  return [
    meteredLine(part, colours),
    "",
    ...alignedRows([
      ["schedule", report.scheduleId],
      ["charges", shownCount(report.charges)],
      ["tests", shownCount(report.tests)],
      ["start", report.hasStart ? "instantiation runs guest code" : "none"],
      ["unwinds", report.unwinds ? "fuel is exact where exceptions unwind" : "none"],
    ]),
    ...section("functions", colours, [
      ...Object.entries(modes).map(([mode, count]) => [mode, shownCount(count), shareOf(count, defined)]),
      ["injected", shownCount(injected), ""],
      ["rescanned", shownCount(rescanned), ""],
    ]),
    ...costSection(part, most, colours),
    ...section("added imports", colours, report.imports.map(importRow)),
    ...section("memory", colours, report.memory.map(memoryRow)),
    ...section("tables", colours, report.tables.map(tableRow)),
  ];
}

function shareOf(count: number, all: number): string {
  return all === 0 ? "" : `${Math.round((count * 100) / all)}%`;
}

function costSection({ report, functions }: MeteredPart, most: number, colours: Paint): readonly string[] {
  const { defined } = report.functions;
  if (defined === 0) return [];
  const title = "static cost: each instruction once, without what runs in callees or depends on an operand";
  const heads = ["cost", "mode", "charges", "tests", "bytes", "function"];
  const shown = functions().slice(0, most).map(functionRow);
  const more =
    defined > shown.length ? [`  and ${counted(defined - shown.length, "more function")}: --all shows them`] : [];
  return [...section(title, colours, [heads, ...shown]), ...more];
}

const NAME_LENGTH = 80;

function functionRow(report: FunctionReport): readonly string[] {
  const { index, name, mode, staticCost, charges, tests, bytesIn, bytesOut } = report;
  return [
    shownCount(staticCost),
    mode,
    shownCount(charges),
    shownCount(tests),
    `${shownCount(bytesIn)} to ${shownCount(bytesOut)}`,
    name === null ? `${index}` : `${index} ${printable(name, NAME_LENGTH)}`,
  ];
}

function importRow(added: AddedImport): readonly string[] {
  const what = added.kind === "global" ? `${added.type} global` : added.kind;
  return [printable(`${added.module} ${added.name}`), what];
}

function memoryRow({ imported, initialPages, maximumPages }: MemoryReport): readonly string[] {
  const most = maximumPages === null ? "no maximum" : `at most ${shownBytes(maximumPages * PAGE_BYTES)}`;
  return [imported ? "imported" : "its own", shownBytes(initialPages * PAGE_BYTES), most];
}

function tableRow({ imported, initialElements, maximumElements }: TableReport): readonly string[] {
  const most = maximumElements === null ? "no maximum" : `at most ${shownCount(maximumElements)}`;
  return [
    imported ? "imported" : "its own",
    initialElements === 1 ? "1 element" : `${shownCount(initialElements)} elements`,
    most,
  ];
}

function section(title: string, colours: Paint, rows: readonly (readonly string[])[]): readonly string[] {
  const lines = rows.length === 0 ? ["none"] : alignedRows(rows);
  return ["", colours.strong(title), ...lines.map((line) => `  ${line}`)];
}
