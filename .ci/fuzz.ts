/**
 * Meters modules that were changed at random: each is refused with a typed error, or metered to something valid that does
 * what the original does and uses the fuel that the naive meter counts, in bounded time. Takes `--cases N` and `--seed S`. A failing module is written to a file, and
 * the same seed fails again. The cases run in a process of their own, so that one that hangs or kills it is named too.
 */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { hostileCases, hostileOrigins } from "../host/meter/testing/hostile-cases.ts";
import { HOSTILE_OUTCOMES } from "../host/meter/testing/hostile-outcome.ts";

/** One case takes about a millisecond. */
const HANGS_AFTER_MS = 10_000;
const PROGRESS_MS = 5_000;

const { values } = parseArgs({
  options: {
    cases: { type: "string", default: "200000" },
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
  },
});
const cases = wholeNumber("cases", values.cases);
const seed = wholeNumber("seed", values.seed);
const counts: Record<string, number> = Object.fromEntries(HOSTILE_OUTCOMES.map((outcome) => [outcome, 0]));

console.log(`fuzz: ${cases} cases, seed ${seed}, Node ${process.versions.node}`);
const startedAt = performance.now();
const failure = await runCases();
tell();
if (failure !== null) {
  const { bytes, callDepth } = hostileCases(await hostileOrigins(), seed, failure.number).next().value!;
  const file = join(tmpdir(), `airlock-fuzz-${seed}-${failure.number}.wasm`);
  writeFileSync(file, bytes);
  console.error(`case ${failure.number} (callDepth ${callDepth}): ${failure.reason}`);
  console.error(`the module: ${file}; again: npm run fuzz -- --seed ${seed} --cases ${failure.number + 1}`);
  process.exitCode = 1;
}

/** Runs all cases, up to the first that fails. */
async function runCases(): Promise<{ readonly number: number; readonly reason: string } | null> {
  const program = fileURLToPath(new URL("../host/meter/testing/hostile-main.ts", import.meta.url));
  const parameters = [program, String(seed), "0", String(cases)];
  // Compilers in the background would only take other work's cores.
  const options = [...process.execArgv, "--single-threaded"];
  const child = spawn(process.execPath, [...options, ...parameters], { stdio: ["ignore", "pipe", "inherit"] });
  let number = 0;
  let reason: string | null = null;
  // From the first case on: what comes before takes its time on a busy machine.
  let watch: NodeJS.Timeout | undefined;
  const stop = (): void => {
    reason = `it does not end within ${HANGS_AFTER_MS} ms`;
    child.kill("SIGKILL");
  };
  const progress = setInterval(tell, PROGRESS_MS);
  const ended = new Promise<string>((resolve) => {
    child.on("close", (status, signal) => resolve(String(signal ?? status)));
  });
  for await (const line of createInterface({ input: child.stdout })) {
    watch = watch?.refresh() ?? setTimeout(stop, HANGS_AFTER_MS);
    if (line in counts) counts[line]!++;
    else if (line.startsWith("failed ")) reason = JSON.parse(line.slice("failed ".length)) as string;
    else number = Number(line);
  }
  const status = await ended;
  clearTimeout(watch);
  clearInterval(progress);
  if (reason === null && done() < cases) reason = `the process ended with ${status}`;
  return reason === null ? null : { number, reason };
}

function tell(): void {
  const seconds = (performance.now() - startedAt) / 1_000;
  const { refused, metered, spent, compared } = counts;
  const rate = Math.round(done() / seconds);
  const valid = Math.round(((done() - refused!) * 100) / Math.max(1, done()));
  console.log(
    `${done()} of ${cases} in ${seconds.toFixed(1)} s (${rate} a second), ${valid}% valid: ${refused} refused, ${metered} metered and not compared, ${spent} run out of fuel as they must, ${compared} do and cost what they must`,
  );
}

function done(): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function wholeNumber(name: string, text: string): number {
  if (/^\d{1,10}$/.test(text) && Number(text) < 2 ** 31) return Number(text);
  console.error(`--${name} is ${JSON.stringify(text)}: a whole number below 2^31 is wanted`);
  process.exit(2);
}
