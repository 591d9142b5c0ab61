import { readFileSync } from "node:fs";
import { CommanderError } from "commander";
import { EXIT } from "./exit-code.ts";
import { tellProblem } from "./problem.ts";
import { createProgram } from "./program.ts";
import type { Terminal } from "./terminal.ts";
import { usageError } from "./usage.ts";

/** Carries out what the arguments say, errors included. Answers the exit code and never throws. */
export async function runCommandLine(argv: readonly string[], terminal: Terminal, debug: boolean): Promise<number> {
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
    await program.parseAsync([...argv], { from: "user" });
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
