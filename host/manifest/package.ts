import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { HostError, type HostErrorCode, messageOf, quote } from "../errors/errors.ts";
import { packagePathProblem } from "./package-path.ts";
import { MAX_MANIFEST_BYTES, parseManifest, parseNativeManifest, parseSourceManifest } from "./parse.ts";
import type { Manifest, NativeManifest, SourceManifest } from "./shape.ts";

/** A built package on disk. */
export interface Package {
  /** The folder, with its links resolved. */
  readonly directory: string;
  readonly manifestPath: string;
  readonly manifest: Manifest;
}

const MANIFEST_NAME = "capability.json";

// A FIFO without a writer would block open() for ever, and a link could lead anywhere. Windows knows neither flag.
const SAFE_OPEN = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * The built package at `path`: its folder, or its capability.json. Reads the manifest only. Throws
 * AIRLOCK_MANIFEST_UNREADABLE (missing, no regular file, a link, too large, not UTF-8), AIRLOCK_MANIFEST_INVALID and
 * AIRLOCK_MANIFEST_ARTIFACT_TYPE.
 */
export function readPackage(path: string): Package {
  const manifestPath = manifestPathOf(path);
  const manifest = parseManifest(readManifestText(manifestPath), manifestPath);
  return Object.freeze({ directory: dirname(manifestPath), manifestPath, manifest });
}

/** The manifest of the native capability at `path`: its folder, or its capability.json. Throws as `readPackage` does. */
export function readNativeManifest(path: string): NativeManifest {
  const manifestPath = manifestPathOf(path);
  return parseNativeManifest(readManifestText(manifestPath), manifestPath);
}

/**
 * The source manifest at `path`, with its text as the author wrote it. Throws AIRLOCK_MANIFEST_UNREADABLE and
 * AIRLOCK_MANIFEST_INVALID.
 */
export function readSourceManifest(path: string): {
  readonly directory: string;
  readonly manifestPath: string;
  readonly text: string;
  readonly manifest: SourceManifest;
} {
  const manifestPath = manifestPathOf(path);
  const text = readManifestText(manifestPath);
  const manifest = parseSourceManifest(text, manifestPath);
  return Object.freeze({ directory: dirname(manifestPath), manifestPath, text, manifest });
}

/** What is known of files that were read before, by their real path. */
export interface KnownFiles {
  /** The bytes of the file, if it is the one that was read then; null where it has to be read. */
  recall(path: string, status: BigIntStats): Uint8Array | null;
  /** Hears what was read of a file that stayed the same meanwhile. */
  keep(path: string, status: BigIntStats, bytes: Uint8Array): void;
}

/**
 * The bytes of a file of a package, read once, or known; whoever hashes or compiles must use these. `relative` is the manifest's
 * `component`. No link is followed, neither the file nor a folder on the way. Throws
 * AIRLOCK_ADMISSION_BINARY_LOAD_FAILED, and AIRLOCK_ADMISSION_TOO_LARGE past `capBytes`.
 */
export function readComponentFile(
  directory: string,
  relative: string,
  capBytes: number,
  known?: KnownFiles,
): Uint8Array {
  const code = "AIRLOCK_ADMISSION_BINARY_LOAD_FAILED";
  const problem = packagePathProblem(relative);
  if (problem !== null) throw unreadable(code, "component", relative, problem);
  let root: string;
  try {
    root = realpathSync(directory);
  } catch (error) {
    throw unreadable(code, "package", directory, reasonOf(error), error);
  }
  const path = join(root, ...relative.split("/"));
  refuseLinks(root, relative, code);
  const place = (): BigIntStats => {
    // Again, now that the file is open: what was opened is what lies at that path without any link.
    refuseLinks(root, relative, code);
    return lstatSync(path, { bigint: true });
  };
  return readRegularFile(path, capBytes, "component", code, "AIRLOCK_ADMISSION_TOO_LARGE", { place, known });
}

function manifestPathOf(path: string): string {
  const code = "AIRLOCK_MANIFEST_UNREADABLE";
  const absolute = resolve(path);
  try {
    if (statSync(absolute).isDirectory()) return join(realpathSync(absolute), MANIFEST_NAME);
    return join(realpathSync(dirname(absolute)), basename(absolute));
  } catch (error) {
    throw unreadable(code, "package", path, reasonOf(error), error);
  }
}

