import { randomUUID } from "node:crypto";
import { accessSync, constants, lstatSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { HostError, messageOf, quote } from "../../errors/errors.ts";

/** Throws AIRLOCK_CLI_USAGE when the file that `option` names cannot be written, as far as that can be known. */
export function checkWritable(path: string, option: string): void {
  try {
    accessSync(dirname(targetOf(path)), constants.W_OK);
  } catch (thrown) {
    throw unwritable(path, option, thrown);
  }
}

/** Writes the file that `option` names, whole or not at all. Throws AIRLOCK_CLI_USAGE when it cannot be written. */
export function writeWholeFile(path: string, bytes: Uint8Array, option = "--out"): void {
  let temporary: string | null = null;
  try {
    const target = targetOf(path);
    // In the same folder, because a rename is atomic within one file system only.
    temporary = join(dirname(target), `.${basename(target)}.${randomUUID()}.tmp`);
    writeFileSync(temporary, bytes, { flag: "wx", flush: true });
    renameSync(temporary, target);
  } catch (thrown) {
    if (temporary !== null) rmSync(temporary, { force: true });
    throw unwritable(path, option, thrown);
  }
}

/** A link is written through. What is there and is no regular file is kept: a rename would replace a device too. */
function targetOf(path: string): string {
  const absolute = resolve(path);
  if (lstatSync(absolute, { throwIfNoEntry: false }) === undefined) return absolute;
  const real = realpathSync(absolute);
  if (!lstatSync(real).isFile()) throw new Error("a regular file or a new one is wanted");
  return real;
}

function unwritable(path: string, option: string, thrown: unknown): HostError {
  return new HostError("AIRLOCK_CLI_USAGE", `${option} is ${quote(path)}: ${reasonOf(thrown)}`, { cause: thrown });
}

function reasonOf(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : null;
  if (code === "ENOENT") return "there is no such folder";
  if (code === "EACCES" || code === "EPERM") return "permission is denied";
  return messageOf(thrown);
}
