import type { Command, CommanderError } from "commander";
import { HostError, nearest, quote } from "../../errors/errors.ts";

/** Answers of commander that are no error: help and version were asked for and are printed already. */
const ANSWERED = new Set(["commander.help", "commander.helpDisplayed", "commander.version"]);

/** A complaint of commander as AIRLOCK_CLI_USAGE with the nearest known word; null when there was nothing to complain about. */
export function usageError(error: CommanderError, program: Command, argv: readonly string[]): HostError | null {
  if (ANSWERED.has(error.code)) return null;
  const command = commandIn(program, argv);
  const [, named] = /'([^']*)'/.exec(error.message) ?? [];
  const message = error.message
    .replace(/^error: /, "")
    .replace(/\n?\(Did you mean [^)]*\)/, "")
    .replace(/\s+/g, " ")
    .trim()
    .replace(/\.$/, "");
  return new HostError(
    "AIRLOCK_CLI_USAGE",
    `${message.charAt(0).toUpperCase()}${message.slice(1)}${hint(error.code, named, command, argv)}`,
  );
}

/** The command that the arguments mean, at whatever depth. */
function commandIn(parent: Command, argv: readonly string[]): Command {
  const named = parent.commands.find((each) => argv.includes(each.name()));
  return named === undefined ? parent : commandIn(named, argv.slice(argv.indexOf(named.name()) + 1));
}

function hint(code: string, named: string | undefined, command: Command, argv: readonly string[]): string {
  const help = `; ${fullName(command)} --help shows what there is`;
  if (code === "commander.excessArguments" && command.commands.length > 0) {
    const word = argv.slice(argv.indexOf(command.name()) + 1).find((each) => !each.startsWith("-"));
    return didYouMean(word ?? "", namesBelow(command)) ?? help;
  }
  if (named === undefined) return help;
  if (code === "commander.unknownOption") return didYouMean(named, optionsOf(command)) ?? help;
  if (code === "commander.unknownCommand") return didYouMean(named, namesBelow(command)) ?? help;
  return code === "commander.invalidArgument" ? "" : help;
}

function fullName(command: Command): string {
  return command.parent === null ? command.name() : `${fullName(command.parent)} ${command.name()}`;
}

function namesBelow(command: Command): readonly string[] {
  return command.commands.map((each) => each.name());
}

function didYouMean(word: string, known: readonly string[]): string | null {
  const near = nearest(word, known);
  return near === undefined ? null : `: did you mean ${quote(near)}?`;
}

function optionsOf(command: Command): readonly string[] {
  const above = command.parent === null ? [] : optionsOf(command.parent);
  return [...command.options.flatMap(({ long }) => (long ? [long] : [])), ...above, "--help"];
}
