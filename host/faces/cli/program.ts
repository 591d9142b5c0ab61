import { Command, Option } from "commander";
import type { BuildFlags } from "./build.ts";
import type { DoctorFlags } from "./doctor.ts";
import type { InspectFlags } from "./inspect.ts";
import type { MeterFlags } from "./meter.ts";
import type { RunFlags } from "./run.ts";
import type { Terminal } from "./terminal.ts";
import { limitLines } from "./units.ts";

/** Carries a command out, and sees to its errors; `path` is the package that it was given. */
export type Act = (json: boolean, path: string | null, command: () => Promise<number>) => Promise<void>;

const EXIT_CODES = `
Exit codes:
  0  succeeded, or all is well
  1  any other outcome, or something was not proven
  2  bad input: the command line, the input, a file that cannot be read
  3  refused at admission
  4  the host failed`;

/** The commands, their options and their help. What a command needs is loaded when it is carried out. */
export function createProgram(version: string, terminal: Terminal, act: Act): Command {
  const program = new Command("airlock")
    .description("Runs code you do not trust: WASI components under fuel, memory and import limits that hold")
    .version(version)
    .exitOverride()
    .configureOutput({ writeOut: (text) => terminal.print(text.trimEnd()), writeErr: () => {} })
    .addHelpText(
      "after",
      `${EXIT_CODES}

Examples:
  airlock build ./my-capability
  airlock inspect ./my-capability/dist
  airlock run ./my-capability/dist --input request.json
  airlock meter plugin.wasm
  airlock doctor

AIRLOCK_DEBUG=1 adds stack traces to errors. NO_COLOR=1 takes the colours away.`,
    );
  addInspect(program, terminal, act);
  addRun(program, terminal, act);
  addBuild(program, terminal, act);
  addMeter(program, terminal, act);
  addDoctor(program, terminal, act);
  return program;
}

function addInspect(program: Command, terminal: Terminal, act: Act): void {
  program
    .command("inspect")
    .description("Print what admission says: every import with its rule, exports, grants, limits, every violation")
    .argument("<component|package>", "a .wasm file, a package's folder, or its capability.json")
    .addOption(allowFsOption())
    .option("--json", "print the report as one JSON object")
    .addHelpText(
      "after",
      `
Exit code 0 when it would be admitted, 3 when it would be refused, 2 when it cannot be read.

Examples:
  airlock inspect plugin.wasm
  airlock inspect ./my-capability/dist
  airlock inspect plugin.wasm --json | jq '.violations[].code'`,
    )
    .action((path: string, flags: InspectFlags) =>
      act(flags.json === true, path, async () => (await import("./inspect.ts")).inspect(path, flags, terminal)),
    );
}

function addRun(program: Command, terminal: Terminal, act: Act): void {
  program
    .command("run")
    .description("Admit a package and run one of its operations")
    .argument("<package>", "a package's folder, or its capability.json")
    .option("-o, --operation <name>", "which operation; may be left out when there is one")
    .addOption(new Option("-i, --input <file>", "read the input from a file, - for stdin").conflicts("value"))
    .option("--value <json>", "the input itself")
    .option("--text", "the input is text, not JSON (see below)")
    .addOption(repeatable("-l, --limit <key=value>", "lower a limit; may be repeated (see below)"))
    .option("--deadline <time>", "time from now on, waiting included: 500ms, 10s, 2min")
    .addOption(allowFsOption())
    .addOption(tierOption())
    .option("--cache-dir <folder>", "keep compiled code there for the next time; default: nothing is kept")
    .option("--events", "print events as they come (to stderr with --json)")
    .option("--json", "print the outcome as one JSON object")
    .addHelpText(
      "after",
      `
Input:
  JSON by default. With --text it is handed over as a JSON string; an operation whose input is an object with
  exactly one required property, a string, gets the text as that property. Without --input and --value the input
  is {} where the operation wants an object, else null.

Limits (default):
${limitLines().join("\n")}
  A run can only lower what the package and the host allow. Values take units: 64MiB, 10s, 2e9, 1_000.

Output:
  The answer goes to stdout, progress and log lines go to stderr. Ctrl-C cancels the run, a second one kills it.
${EXIT_CODES}

Examples:
  airlock run ./dist --value '{"csv":"a,b\\n1,2\\n"}'
  airlock run ./dist --text --input table.csv --events
  cat request.json | airlock run ./dist --operation profile --input - --json | jq .output
  airlock run ./dist --value '{}' --cache-dir ~/.cache/airlock
  airlock run ./dist --input big.json --limit fuel=2e9 --limit memoryBytes=32MiB --deadline 10s`,
    )
    .action((path: string, flags: RunFlags) =>
      act(flags.json === true, path, async () => (await import("./run.ts")).run(path, flags, terminal)),
    );
}

