import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Loads the host from dist/, which is what users run: from sources, its threads and processes would load a compiler first. */
export async function loadBuiltHost(): Promise<typeof import("../index.ts")> {
  const entry = new URL("../../dist/index.js", import.meta.url);
  if (!existsSync(fileURLToPath(entry))) throw new Error("There is no dist/: npm run build makes it");
  return (await import(entry.href)) as typeof import("../index.ts");
}
