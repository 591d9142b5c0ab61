import { HostError } from "../../errors/errors.ts";
import {
  addProviders,
  COMMANDS,
  type CommandRequest,
  namedProviders,
  type ProvidersFile,
  parseCommand,
  readProvidersFile,
} from "../../index.ts";
import { parseJsonText } from "../../manifest/manifest.ts";
import { addingText, commandHost } from "./command-host.ts";
import { EXIT } from "./exit-code.ts";
import { jsonText } from "./printable.ts";
import { Progress } from "./progress.ts";
import type { ProvidersFlags } from "./providers.ts";
import { neededProvidersPath } from "./providers-path.ts";
import type { Terminal } from "./terminal.ts";

/** A command as it was typed. */
export interface TypedCommand {
  readonly id: string;
  readonly command: string;
  /** Its arguments, as JSON text. */
  readonly json: string | undefined;
}

/** Asks one provider of a file, which alone is started for it, and prints what it answers. */
export async function askProvider(typed: TypedCommand, flags: ProvidersFlags, terminal: Terminal): Promise<number> {
  // First of all: what is refused touches no file, no provider and no process.
  const request = requestOf(typed);
  const file = readProvidersFile(neededProvidersPath(flags.providers));
  const id = oneProvider(file, typed.id);
  const progress = new Progress(terminal);
  const host = await commandHost(flags);
  let answer: unknown;
  try {
    await addProviders(host, file, {
      only: id,
      // The server alone is asked with a key.
      requireKeys: request.command === "ollama_api",
      adding: (provider) => progress.step(addingText(provider)),
    });
    progress.step(`Asking ${id}`);
    const { command, ...args } = request;
    answer = await host.providers.command(id, command, args);
  } finally {
    progress.end();
    await host.close();
  }
  terminal.print(jsonText(answer, 2));
  return EXIT.good;
}

function requestOf({ command, json = "{}" }: TypedCommand): CommandRequest {
  const parsed = parseJsonText(json);
  if (parsed.kind === "value") return parseCommand(command, parsed.value);
  // A name that is not on the list is what is wrong, whatever its arguments are.
  if (!(COMMANDS as readonly string[]).includes(command)) return parseCommand(command);
  const why = json.trim() === "" ? "are empty" : parsed.kind === "not-json" ? "are not JSON" : parsed.text;
  throw new HostError(
    "AIRLOCK_CLI_USAGE",
    `The arguments of the command ${command} ${why}: one JSON object is wanted, such as '{"path":"/api/tags"}'`,
  );
}

/** Throws AIRLOCK_PROVIDERS_MISSING, and AIRLOCK_CLI_USAGE for a pool. */
function oneProvider(file: ProvidersFile, name: string): string {
  const { pool, providers } = namedProviders(file, name);
  if (pool === null) return providers[0]!.id;
  const ids = providers.map(({ id }) => id).join(" or ");
  throw new HostError("AIRLOCK_CLI_USAGE", `${pool} is a pool, and a command is for one provider: ${ids} is wanted`);
}