function readManifestText(manifestPath: string): string {
  const code = "AIRLOCK_MANIFEST_UNREADABLE";
  const bytes = readRegularFile(manifestPath, MAX_MANIFEST_BYTES, "manifest", code, code);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw unreadable(code, "manifest", manifestPath, "it is not UTF-8 text", error);
  }
}

function refuseLinks(root: string, relative: string, code: HostErrorCode): void {
  const parts = relative.split("/");
  for (let length = 1; length <= parts.length; length++) {
    const step = join(root, ...parts.slice(0, length));
    try {
      if (!lstatSync(step).isSymbolicLink()) continue;
    } catch (error) {
      throw unreadable(code, "component", relative, reasonOf(error), error);
    }
    const which = length === parts.length ? "it" : `its folder ${quote(parts.slice(0, length).join("/"))}`;
    throw unreadable(code, "component", relative, `${which} is a link, a real one inside the package is wanted`);
  }
}

function readRegularFile(
  path: string,
  capBytes: number,
  what: string,
  code: HostErrorCode,
  tooLarge: HostErrorCode,
  { place, known }: { readonly place?: () => BigIntStats; readonly known?: KnownFiles | undefined } = {},
): Uint8Array {
  let descriptor: number;
  try {
    descriptor = openSync(path, SAFE_OPEN);
  } catch (error) {
    throw unreadable(code, what, path, reasonOf(error), error);
  }
  try {
    const status = fstatSync(descriptor, { bigint: true });
    if (!status.isFile()) {
      throw unreadable(code, what, path, `it is ${kindOf(status)}, a regular file is wanted`);
    }
    const lies = place?.();
    if (lies !== undefined && (lies.dev !== status.dev || lies.ino !== status.ino)) {
      throw unreadable(code, what, path, "it was replaced while it was read");
    }
    const recalled = known?.recall(path, status) ?? null;
    if (recalled !== null && recalled.length <= capBytes) return recalled;
    const bytes = readAtMost(descriptor, Number(status.size), capBytes);
    if (bytes === null) throw unreadable(tooLarge, what, path, `it is larger than ${capBytes} bytes`);
    const after = fstatSync(descriptor, { bigint: true });
    if (after.mtimeNs === status.mtimeNs && after.ctimeNs === status.ctimeNs) known?.keep(path, after, bytes);
    return bytes;
  } catch (error) {
    if (error instanceof HostError) throw error;
    throw unreadable(code, what, path, reasonOf(error), error);
  } finally {
    closeSync(descriptor);
  }
}

/** All bytes, or null when there are more than `cap`. The size is a hint only: a file can grow while it is read. */
function readAtMost(descriptor: number, sizeHint: number, cap: number): Uint8Array | null {
  if (sizeHint > cap) return null;
  let buffer = new Uint8Array(Math.min(sizeHint, cap) + 1);
  let length = 0;
  for (;;) {
    const count = readSync(descriptor, buffer, length, buffer.length - length, null);
    if (count === 0) return buffer.subarray(0, length);
    length += count;
    if (length > cap) return null;
    if (length === buffer.length) {
      const larger = new Uint8Array(Math.min(buffer.length * 2, cap + 1));
      larger.set(buffer);
      buffer = larger;
    }
  }
}

function unreadable(code: HostErrorCode, what: string, path: string, reason: string, cause?: unknown): HostError {
  return new HostError(code, `Cannot read the ${what} ${quote(path)}: ${reason}`, {
    details: { path, reason },
    ...(cause === undefined ? {} : { cause }),
  });
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "a part of the path is not a folder",
  EISDIR: "it is a folder, a regular file is wanted",
  ELOOP: "it is a link, a regular file is wanted",
  EMLINK: "it is a link, a regular file is wanted",
  EACCES: "permission is denied",
  EPERM: "permission is denied",
  // What opening a socket answers.
  ENXIO: "it is a device or a socket, a regular file is wanted",
};

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return REASONS[code] ?? messageOf(error);
}

function kindOf(status: { isDirectory(): boolean; isFIFO(): boolean }): string {
  if (status.isDirectory()) return "a folder";
  return status.isFIFO() ? "a pipe" : "no file";
}
