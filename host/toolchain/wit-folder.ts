import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SourceManifest } from "../manifest/manifest.ts";
import { buildFailure } from "./build-failure.ts";
import { OWN_FOLDER, OWN_PACKAGE, type WitFile } from "./wit-files.ts";
import { withoutComments } from "./wit-syntax.ts";

/** WIT as the engine takes it. */
export interface WitFolder {
  readonly path: string;
  /** What the engine says of this WIT, as a line about the author's files; null for what is not about WIT. */
  readonly explain: (message: string) => string | null;
}

/** The way into every component that we build. */
export const HANDLER = `${OWN_PACKAGE}/handler@1.0.0`;
const INCLUDE = `\`include ${OWN_PACKAGE}/capability@1.0.0;\``;
export const NO_HANDLER = `wit: the world does not export ${HANDLER}: ${INCLUDE} is wanted in it`;

/** The world of a capability without WIT of its own: that of its service type, with what its grants let it import. */
export function worldOf({ serviceType, grants }: Pick<SourceManifest, "serviceType" | "grants">): readonly WitFile[] {
  const worlds = ["capability"];
  if (serviceType === "subscribable") worlds.push("subscribable");
  if ((grants.invoke ?? []).length > 0) worlds.push("composite");
  if ((grants.connectors ?? []).length > 0) worlds.push("connected");
  const includes = worlds.map((world) => `  include ${OWN_PACKAGE}/${world}@1.0.0;\n`).join("");
  return [{ path: "wit/world.wit", text: `package airlock:built;\n\nworld built {\n${includes}}\n` }];
}

/** Puts WIT files and our package together in a folder, which is gone when `use` has settled, whichever way. */
export async function withWitFolder<T>(files: readonly WitFile[], use: (folder: WitFolder) => Promise<T>): Promise<T> {
  const path = mkdtempSync(join(tmpdir(), "airlock-wit-"));
  try {
    for (const file of files) {
      const target = join(path, file.path.slice("wit/".length));
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, file.text);
    }
    cpSync(contract(), join(path, "deps", OWN_FOLDER), { recursive: true });
    return await use({ path, explain: (message) => explain(message.replaceAll(path, "wit"), files) });
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
}

/** The contract, as it lies beside both `host/` and `dist/`. */
function contract(): string {
  const folder = fileURLToPath(new URL("../../wit/capability", import.meta.url));
  if (!existsSync(folder)) throw buildFailure(folder, [`the WIT of ${OWN_PACKAGE} is not in the installed package`]);
  return folder;
}

function explain(message: string, files: readonly WitFile[]): string | null {
  const line = message.replace(/\s+/g, " ");
  const none = /^The main package `(.+)` contains no worlds/.exec(line);
  if (none !== null) {
    return `wit: the package ${none[1]} has no world: one that says ${INCLUDE} is wanted`;
  }
  const several = /^There are multiple worlds in `(.+)`; one must be explicitly chosen: (.+)$/.exec(line);
  if (several !== null) {
    return `wit: the package ${several[1]} has several worlds (${several[2]!.split(" ").join(", ")}): one is wanted`;
  }
  const unresolved = /^failed to resolve directory while parsing WIT for path \[wit\]: (.+)$/.exec(line);
  if (unresolved === null) {
    // A world without any export makes the engine trap before it can say so.
    return files.some(({ text }) => withoutComments(text).includes(`${OWN_PACKAGE}/`)) ? null : NO_HANDLER;
  }
  const [, within, problem] = /^(?:.*failed to parse package: (wit[^:]*): )?(.+)$/.exec(unresolved[1]!)!;
  return `${placeOf(problem!, within, files)}: ${problem}`;
}

/** The engine does not say where a name is that it does not know: the line, when only one has it; else the package. */
function placeOf(problem: string, within: string | undefined, files: readonly WitFile[]): string {
  const name = /^\w* ?[`'"]([^`'"@]+)[^`'"]*[`'"] (?:does not exist|not found)/.exec(problem)?.[1];
  if (name === undefined) return within ?? "wit";
  const word = new RegExp(`(?<![\\w-])${name.replace(/[^\w]/g, "\\$&")}(?![\\w-])`);
  const places = files
    .filter(({ path }) => within === undefined || path === within || dirname(path) === within)
    .flatMap(({ path, text }) =>
      withoutComments(text)
        .split("\n")
        .flatMap((line, index) => (word.test(line) ? [`${path}:${index + 1}`] : [])),
    );
  return places.length === 1 ? places[0]! : (within ?? "wit");
}