function addBuild(program: Command, terminal: Terminal, act: Act): void {
  program
    .command("build")
    .description("Build a capability: TypeScript -> component -> manifest with digest")
    .argument("<folder>", "a folder with a source capability.json and src/")
    .option("--out <folder>", "where the package goes; default: dist inside the capability's folder")
    .option("--json", "print the result as one JSON object")
    .addHelpText(
      "after",
      `
Examples:
  airlock build ./my-capability
  airlock build ./my-capability --out ./packages/my-capability --json | jq -r .sha256`,
    )
    .action((folder: string, flags: BuildFlags) =>
      act(flags.json === true, folder, async () => (await import("./build.ts")).build(folder, flags, terminal)),
    );
}

function addMeter(program: Command, terminal: Terminal, act: Act): void {
  program
    .command("meter")
    .description(
      "Meter a core module and say what was done to it: functions by mode and static cost, charges, size, time",
    )
    .argument("<module>", "a .wasm file: a core module, or a component, whose core modules are metered one by one")
    .option("-o, --out <file>", "write the metered module; a core module is wanted")
    .option("--report", "print the whole report with --out too, not one line")
    .option("--all", "print every function, not only the dearest")
    .option("--exact", "count frames and make NaNs canonical: the same depth and bits on every tier, at a price")
    .option("--json", "print the report as one JSON object")
    .addHelpText(
      "after",
      `
Functions by mode:
  free     nothing is charged          direct   charged once, at entry
  cached   charged along the way       guarded  charged along the way, catches exceptions
  leaf     charged by its callers      injected added for charges and growth

A component is shown as it would be metered; its modules are metered when it is installed.
Exit code 0 when it is metered, 3 when the meter refuses it, 2 when it cannot be read or written.

Examples:
  airlock meter plugin.wasm
  airlock meter plugin.wasm -o plugin.metered.wasm --exact
  airlock meter plugin.wasm --json | jq '.functions[:5]'`,
    )
    .action((path: string, flags: MeterFlags) =>
      act(flags.json === true, path, async () => (await import("./meter.ts")).meter(path, flags, terminal)),
    );
}

function addDoctor(program: Command, terminal: Terminal, act: Act): void {
  program
    .command("doctor")
    .description("Run every hostile guest on this machine and prove that each limit trips")
    .addOption(repeatable("-g, --guest <name>", "only this guest; may be repeated"))
    .addOption(tierOption())
    .option("--json", "print the report as one JSON object")
    .addHelpText(
      "after",
      `
Exit code 1 when a guest did not end as it must or a limit was not proven.

Examples:
  airlock doctor
  airlock doctor --guest loop-forever --tier fresh
  airlock doctor --json | jq '.rows[] | select(.ok | not)'`,
    )
    .action((flags: DoctorFlags) =>
      act(flags.json === true, null, async () => (await import("./doctor.ts")).doctor(flags, terminal)),
    );
}

function repeatable(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value: string, before: readonly string[] | undefined) => [
    ...(before ?? []),
    value,
  ]);
}

function allowFsOption(): Option {
  return repeatable("--allow-fs <folder>", "a folder from which a package may be granted one to read; may be repeated");
}

function tierOption(): Option {
  return new Option("--tier <tier>", "where memories come from").choices(["recycled", "fresh"]).default("recycled");
}
