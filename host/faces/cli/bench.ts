import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { HostError, quote } from "../../errors/errors.ts";
import { type BenchCase, type BenchResults, createHost, type HostOptions } from "../../index.ts";
import { readPackage } from "../../manifest/manifest.ts";
import { guard, readBaseline, readCases, reportPage } from "../../measure/measure.ts";
import { BenchProgressBar } from "./bench-progress.ts";
import { benchLines, guardLines } from "./bench-text.ts";
import { EXIT } from "./exit-code.ts";
import { inputValue, readInput } from "./input.ts";
import { jsonText } from "./printable.ts";
import type { Terminal } from "./terminal.ts";
import { parseQuantity } from "./units.ts";
import { writeWholeFile } from "./whole-file.ts";

/** What `airlock bench` understands. */
export interface BenchFlags {
  readonly operation?: string;
  readonly input?: string;
  readonly value?: string;
  readonly cases?: string;
  readonly concurrency: string;
  readonly duration: string;
  readonly rounds: string;
  readonly warmUp: string;
  readonly cold?: boolean;
  readonly tier: NonNullable<HostOptions["tier"]>;
  readonly allowFs?: readonly string[];
  readonly compare?: string;
  readonly out?: string;
  readonly baseline?: string;
  readonly failOver: string;
  readonly json?: boolean;
}

/** Measures a package. Answers 0; 1 when it got slower than the baseline. */
export async function bench(path: string, flags: BenchFlags, terminal: Terminal): Promise<number> {
  const numbers = {
    concurrency: flags.concurrency.split(",").map((each) => parseQuantity(each, "count", "--concurrency")),
    durationMs: parseQuantity(flags.duration, "ms", "--duration"),
    rounds: parseQuantity(flags.rounds, "count", "--rounds"),
    warmUpMs: parseQuantity(flags.warmUp, "ms", "--warm-up"),
  };
  for (const each of [path, flags.compare]) if (each !== undefined) readPackage(each);
  const allowance = parseAllowance(flags.failOver);
  const baseline = flags.baseline === undefined ? null : readBaseline(flags.baseline);
  const cases = await casesOf(flags);
  if (flags.out !== undefined) makeFolder(flags.out);
  const bar = new BenchProgressBar(terminal);
  const host = await createHost({ tier: flags.tier, allow: { fs: flags.allowFs ?? [] }, compile: { spares: 0 } });
  let results: BenchResults;
  try {
    results = await host.bench({
      ...numbers,
      package: path,
      cold: flags.cold === true,
      onProgress: (progress) => bar.show(progress),
      ...(flags.compare === undefined ? {} : { compare: flags.compare }),
      ...(cases === null ? {} : { cases }),
    });
  } finally {
    bar.end();
    await host.close();
  }
  if (flags.out !== undefined) writeResults(flags.out, results, terminal);
  const report = baseline === null ? null : guard(results, baseline, allowance);
  if (flags.json) terminal.print(jsonText(report === null ? results : { ...results, guard: report }, 2));
  else for (const line of benchLines(results, terminal.outPaint)) terminal.print(line);
  if (report === null) return EXIT.good;
  for (const line of guardLines(report, allowance, flags.json ? terminal.notePaint : terminal.outPaint)) {
    if (flags.json) terminal.note(line);
    else terminal.print(line);
  }
  return report.ok ? EXIT.good : EXIT.otherwise;
}

/** `15%` or `0.15`, as a share. */
function parseAllowance(text: string): number {
  const match = /^(\d{1,4}(?:\.\d+)?)\s*(%?)$/.exec(text.trim());
  if (match !== null) return Number(match[1]) / (match[2] === "%" ? 100 : 1);
  throw new HostError("AIRLOCK_CLI_USAGE", `--fail-over is ${quote(text, 40)}: 15% or 0.15 is wanted`);
}

/** The cases of the folder, or the one input; null when neither was named. */
async function casesOf(flags: BenchFlags): Promise<readonly BenchCase[] | null> {
  const operation = flags.operation === undefined ? {} : { operation: flags.operation };
  if (flags.cases !== undefined) return readCases(flags.cases).map((each) => ({ ...operation, ...each }));
  const raw = await readInput(flags, process.stdin);
  if (raw.kind === "none" && flags.operation === undefined) return null;
  const name = flags.input === undefined || flags.input === "-" ? "input" : flags.input;
  return [{ name, ...operation, input: inputValue(raw, undefined) }];
}

/** Before anything is measured, so that no minute of measuring is lost on a folder that cannot be written. */
function makeFolder(out: string): void {
  try {
    mkdirSync(out, { recursive: true });
  } catch (thrown) {
    throw new HostError("AIRLOCK_CLI_USAGE", `--out is ${quote(out)}: a folder that can be made is wanted`, {
      cause: thrown,
    });
  }
}

function writeResults(out: string, results: BenchResults, terminal: Terminal): void {
  const files = { "results.json": `${jsonText(results, 2)}\n`, "report.html": reportPage(results) };
  for (const [name, text] of Object.entries(files)) {
    const file = join(out, name);
    writeWholeFile(file, Buffer.from(text));
    terminal.note(`wrote ${file}`);
  }
}
