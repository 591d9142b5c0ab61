import { existsSync } from "node:fs";
import { HostError } from "../../errors/errors.ts";

/** The file of providers where nobody names one. */
export const DEFAULT_PROVIDERS_FILE = "airlock.providers.json";

/** The file that `--providers` names, else the one of this folder, else null. */
export function providersPath(named: string | undefined): string | null {
  if (named !== undefined) return named;
  return existsSync(DEFAULT_PROVIDERS_FILE) ? DEFAULT_PROVIDERS_FILE : null;
}

/** The same for a command that cannot do without. Throws AIRLOCK_CLI_USAGE. */
export function neededProvidersPath(named: string | undefined): string {
  const path = providersPath(named);
  if (path !== null) return path;
  throw new HostError(
    "AIRLOCK_CLI_USAGE",
    `There is no ${DEFAULT_PROVIDERS_FILE} in this folder: name a file with --providers; airlock providers --help shows how one looks`,
  );
}
