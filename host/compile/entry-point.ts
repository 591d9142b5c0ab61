import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { HostError } from "../errors/errors.ts";

/** A file that runs on its own in a thread or a process, and the flags of Node that it needs. */
export interface EntryPoint {
  readonly file: string;
  readonly execArgv: readonly string[];
}

/**
 * Finds the file of a thread or process. `from` is the asking module's `import.meta.url`, `room` and `name` say which file;
 * the room `.` is the host's own folder.
 * Three places, in this order: beside the asking module as source (run through tsx), beside it as built code, and in the
 * installed package, for an application that was bundled into one file. Throws AIRLOCK_POOL_WORKER_MISSING.
 */
export function findEntryPoint(from: string, room: string, name: string): EntryPoint {
  const beside = dirname(fileURLToPath(from));
  const source = join(beside, `${name}.ts`);
  if (from.endsWith(".ts") && existsSync(source)) {
    const tsx = createRequire(from).resolve("tsx");
    return { file: source, execArgv: ["--import", pathToFileURL(tsx).href] };
  }
  const candidates = [join(beside, `${name}.js`)];
  for (const root of [from, pathToFileURL(join(process.cwd(), "package.json")).href]) {
    try {
      candidates.push(join(dirname(createRequire(root).resolve("airlock/package.json")), "dist", room, `${name}.js`));
    } catch {
      // Not installed as seen from there.
    }
  }
  const file = candidates.find((candidate) => existsSync(candidate) && isThisRoom(candidate, room));
  if (file === undefined) {
    throw new HostError(
      "AIRLOCK_POOL_WORKER_MISSING",
      `Cannot find ${room}/${name}.js, tried ${candidates.join(", ")}: keep the package airlock installed beside a bundled application`,
    );
  }
  return { file, execArgv: [] };
}

/** A bundle may stand beside an unrelated file of the same name. */
function isThisRoom(file: string, room: string): boolean {
  return basename(dirname(file)) === (room === "." ? "dist" : room);
}
