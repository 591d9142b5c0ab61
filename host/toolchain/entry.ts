import { existsSync } from "node:fs";
import { join } from "node:path";
import { buildFailure } from "./build-failure.ts";

const ENTRIES = ["src/capability.ts", "src/capability.js", "capability.ts", "capability.js"];

/** The entry of the source folder, relative to it: the first of the names by convention that is there. */
export function entryOf(directory: string): string {
  const entry = ENTRIES.find((name) => existsSync(join(directory, name)));
  if (entry === undefined) throw buildFailure(directory, [`there is no entry, ${ENTRIES.join(" or ")} is wanted`]);
  return entry;
}
