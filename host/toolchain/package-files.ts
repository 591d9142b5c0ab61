import { randomUUID } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../errors/errors.ts";
import { buildFailure } from "./build-failure.ts";

/** Writes files into `directory` in the given order, each whole or not at all. */
export async function writePackageFiles(
  directory: string,
  files: readonly { readonly name: string; readonly content: string | Uint8Array }[],
): Promise<void> {
  try {
    await mkdir(directory, { recursive: true });
    for (const { name, content } of files) await writeWhole(directory, name, content);
  } catch (error) {
    throw buildFailure(directory, [`it cannot be written: ${messageOf(error)}`], error);
  }
}

async function writeWhole(directory: string, name: string, content: string | Uint8Array): Promise<void> {
  // In the same folder, because a rename is atomic within one file system only.
  const temporary = join(directory, `.${name}.${randomUUID()}.tmp`);
  try {
    const file = await open(temporary, "wx");
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, join(directory, name));
  } finally {
    await rm(temporary, { force: true });
  }
}
