#!/usr/bin/env node
/**
 * The command `airlock`. In: arguments, stdin. Out: an answer on stdout, everything else on stderr, an exit code. Holds always:
 * with --json stdout holds one JSON object, errors too; what a component or package says is escaped before it is shown. Not
 * promised: the wording and layout of what people read.
 */
import { readFileSync } from "node:fs";
import { CommanderError } from "commander";
import { EXIT } from "./exit-code.ts";
import { tellProblem } from "./problem.ts";
import { createProgram } from "./program.ts";
import { Terminal } from "./terminal.ts";
import { usageError } from "./usage.ts";

const argv = process.argv.slice(2);
const debug = (process.env["AIRLOCK_DEBUG"] ?? "") !== "";
const terminal = new Terminal(process.stdout, process.stderr, process.env);

// Also for what is thrown where nobody waits: one line, no stack. Nothing can be trusted to come to an end after it.
process.on("uncaughtException", (thrown) => {
  process.exit(tellProblem(thrown, terminal, { json: argv.includes("--json"), debug, path: null }));
});

// The exit code is set and the process left to end by itself: process.exit would cut off what a pipe has not taken yet.
process.exitCode = await main();
await terminal.flush();

async function main(): Promise<number> {
  let exit: number = EXIT.good;
  const program = createProgram(version(), terminal, async (json, path, command) => {
    try {
      exit = await command();
    } catch (thrown) {
      exit = tellProblem(thrown, terminal, { json, debug, path });
    }
  });
  if (argv.length === 0) {
    program.outputHelp();
    return exit;
  }
  try {
    await program.parseAsync(argv, { from: "user" });
    return exit;
  } catch (thrown) {
    const problem = thrown instanceof CommanderError ? usageError(thrown, program, argv) : thrown;
    if (problem === null) return EXIT.good;
    return tellProblem(problem, terminal, { json: argv.includes("--json"), debug, path: null });
  }
}

function version(): string {
  // Three folders up, from the sources and from dist/ alike.
  const text = readFileSync(new URL("../../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}
