import { HostError } from "../errors/errors.ts";

/**
 * A package that only those who build need, loaded on first use. Throws AIRLOCK_TOOLCHAIN_MISSING, naming the command
 * that installs it, when it is not there or has no binary for this machine.
 */
export async function loadOptional<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    throw new HostError(
      "AIRLOCK_TOOLCHAIN_MISSING",
      `Cannot build: the package ${name} is not installed or does not run here, run \`npm install --save-dev ${name}\``,
      { cause: error, details: { package: name } },
    );
  }
}
