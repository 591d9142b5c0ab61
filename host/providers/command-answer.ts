import { assertNever, HostError, isHostError, messageOf, quote } from "../errors/errors.ts";
import type { CommandAnswers, CommandName, CommandRequest } from "./commands.ts";
import type { Seat } from "./seat.ts";

/**
 * Asks a provider and fills in what only its seat knows. Rejects with AIRLOCK_PROVIDERS_COMMAND_UNSUPPORTED,
 * AIRLOCK_PROVIDERS_COMMAND_FAILED, or the provider's own HostError.
 */
export async function answerCommand(
  seat: Seat,
  request: CommandRequest,
  signal: AbortSignal,
): Promise<CommandAnswers[CommandName]> {
  try {
    const answer = await ask(seat, request, signal);
    if (answer !== undefined) return answer;
  } catch (error) {
    if (isHostError(error)) throw error;
    throw new HostError(
      "AIRLOCK_PROVIDERS_COMMAND_FAILED",
      `Cannot run the command ${request.command} of ${quote(seat.id)}: ${messageOf(error)}`,
      { cause: error },
    );
  }
  throw new HostError(
    "AIRLOCK_PROVIDERS_COMMAND_UNSUPPORTED",
    `Cannot run the command ${request.command}: the provider ${quote(seat.id)} does not have it`,
  );
}

/** Undefined where the provider does not have the command. */
async function ask(
  seat: Seat,
  request: CommandRequest,
  signal: AbortSignal,
): Promise<CommandAnswers[CommandName] | undefined> {
  const { commands } = seat.provider;
  switch (request.command) {
    case "capabilities":
      return commands?.capabilities?.();
    case "ollama_api":
      return commands?.ollama_api?.(request, signal);
    case "transport_status": {
      const known = await commands?.transport_status?.();
      if (known === undefined) return undefined;
      const { connected, since, inFlight, pool, candidate } = seat;
      return { kind: known.kind, connected, since, inFlight, capacity: pool.slotsOf(candidate).capacity };
    }
    default:
      return assertNever(request);
  }
}
