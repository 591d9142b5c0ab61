import { ENDINGS, HostError, quote } from "../../errors/errors.ts";
import {
  type CapabilityEvent,
  type FuelProfile,
  type Host,
  type OpenConnectors,
  type Outcome,
  openConnectors,
  type Run,
  type RunEvent,
  readConnectorsFile,
  speedscopeOf,
} from "../../index.ts";
import type { Limits } from "../../manifest/manifest.ts";
import { commandHost, type HostFlags } from "./command-host.ts";
import { connectorsPath } from "./connectors-path.ts";
import { fuelProfileLines } from "./fuel-profile-text.ts";
import { inputValue, type RawInput, readInput } from "./input.ts";
import { liveLine, outcomeLines } from "./outcome-text.ts";
import { jsonText, printable } from "./printable.ts";
import { Progress } from "./progress.ts";
import { checkProfiled, type RunSubject, readySubject, runSubject } from "./run-subject.ts";
import type { Terminal } from "./terminal.ts";
import { parseLimitPairs, parseQuantity } from "./units.ts";
import { checkWritable, writeWholeFile } from "./whole-file.ts";

/** What `airlock run` understands. */
export interface RunFlags extends HostFlags {
  readonly providers?: string;
  readonly connectors?: string;
  readonly operation?: string;
  readonly input?: string;
  readonly value?: string;
  readonly text?: boolean;
  readonly limit?: readonly string[];
  readonly deadline?: string;
  readonly tier: "reset" | "recycled" | "fresh";
  readonly events?: boolean;
  /** True for the table alone, else the file for speedscope. */
  readonly fuelProfile?: string | true;
  readonly json?: boolean;
}

/** Everything that was asked for, checked before anything that takes time. */
interface Request {
  readonly subject: RunSubject;
  readonly raw: RawInput;
  readonly limits: Partial<Limits>;
  readonly deadlineMs: number | null;
}

/** What came before the outcome. */
interface Heard {
  readonly emitted: CapabilityEvent[];
  readonly logs: { readonly level: string; readonly message: string }[];
  /** Text that stands on stdout already. */
  streamed: string;
}

/** Runs an operation of a package, a provider or a pool. Answers the exit code of the outcome. */
export async function run(argument: string, flags: RunFlags, terminal: Terminal): Promise<number> {
  const limits = parseLimitPairs(flags.limit ?? []);
  const deadlineMs = flags.deadline === undefined ? null : parseDeadline(flags.deadline);
  if (typeof flags.fuelProfile === "string") checkWritable(flags.fuelProfile, "--fuel-profile");
  const subject = runSubject(argument, flags.providers);
  if (flags.fuelProfile !== undefined) checkProfiled(subject);
  const raw = await readInput(flags, process.stdin);
  const request: Request = { subject, raw, limits, deadlineMs };
  const connected = await connectorsOf(flags, terminal);
  const host = await commandHost(flags, {
    tier: flags.tier,
    connectors: connected.bindings,
    // The depth of calls is counted only by an artifact that was made for it.
    ...(typeof limits.callDepth === "number" ? { limits: { defaults: { callDepth: limits.callDepth } } } : {}),
  });
  const heard: Heard = { emitted: [], logs: [], streamed: "" };
  let outcome: Outcome;
  try {
    outcome = await runWith(host, request, flags, terminal, heard);
  } finally {
    await host.close();
    await connected.close();
  }
  if (typeof flags.fuelProfile === "string") writeProfile(outcome, flags.fuelProfile, terminal);
  if (flags.json) {
    const committed = outcome.kind === "succeeded";
    const { fuelProfile, ...ended } = outcome;
    const profile = flags.fuelProfile === undefined ? {} : { fuelProfile: withoutTree(fuelProfile) };
    terminal.print(jsonText({ ...ended, ...profile, emitted: heard.emitted, committed, logs: heard.logs }, 2));
  } else {
    const { emitted, streamed } = heard;
    if (streamed !== "") terminal.print();
    for (const line of outcomeLines(outcome, flags.events ? [] : emitted, limits, terminal.outPaint, streamed)) {
      terminal.print(line);
    }
    if (flags.fuelProfile !== undefined) {
      for (const line of fuelProfileLines(outcome, terminal.outPaint)) terminal.print(line);
    }
  }
  return ENDINGS[outcome.kind].exit;
}

/** Connectors that nobody named on the command line are said to be there. */
async function connectorsOf(flags: RunFlags, terminal: Terminal): Promise<OpenConnectors> {
  const path = connectorsPath(flags.connectors);
  if (path === null) return { bindings: [], close: async () => {} };
  if (flags.connectors === undefined) terminal.note(terminal.notePaint.faint(`Binding the connectors of ${path}`));
  return openConnectors(readConnectorsFile(path));
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
  { subject, raw, limits, deadlineMs }: Request,
  flags: RunFlags,
  terminal: Terminal,
  heard: Heard,
): Promise<Outcome> {
  const progress = new Progress(terminal);
  try {
    const install = { fuelProfile: flags.fuelProfile !== undefined };
    const { id, operations } = await readySubject(host, subject, install, (text) => progress.step(text));
    const operation = flags.operation ?? (operations.length === 1 ? operations[0]!.name : undefined);
    const schema = operations.find(({ name }) => name === operation)?.input;
    progress.step(`Running ${id}`);
    const started = host.run(id, inputValue(raw, schema), {
      limits,
      ...(operation === undefined ? {} : { operation }),
      ...(deadlineMs === null ? {} : { deadlineMs }),
    });
    return await followed(started, flags, { terminal, progress, heard });
  } finally {
    progress.end();
  }
}

/** Who hears of a run, and where. */
interface Hearing {
  readonly terminal: Terminal;
  readonly progress: Progress;
  readonly heard: Heard;
}

/** Hears a run to its end. The first interrupt cancels it; the second finds no listener and ends the process. */
async function followed(started: Run, flags: RunFlags, hearing: Hearing): Promise<Outcome> {
  const interrupt = (signal: NodeJS.Signals): void => started.cancel(`interrupted by ${signal}`);
  process.once("SIGINT", interrupt).once("SIGTERM", interrupt);
  try {
    for await (const event of started) show(event, flags, hearing);
    return await started.outcome;
  } finally {
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
  }
}

function show(event: RunEvent, flags: RunFlags, { terminal, progress, heard }: Hearing): void {
  if (event.kind === "event") heard.emitted.push(event.event);
  if (event.kind === "log") heard.logs.push({ level: event.level, message: event.message });
  const piece = event.kind === "event" || event.kind === "delta";
  if (piece && !flags.events) {
    // The outcome has the whole, and with --json stdout holds the one object and nothing else.
    if (event.kind === "event" || flags.json) return;
    // A live line would be drawn over the text.
    progress.end();
    terminal.stream(event.text);
    heard.streamed += event.text;
    return;
  }
  const toOut = piece && !flags.json;
  const line = liveLine(event, toOut ? terminal.outPaint : terminal.notePaint);
  if (line === null) return;
  if (toOut) terminal.print(line);
  else terminal.note(line);
}
