import { existsSync } from "node:fs";
import { CODES, HostError, isHostError, messageOf, quote } from "../../errors/errors.ts";
import { readSourceManifest } from "../../manifest/manifest.ts";
import { jsonText, printable } from "./printable.ts";
import type { Terminal } from "./terminal.ts";

/** How an error is told. */
export interface ProblemOptions {
  /** As one JSON object on stdout instead of lines on stderr. */
  readonly json: boolean;
  /** With the stack, for whoever works on Airlock. */
  readonly debug: boolean;
  /** The package that the command was given, for the hint. */
  readonly path: string | null;
}

/** More lines than this are not read; `--json` has them all. */
const MOST_PROBLEMS = 8;

/** Tells an error: one line, the other problems of the same text, a hint. Answers the exit code: 2, 3 or 4. */
export function tellProblem(thrown: unknown, terminal: Terminal, { json, debug, path }: ProblemOptions): 2 | 3 | 4 {
  const error = isHostError(thrown)
    ? thrown
    : new HostError("AIRLOCK_CLI_DEFECT", `Unexpected error: ${messageOf(thrown)}`, { cause: thrown });
  if (json) {
    const { code, message, details = null } = error;
    terminal.print(jsonText({ error: { code, message, details } }, 2));
  } else {
    const { notePaint: colours } = terminal;
    terminal.note(`${colours.bad("airlock:")} ${printable(error.message, 1_000)}`);
    const hint = hintOf(error, path);
    if (hint === null) for (const line of furtherProblems(error)) terminal.note(`  ${line}`);
    else terminal.note(colours.faint(hint));
  }
  if (debug) terminal.note(stackOf(thrown));
  return CODES[error.code].exit;
}

/** A path as an argument of a shell. */
export function shellWord(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : quote(path);
}

/** The first problem is in the message already. */
function furtherProblems({ details }: HostError): readonly string[] {
  const problems = (details as { problems?: unknown } | null | undefined)?.problems;
  if (!Array.isArray(problems)) return [];
  const further = problems.slice(1, MOST_PROBLEMS).map((problem) => printable(String(problem)));
  return problems.length > MOST_PROBLEMS
    ? [...further, `and ${problems.length - MOST_PROBLEMS} more: --json lists all`]
    : further;
}

/** What the caller may have meant, or can do next. */
function hintOf({ code, details }: HostError, path: string | null): string | null {
  if (code === "AIRLOCK_CLI_DEFECT") return "This is a defect of Airlock. AIRLOCK_DEBUG=1 shows where it happened.";
  if (path === null) return null;
  if (code === "AIRLOCK_MANIFEST_INVALID" && isSource(path)) {
    return `This is a capability's source. Build it first: airlock build ${shellWord(path)}`;
  }
  if (code.startsWith("AIRLOCK_MANIFEST_") && path.endsWith(".wasm") && existsSync(path)) {
    return "A package is wanted: a folder with a capability.json. A component by itself can be inspected: airlock inspect";
  }
  // A file that cannot be read at all has no report, and `inspect` would say the same again.
  const hasReport = typeof details === "object" && details !== null && "violations" in details;
  return hasReport ? `The whole report: airlock inspect ${shellWord(path)}` : null;
}

function isSource(path: string): boolean {
  try {
    readSourceManifest(path);
    return true;
  } catch {
    return false;
  }
}

function stackOf(thrown: unknown): string {
  const stack = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  const cause = thrown instanceof Error && thrown.cause !== undefined ? `\ncaused by ${stackOf(thrown.cause)}` : "";
  return `${stack
    .split("\n")
    .map((line) => printable(line))
    .join("\n")}${cause}`;
}
