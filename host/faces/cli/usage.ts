import type { Command, CommanderError } from "commander";
import { HostError, nearest, quote } from "../../errors/errors.ts";

/** Answers of commander that are no error: help and version were asked for and are printed already. */
const ANSWERED = new Set(["commander.help", "commander.helpDisplayed", "commander.version"]);

/** A complaint of commander as AIRLOCK_CLI_USAGE with the nearest known word; null when there was nothing to complain about. */
export function usageError(error: CommanderError, program: Command, argv: readonly string[]): HostError | null {
  if (ANSWERED.has(error.code)) return null;
  const command = program.commands.find((each) => argv.includes(each.name())) ?? program;
  const [, named] = /'([^']*)'/.exec(error.message) ?? [];
  const message = error.message
    .replace(/^error: /, "")
    .replace(/\n?\(Did you mean [^)]*\)/, "")
    .replace(/\s+/g, " ")
    .trim()
    .replace(/\.$/, "");
  return new HostError(
    "AIRLOCK_CLI_USAGE",
    `${message.charAt(0).toUpperCase()}${message.slice(1)}${hint(error.code, named, command)}`,
  );
}

function hint(code: string, named: string | undefined, command: Command): string {
  const name = command.parent === null ? command.name() : `${command.parent.name()} ${command.name()}`;
  const help = `; ${name} --help shows what there is`;
  if (named === undefined) return help;
  if (code === "commander.unknownOption") return didYouMean(named, optionsOf(command)) ?? help;
  if (code === "commander.unknownCommand")
    return (
      didYouMean(
        named,
        command.commands.map((each) => each.name()),
      ) ?? help
    );
  return code === "commander.invalidArgument" ? "" : help;
}

function didYouMean(word: string, known: readonly string[]): string | null {
  const near = nearest(word, known);
  return near === undefined ? null : `: did you mean ${quote(near)}?`;
}

function optionsOf(command: Command): readonly string[] {
  return [...command.options.flatMap(({ long }) => (long ? [long] : [])), "--help"];
}
