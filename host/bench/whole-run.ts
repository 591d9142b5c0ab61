import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type BenchFlags, readFlags } from "./bench-terminal.ts";
import { describeMachine, machineLine } from "./machine.ts";
import { type Bar, figureAt, nested, speedBars, verdictOn } from "./speed-bars.ts";

/**
 * Runs every bench that has a bar, one after the other and each in a process of its own, so that none meets what another left
 * behind. Prints a table with bars and verdicts, or one JSON object; what goes on goes to stderr. A missed bar is no failure: the
 * exit code is 1 when something could not be measured.
 */
export async function wholeRun(): Promise<void> {
  const flags = readFlags();
  const machine = describeMachine();
  const bars = speedBars(machine.node);
  const answers = new Map<string, unknown>();
  for (const bench of new Set(bars.map((bar) => bar.bench))) {
    process.stderr.write(`${bench} …\n`);
    answers.set(bench, await runBench(bench, flags));
  }
  const figures = new Map(bars.map(({ key, bench, path }) => [key, figureAt(answers.get(bench), path)]));
  if ([...figures.values()].includes(null)) process.exitCode = 1;
  const text = flags.json
    ? JSON.stringify({ ...nested(figures), machine }, null, 2)
    : [machineLine(machine), ...bars.map((bar) => lineOf(bar, figures.get(bar.key)!))].join("\n");
  process.stdout.write(`${text}\n`);
}

/** What a bench prints as JSON; null when it failed, which it said on stderr. */
async function runBench(name: string, { quick, full }: BenchFlags): Promise<unknown> {
  const entry = fileURLToPath(new URL("./bench.ts", import.meta.url));
  const options = [...(quick ? ["--quick"] : []), ...(full && name === "capabilities" ? ["--full"] : [])];
  const child = spawn(process.execPath, [...process.execArgv, entry, name, "--json", ...options], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  const code = await new Promise((resolve) => child.on("close", resolve));
  if (code === 0) return JSON.parse(text);
  process.stderr.write(`${name} could not be measured: it exited with ${code}\n`);
  return null;
}

function lineOf(bar: Bar, figure: number | null): string {
  const shown = figure === null ? "none" : amount(figure, bar.unit);
  const limit = bar.limit === null ? "" : `${bar.limit.kind} ${amount(bar.limit.value, bar.unit)}`;
  const verdict = figure === null ? "not measured" : verdictOn(bar, figure);
  return `${bar.key.padEnd(30)}${bar.text.padEnd(56)}${shown.padStart(10)}   ${limit.padEnd(18)}${verdict}`;
}

function amount(figure: number, unit: Bar["unit"]): string {
  if (unit === "%") return `${(100 * figure).toFixed(1)} %`;
  if (unit === "x") return `x ${figure.toFixed(2)}`;
  return `${figure.toFixed(unit === "us" ? 2 : 1)} ${unit}`;
}
