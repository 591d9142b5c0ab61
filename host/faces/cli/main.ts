#!/usr/bin/env node
/**
 * The command `airlock`. In: arguments, stdin. Out: an answer on stdout, everything else on stderr, an exit code. Holds always:
 * with --json stdout holds one JSON object, errors too; what a component or package says is escaped before it is shown. Not
 * promised: the wording and layout of what people read.
 */
import { runCommandLine } from "./command-line.ts";
import { tellProblem } from "./problem.ts";
import { Terminal } from "./terminal.ts";

const argv = process.argv.slice(2);
const debug = (process.env["AIRLOCK_DEBUG"] ?? "") !== "";
const terminal = new Terminal(process.stdout, process.stderr, process.env);

// Also for what is thrown where nobody waits: one line, no stack. Nothing can be trusted to come to an end after it.
process.on("uncaughtException", (thrown) => {
  process.exit(tellProblem(thrown, terminal, { json: argv.includes("--json"), debug, path: null }));
});

// The exit code is set and the process left to end by itself: process.exit would cut off what a pipe has not taken yet.
process.exitCode = await runCommandLine(argv, terminal, debug);
await terminal.flush();
