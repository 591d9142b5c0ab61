import { existsSync } from "node:fs";
import { HostError } from "../../errors/errors.ts";

/** The file of connectors where nobody names one. */
export const DEFAULT_CONNECTORS_FILE = "airlock.connectors.json";

/** The file that `--connectors` names, else the one of this folder, else null. */
export function connectorsPath(named: string | undefined): string | null {
  if (named !== undefined) return named;
  return existsSync(DEFAULT_CONNECTORS_FILE) ? DEFAULT_CONNECTORS_FILE : null;
}

/** The same for a command that cannot do without. Throws AIRLOCK_CLI_USAGE. */
export function neededConnectorsPath(named: string | undefined): string {
  const path = connectorsPath(named);
  if (path !== null) return path;
  throw new HostError(
    "AIRLOCK_CLI_USAGE",
    `There is no ${DEFAULT_CONNECTORS_FILE} in this folder: name a file with --connectors; airlock connectors --help shows how one looks`,
  );
}
