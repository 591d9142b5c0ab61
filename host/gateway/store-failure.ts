import { CODES, isHostError } from "../errors/errors.ts";
import { ConnectorError } from "./connector.ts";

/** What a guest hears of a store that fails: which kind it is and whether to come again, and nothing of where the store is. */
export function storeFailure(thrown: unknown): unknown {
  if (!isHostError(thrown) || !thrown.code.startsWith("AIRLOCK_STORE_")) return thrown;
  const [code, message] =
    thrown.code === "AIRLOCK_STORE_BUSY"
      ? ["busy", "the store is in use by others for too long: try again"]
      : thrown.code === "AIRLOCK_STORE_FULL"
        ? ["full", "the store has no room left for anybody: try again later"]
        : ["unavailable", "the store cannot be used"];
  return new ConnectorError(code, message, { retryable: CODES[thrown.code].retry, cause: thrown });
}
