import { Command, Option } from "commander";
import type { BenchFlags } from "./bench.ts";
import type { BuildFlags } from "./build.ts";
import {
  type Act,
  allowFsOption,
  cacheDirOption,
  connectorsOption,
  EXIT_CODES,
  providersOption,
  repeatable,
  tierOption,
} from "./command-parts.ts";
import { addConnectors } from "./connectors-program.ts";
import type { DoctorFlags } from "./doctor.ts";
import type { InspectFlags } from "./inspect.ts";
import type { MeterFlags } from "./meter.ts";
import { addProviders } from "./providers-program.ts";
import type { RunFlags } from "./run.ts";
import type { Terminal } from "./terminal.ts";
import { limitLines } from "./units.ts";

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
  airlock providers --providers providers.json
  airlock meter plugin.wasm
  airlock doctor
  airlock bench ./my-capability/dist --cases ./my-capability/cases

AIRLOCK_DEBUG=1 adds stack traces to errors. NO_COLOR=1 takes the colours away.`,
    );
  addInspect(program, terminal, act);
  addRun(program, terminal, act);
  addProviders(program, terminal, act);
  addConnectors(program, terminal, act);
  addBuild(program, terminal, act);
  addMeter(program, terminal, act);
  addDoctor(program, terminal, act);
  addBench(program, terminal, act);
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
    .description("Admit a package and run one of its operations; or run a provider or a pool of a file")
    .argument("<package>", "a package's folder, or its capability.json; with --providers a provider's id or a pool")
    .addOption(providersOption())
    .addOption(connectorsOption())
    .option("-o, --operation <name>", "which operation; may be left out when there is one")
    .addOption(new Option("-i, --input <file>", "read the input from a file, - for stdin").conflicts("value"))
    .option("--value <json>", "the input itself")
    .option("--text", "the input is text, not JSON (see below)")
    .addOption(repeatable("-l, --limit <key=value>", "lower a limit; may be repeated (see below)"))
    .option("--deadline <time>", "time from now on, waiting included: 500ms, 10s, 2min")
    .addOption(allowFsOption())
    .addOption(tierOption())
    .addOption(cacheDirOption())
    .option("--events", "print events as they come (to stderr with --json)")
    .option("--fuel-profile [file]", "say where the fuel went (see below); the file is for speedscope.app")
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
  What a provider streams goes to stdout as it comes, and is not repeated in the answer; with --json it is in the
  answer alone. --events prints each piece on a line of its own.

Providers:
  With --providers the argument is an id of that file, with or without its version, or the name of a pool. Without it
  a package is looked for first, then the name in ./airlock.providers.json. See airlock providers --help.

Connectors:
  What the package declares in grants.connectors is bound from the file; --json lists the calls without their contents.
  See airlock connectors --help.

Fuel profile:
  Fuel by function, from a build of the same modules that is slower and burns the same. Self is what a function took
  itself, total what it took with all that it called. In the file, fuel stands where time would. A guest names its own
  functions. Give the package first, or --fuel-profile=file: a word behind the option is its file.
${EXIT_CODES}

Examples:
  airlock run ./dist --value '{"csv":"a,b\\n1,2\\n"}'
  airlock run ./dist --text --input table.csv --events
  cat request.json | airlock run ./dist --operation profile --input - --json | jq .output
  airlock run ./dist --value '{}' --cache-dir ~/.cache/airlock
  airlock run local --providers providers.json -o generate --text --input prompt.txt
  airlock run ./dist --input big.json --fuel-profile=run.speedscope.json
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

function addBench(program: Command, terminal: Terminal, act: Act): void {
  program
    .command("bench")
    .description("Measure a package: times with their spread, throughput, exact fuel, memory; compare two packages")
    .argument("<package>", "a package's folder, or its capability.json")
    .option("-o, --operation <name>", "for inputs that name none; may be left out when there is one")
    .addOption(
      new Option("-i, --input <file>", "one input from a JSON file, - for stdin").conflicts(["value", "cases"]),
    )
    .addOption(new Option("--value <json>", "the one input itself").conflicts("cases"))
    .option("--cases <folder>", "one input for each JSON file, as in a capability's cases/")
    .option("--concurrency <list>", "calls in flight, one load for each", "1")
    .option("--duration <time>", "length of each load in each round", "1s")
    .option(
      "--rounds <count>",
      "rounds, each on a new host; the more, the smaller the difference that can be named",
      "7",
    )
    .option("--warm-up <time>", "calls before each round that do not count", "300ms")
    .option("--cold", "also time a new process up to its first answer, in each round")
    .addOption(tierOption())
    .addOption(allowFsOption())
    .option("--compare <package>", "measure another package in turn with this one, and compare them")
    .option("--out <folder>", "write results.json and report.html there")
    .option("--baseline <file>", "an earlier results.json: exit 1 and say what got slower, or burns more fuel")
    .option("--fail-over <share>", "how much slower is too slow; fuel is compared exactly", "15%")
    .option("--json", "print the results as one JSON object")
    .addHelpText(
      "after",
      `
Without an input the examples of the manifest are measured. Times are medians over the rounds, with the lowest and the
highest round behind them. With --compare a difference is named when an exact rank-sum test over the rounds allows it,
at most 5 % of doubt over all measures together. Fuel and memory are the same on every run.

Examples:
  airlock bench ./dist --cases ./cases --concurrency 1,2,8 --out ./bench
  airlock bench ./dist --input request.json --compare ../before/dist
  airlock bench ./dist --cases ./cases --baseline results.json --fail-over 15%`,
    )
    .action((path: string, flags: BenchFlags) =>
      act(flags.json === true, path, async () => (await import("./bench.ts")).bench(path, flags, terminal)),
    );
}
