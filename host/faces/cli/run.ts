import { ENDINGS, HostError, quote } from "../../errors/errors.ts";
import {
  type CapabilityEvent,
  createHost,
  type FuelProfile,
  type Host,
  type Outcome,
  type Run,
  speedscopeOf,
} from "../../index.ts";
import { type Limits, readPackage } from "../../manifest/manifest.ts";
import { fuelProfileLines } from "./fuel-profile-text.ts";
import { inputValue, type RawInput, readInput } from "./input.ts";
import { liveLine, outcomeLines } from "./outcome-text.ts";
import { jsonText, printable } from "./printable.ts";
import { Progress } from "./progress.ts";
import type { Terminal } from "./terminal.ts";
import { parseLimitPairs, parseQuantity } from "./units.ts";
import { checkWritable, writeWholeFile } from "./whole-file.ts";

/** What `airlock run` understands. */
export interface RunFlags {
  readonly operation?: string;
  readonly input?: string;
  readonly value?: string;
  readonly text?: boolean;
  readonly limit?: readonly string[];
  readonly deadline?: string;
  readonly allowFs?: readonly string[];
  readonly tier: "reset" | "recycled" | "fresh";
  readonly cacheDir?: string;
  readonly events?: boolean;
  /** True for the table alone, else the file for speedscope. */
  readonly fuelProfile?: string | true;
  readonly json?: boolean;
}

/** A process started ahead for a second install would only slow down the one there is. */
const ONE_INSTALL = { spares: 0 };

/** Everything that was asked for, checked before anything that takes time. */
interface Request {
  readonly raw: RawInput;
  readonly limits: Partial<Limits>;
  readonly deadlineMs: number | null;
}

/** What came before the outcome. */
interface Heard {
  readonly emitted: CapabilityEvent[];
  readonly logs: { readonly level: string; readonly message: string }[];
}

/** Installs a package and runs one of its operations. Answers the exit code of the outcome. */
export async function run(path: string, flags: RunFlags, terminal: Terminal): Promise<number> {
  const limits = parseLimitPairs(flags.limit ?? []);
  const deadlineMs = flags.deadline === undefined ? null : parseDeadline(flags.deadline);
  if (typeof flags.fuelProfile === "string") checkWritable(flags.fuelProfile, "--fuel-profile");
  readPackage(path);
  const raw = await readInput(flags, process.stdin);
  const request: Request = { raw, limits, deadlineMs };
  const host = await createHost({
    threads: 1,
    compile: flags.cacheDir === undefined ? ONE_INSTALL : { ...ONE_INSTALL, cacheDirectory: flags.cacheDir },
    tier: flags.tier,
    allow: { fs: flags.allowFs ?? [] },
    // The depth of calls is counted only by an artifact that was made for it.
    ...(typeof limits.callDepth === "number" ? { limits: { defaults: { callDepth: limits.callDepth } } } : {}),
  });
  const heard: Heard = { emitted: [], logs: [] };
  let outcome: Outcome;
  try {
    outcome = await runWith(host, path, request, flags, terminal, heard);
  } finally {
    await host.close();
  }
  if (typeof flags.fuelProfile === "string") writeProfile(outcome, flags.fuelProfile, terminal);
  if (flags.json) {
    const committed = outcome.kind === "succeeded";
    const { fuelProfile, ...ended } = outcome;
    const profile = flags.fuelProfile === undefined ? {} : { fuelProfile: withoutTree(fuelProfile) };
    terminal.print(jsonText({ ...ended, ...profile, emitted: heard.emitted, committed, logs: heard.logs }, 2));
  } else {
    for (const line of outcomeLines(outcome, flags.events ? [] : heard.emitted, limits, terminal.outPaint)) {
      terminal.print(line);
    }
    if (flags.fuelProfile !== undefined) {
      for (const line of fuelProfileLines(outcome, terminal.outPaint)) terminal.print(line);
    }
  }
  return ENDINGS[outcome.kind].exit;
}

/** The tree is for the file: tens of thousands of places in which a function was called. */
function withoutTree(profile: FuelProfile | undefined): Omit<FuelProfile, "contexts"> | null {
  if (profile === undefined) return null;
  const { contexts: _, ...rest } = profile;
  return rest;
}

function writeProfile({ fuelProfile, providerId, operation }: Outcome, path: string, terminal: Terminal): void {
  if (fuelProfile === undefined) return;
  const file = speedscopeOf(fuelProfile, `${providerId} ${operation}`);
  writeWholeFile(path, Buffer.from(JSON.stringify(file)), "--fuel-profile");
  terminal.note(`Wrote ${printable(path)}: open it at https://www.speedscope.app`);
}

function parseDeadline(text: string): number {
  const ms = parseQuantity(text, "ms", "--deadline");
  if (ms > 0) return ms;
  throw new HostError("AIRLOCK_CLI_USAGE", `--deadline is ${quote(text, 40)}: a time above 0 is wanted`);
}

async function runWith(
  host: Host,
  path: string,
  { raw, limits, deadlineMs }: Request,
  flags: RunFlags,
  terminal: Terminal,
  heard: Heard,
): Promise<Outcome> {
  const progress = new Progress(terminal);
  try {
    progress.step(`Admitting and compiling ${path}`);
    const { id, signatures } = await host.install(path, { fuelProfile: flags.fuelProfile !== undefined });
    const operation = flags.operation ?? (signatures.length === 1 ? signatures[0]!.name : undefined);
    const schema = signatures.find(({ name }) => name === operation)?.input;
    progress.step(`Running ${id}`);
    const started = host.run(id, inputValue(raw, schema), {
      limits,
      ...(operation === undefined ? {} : { operation }),
      ...(deadlineMs === null ? {} : { deadlineMs }),
    });
    return await followed(started, flags, terminal, heard);
  } finally {
    progress.end();
  }
}

/** Hears a run to its end. The first interrupt cancels it; the second finds no listener and ends the process. */
async function followed(started: Run, flags: RunFlags, terminal: Terminal, heard: Heard): Promise<Outcome> {
  const interrupt = (signal: NodeJS.Signals): void => started.cancel(`interrupted by ${signal}`);
  process.once("SIGINT", interrupt).once("SIGTERM", interrupt);
  try {
    for await (const event of started) {
      if (event.kind === "event") heard.emitted.push(event.event);
      if (event.kind === "log") heard.logs.push({ level: event.level, message: event.message });
      if (event.kind === "event" && !flags.events) continue;
      // With --json, stdout holds the one object and nothing else.
      const toOut = event.kind === "event" && !flags.json;
      const line = liveLine(event, toOut ? terminal.outPaint : terminal.notePaint);
      if (line === null) continue;
      if (toOut) terminal.print(line);
      else terminal.note(line);
    }
    return await started.outcome;
  } finally {
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
  }
}
