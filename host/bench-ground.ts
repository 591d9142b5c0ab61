import { spawn } from "node:child_process";
import { serialize } from "node:v8";
import { findEntryPoint } from "./compile/compile.ts";
import { HostError, quote } from "./errors/errors.ts";
import type { BenchGround, BenchOptions, ColdJob, ColdStart, MeasuredHost } from "./measure/measure.ts";
import { type ResolvedOptions, resolveTier } from "./options.ts";

/** What the process of a cold start gets on stdin, serialized by V8 because inputs may hold bytes. */
export interface ColdOrder extends ColdJob {
  readonly options: ResolvedOptions;
}

/** What it answers, as one line of JSON. */
export interface ColdAnswer {
  readonly kind?: ColdStart["kind"];
  readonly error?: string;
}

/** The host's options as the ground of a bench. Throws AIRLOCK_MEASURE_OPTIONS_INVALID, AIRLOCK_HOST_OPTIONS_INVALID. */
export function groundOf(
  base: ResolvedOptions,
  { tier: asked, cold }: BenchOptions,
  makeHost: (options: ResolvedOptions) => MeasuredHost,
): BenchGround {
  const tier = asked === undefined ? base.tier : resolveTier(asked);
  // A process started ahead for a second install would only slow down what is measured.
  const options: ResolvedOptions = { ...base, tier, gcTimes: true, compile: { ...base.compile, spares: 0 } };
  if (cold && (Object.keys(options.imports).length > 0 || options.connectors.length > 0)) {
    throw new HostError(
      "AIRLOCK_MEASURE_OPTIONS_INVALID",
      "Cannot measure: cold starts another process, to which the functions of imports and connectors cannot be handed; a host without them is wanted",
    );
  }
  return {
    tier,
    threads: options.threads,
    makeHost: () => makeHost(options),
    coldStart: (job) => startCold({ ...job, options: { ...options, gcTimes: false } }),
  };
}

/** Throws AIRLOCK_MEASURE_COLD_START_FAILED. */
async function startCold(order: ColdOrder): Promise<ColdStart> {
  const entry = findEntryPoint(import.meta.url, ".", "cold-start");
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...entry.execArgv, entry.file], { stdio: ["pipe", "pipe", "inherit"] });
  // A process that dies early leaves a broken pipe; its end is told below.
  child.stdin.on("error", () => {});
  child.stdin.end(serialize(order));
  const { text, ms } = await new Promise<{ text: string; ms: number }>((resolve, reject) => {
    let [heard, answeredAt] = ["", 0];
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      heard += chunk;
      if (answeredAt === 0 && heard.endsWith("\n")) answeredAt = performance.now();
    });
    child.on("error", reject);
    child.on("close", () => resolve({ text: heard, ms: answeredAt - startedAt }));
  });
  const { kind, error }: ColdAnswer = text === "" ? { error: "it said nothing" } : (JSON.parse(text) as ColdAnswer);
  if (kind !== undefined) return { ms, kind };
  throw new HostError("AIRLOCK_MEASURE_COLD_START_FAILED", `Cannot measure a cold start: ${quote(error ?? "", 300)}`);
}
