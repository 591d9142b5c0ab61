import { realpathSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { HostError, isHostError, messageOf, quote } from "../../errors/errors.ts";
import { readComponentFile } from "../../manifest/manifest.ts";

/** The same cap for a bare file and for a package. */
export const MAX_COMPONENT_BYTES = 64 * 1024 * 1024;

/**
 * The bytes of a file that the caller named. Links on the way are followed; a pipe or a device is refused and never waited
 * for. Throws AIRLOCK_CLI_INPUT_UNREADABLE, and AIRLOCK_ADMISSION_TOO_LARGE past the cap.
 */
export function readBareFile(path: string): Uint8Array {
  try {
    const real = realpathSync(resolve(path));
    return readComponentFile(dirname(real), basename(real), MAX_COMPONENT_BYTES);
  } catch (thrown) {
    if (!isHostError(thrown))
      throw unreadable(`Cannot read the file ${quote(path)}: ${reasonOf(thrown)}`, null, thrown);
    if (thrown.code !== "AIRLOCK_ADMISSION_BINARY_LOAD_FAILED") throw thrown;
    throw unreadable(thrown.message, thrown.details, thrown);
  }
}

function reasonOf(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : null;
  return code === "ENOENT" ? "there is no such file" : messageOf(thrown);
}

function unreadable(message: string, details: unknown, cause: unknown): HostError {
  return new HostError("AIRLOCK_CLI_INPUT_UNREADABLE", message, { details, cause });
}
