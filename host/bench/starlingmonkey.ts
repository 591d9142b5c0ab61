import { createHash } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PROGRAM, PROGRAM_WIT } from "./program.ts";

/** The package that builds components with the JavaScript engine StarlingMonkey, in the exact version. */
export const COMPONENTIZE_JS = { name: "@bytecodealliance/componentize-js", version: "0.23.0" } as const;

/** Without these, the engine imports nothing: the program needs neither of them. */
export const DISABLED_FEATURES = ["stdio", "random", "clocks", "http", "fetch-event"] as const;

/** Outside node_modules proper, so that `npm ci` and the lock file know nothing of it: the package takes 400 MB. */
export const STARLINGMONKEY_FOLDER = fileURLToPath(
  new URL("../../node_modules/.cache/airlock-starlingmonkey", import.meta.url),
);

/** The component, named after what it is built from: an older one is not taken for it. */
export const STARLINGMONKEY_PATH = join(STARLINGMONKEY_FOLDER, `${buildId()}.wasm`);

function buildId(): string {
  const from = JSON.stringify([COMPONENTIZE_JS, DISABLED_FEATURES, PROGRAM_WIT, PROGRAM]);
  return createHash("sha256").update(from).digest("hex").slice(0, 16);
}
