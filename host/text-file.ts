import { realpathSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { HostError, type HostErrorCode, isHostError, messageOf, quote } from "./errors/errors.ts";
import { readComponentFile } from "./manifest/manifest.ts";

/** A file that a person wrote for the host. */
export interface TextFile {
  readonly text: string;
  /** The folder in which it lies, links resolved: what its paths are from. */
  readonly directory: string;
}

const MOST_BYTES = 4 * 1024 * 1024;

/**
 * Reads a file of at most 4 MiB as UTF-8. Links on the way are followed; a pipe or a device is refused and never waited for. `what`
 * names it in the error, which has `code`.
 */
export function readTextFile(path: string, what: string, code: HostErrorCode): TextFile {
  try {
    const real = realpathSync(resolve(path));
    const bytes = readComponentFile(dirname(real), basename(real), MOST_BYTES);
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), directory: dirname(real) };
  } catch (error) {
    throw new HostError(code, `Cannot read the ${what} ${quote(path)}: ${reasonOf(error)}`, { cause: error });
  }
}

function reasonOf(error: unknown): string {
  if (isHostError(error)) {
    const { reason } = (error.details ?? {}) as { readonly reason?: unknown };
    return typeof reason === "string" ? reason : messageOf(error);
  }
  if (error instanceof TypeError) return "it is not UTF-8 text";
  const code = error instanceof Error && "code" in error ? error.code : null;
  return code === "ENOENT" ? "there is no such file" : messageOf(error);
}
