import { lstatSync, readdirSync, readFileSync, type Stats } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../errors/errors.ts";
import { buildFailure } from "./build-failure.ts";
import { syntaxProblem, withoutComments } from "./wit-syntax.ts";

/** A file of the capability's own WIT. */
export interface WitFile {
  /** Relative to the source folder, with forward slashes: `wit/deps/acme-crm/lookup.wit`. */
  readonly path: string;
  readonly text: string;
}

/** All of WASI 0.2 is a third of it. */
const MAX_WIT_BYTES = 1024 * 1024;
const MAX_WIT_FILES = 256;

/** What we bring, and where it goes. */
export const OWN_PACKAGE = "airlock:capability";
export const OWN_FOLDER = "airlock-capability";

/**
 * The WIT in the source folder's `wit/`, or null when it has none: the files of one package, and below `deps/` those of
 * the packages that it needs, each in a folder or in one file. Files of other kinds are not looked at. Throws
 * AIRLOCK_TOOLCHAIN_BUILD_FAILED for links, for too much, for our own package and for what does not parse.
 */
export async function readWitFiles(directory: string): Promise<readonly WitFile[] | null> {
  const root = kindOf(directory, "wit");
  if (root === null) return null;
  if (!root.isDirectory()) throw buildFailure(directory, ["wit is a file: a folder with *.wit files is wanted"]);

  const paths = listed(directory);
  if (!paths.some((path) => path.lastIndexOf("/") === "wit".length)) {
    throw buildFailure(directory, ["wit has no *.wit file of its own: a package with one world is wanted"]);
  }
  const files = read(directory, paths);

  const problems: string[] = [];
  for (const { path, text } of files) {
    const syntax = await syntaxProblem(text);
    if (syntax !== null) problems.push(`${path}:${syntax.line}: ${syntax.text}`);
  }
  const ours = files.find(isOurs);
  if (ours !== undefined) {
    problems.push(
      `${ours.path}: the package ${OWN_PACKAGE} comes with the toolchain and must not be in wit, remove it`,
    );
  }
  if (problems.length > 0) throw buildFailure(directory, problems);
  return files;
}

/** Everything that the engine would read, in one order on every machine. */
function listed(directory: string): readonly string[] {
  const files: string[] = [];
  const walk = (folder: string, depth: number): void => {
    for (const name of readdirSync(join(directory, folder)).sort()) {
      const path = `${folder}/${name}`;
      const isFolder = kindOf(directory, path)?.isDirectory() === true;
      if (!isFolder && name.endsWith(".wit")) files.push(path);
      if (!isFolder) continue;
      if (depth === 2 || (depth === 0 && name !== "deps")) {
        throw buildFailure(directory, [`${path} is a folder: folders are wit/deps and, in it, one for each package`]);
      }
      walk(path, depth + 1);
    }
  };
  walk("wit", 0);
  if (files.length > MAX_WIT_FILES) {
    throw buildFailure(directory, [`wit has ${files.length} files: at most ${MAX_WIT_FILES} are wanted`]);
  }
  return files;
}

function read(directory: string, paths: readonly string[]): readonly WitFile[] {
  let bytes = 0;
  for (const path of paths) bytes += kindOf(directory, path)?.size ?? 0;
  if (bytes > MAX_WIT_BYTES) {
    throw buildFailure(directory, [`wit has ${bytes} bytes: at most ${MAX_WIT_BYTES} are wanted`]);
  }
  return paths.map((path) => {
    try {
      return { path, text: new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(join(directory, path))) };
    } catch (error) {
      throw buildFailure(directory, [`${path} cannot be read as text: ${messageOf(error)}`], error);
    }
  });
}

/** Null for what is not there. A link would make the component depend on what lies outside of the source folder. */
function kindOf(directory: string, path: string): Stats | null {
  const stats = lstatSync(join(directory, path), { throwIfNoEntry: false });
  if (stats === undefined) return null;
  if (stats.isSymbolicLink()) throw buildFailure(directory, [`${path} is a symbolic link: a file or folder is wanted`]);
  if (!stats.isFile() && !stats.isDirectory()) throw buildFailure(directory, [`${path} is no regular file`]);
  return stats;
}

function isOurs({ path, text }: WitFile): boolean {
  const declared = new RegExp(`(?:^|[\\s;}])package\\s+${OWN_PACKAGE}(?![\\w-])`);
  return path.split("/")[2]?.replace(/\.wit$/, "") === OWN_FOLDER || declared.test(withoutComments(text));
}
