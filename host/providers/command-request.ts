import { HostError, nearest, quote } from "../errors/errors.ts";
import { COMMANDS, type CommandName, type CommandRequest, OLLAMA_PATHS, type OllamaPath } from "./commands.ts";

const LONGEST_MODEL = 256;

/**
 * Checks a command before anyone is looked up. Throws AIRLOCK_PROVIDERS_COMMAND_NOT_ALLOWED for a name or a path that is not on
 * the list, AIRLOCK_PROVIDERS_COMMAND_INVALID for arguments that the command does not take.
 */
export function parseCommand(command: unknown, args: unknown = {}): CommandRequest {
  if (!isCommand(command)) throw notAllowed("the command", command, COMMANDS);
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    throw invalid(command, "its arguments are no object");
  }
  const known = command === "ollama_api" ? ["path", "model"] : [];
  for (const key of Object.keys(args)) {
    if (known.includes(key)) continue;
    throw invalid(command, `it takes no argument ${quote(key, 40)}; it takes ${known.join(" and ") || "none"}`);
  }
  if (command !== "ollama_api") return { command };
  const { path, model } = args as Record<string, unknown>;
  if (!isPath(path)) throw notAllowed("the path", path, OLLAMA_PATHS);
  if (path !== "/api/show") {
    if (model !== undefined) throw invalid(command, `${path} takes no model`);
    return { command, path };
  }
  if (typeof model === "string" && model !== "" && model.length <= LONGEST_MODEL) return { command, path, model };
  throw invalid(command, `/api/show wants the name of a model, of at most ${LONGEST_MODEL} characters`);
}

function isCommand(command: unknown): command is CommandName {
  return (COMMANDS as readonly unknown[]).includes(command);
}

function isPath(path: unknown): path is OllamaPath {
  return (OLLAMA_PATHS as readonly unknown[]).includes(path);
}

function notAllowed(what: string, value: unknown, allowed: readonly string[]): HostError {
  const near = typeof value === "string" ? nearest(value, allowed) : undefined;
  const hint = near === undefined ? `allowed are ${allowed.join(", ")}` : `did you mean ${quote(near)}?`;
  const shown = typeof value === "string" ? quote(value, 60) : `of type ${typeof value}`;
  const wrong = value === undefined ? "is missing" : `${shown} is not on the list`;
  return new HostError("AIRLOCK_PROVIDERS_COMMAND_NOT_ALLOWED", `Cannot run the command: ${what} ${wrong}; ${hint}`);
}

function invalid(command: string, text: string): HostError {
  return new HostError("AIRLOCK_PROVIDERS_COMMAND_INVALID", `Cannot run the command ${command}: ${text}`);
}
