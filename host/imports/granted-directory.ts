import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  opendirSync,
  openSync,
  readlinkSync,
  readSync,
} from "node:fs";
import { type FilesystemError, filesystemErrorOf } from "./filesystem-error.ts";

/** What a directory holds under a name, in the words of `wasi:filesystem`. */
export type DescriptorType =
  | "block-device"
  | "character-device"
  | "directory"
  | "fifo"
  | "regular-file"
  | "socket"
  | "symbolic-link"
  | "unknown";

/** Something that was found in the directory: the way to it without links, and which object it was. */
export interface Entry {
  readonly names: readonly string[];
  readonly type: DescriptorType;
  readonly stats: BigIntStats;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly type: DescriptorType;
}

/** Entries of one directory that can be listed. */
export const MOST_DIRECTORY_ENTRIES = 16_384;

const LONGEST_PATH = 4_096;
const DEEPEST = 64;
const MOST_LINKS = 40;

// Linux: a descriptor that only names an object. Opening one has no effect on a FIFO or a device. Node does not name it.
const O_PATH = 0o10000000;
const NAME_ONLY = O_PATH | constants.O_NOFOLLOW;

/** Why this machine cannot hold a guest inside a directory, or null. It takes Linux and a mounted /proc. */
export function grantProblem(): string | null {
  if (process.platform !== "linux") return `a directory can be granted on Linux only, not on ${process.platform}`;
  try {
    closeSync(openSync("/proc/self/fd", O_PATH | constants.O_DIRECTORY));
    return null;
  } catch {
    return "a directory can be granted only where /proc is mounted";
  }
}

/**
 * One directory, read only. A path is walked name by name from an open directory, so what is swapped for a link meanwhile
 * is not followed; a link is followed by walking its text, under the same rules, never by the system. Nothing stays open
 * between calls. Only regular files are read. Throws error codes of `wasi:filesystem`, and nothing else.
 *
 * What a hard link or a mount inside the directory leads to counts as inside.
 */
export class GrantedDirectory {
  readonly #root: string;
  readonly #pay: (steps: number) => void;

  /** `pay` is called for every name that is looked up or listed. */
  constructor(root: string, pay: (steps: number) => void) {
    this.#root = root;
    this.#pay = pay;
  }

  root(): Entry {
    return this.#walk(null, "", false, (_, entry) => entry);
  }

  /** What `path` leads to from the directory `base`. A link at the end is followed, or found itself. */
  find(base: Entry, path: string, followLast: boolean): Entry {
    return this.#walk(base, path, followLast, (_, entry) => entry);
  }

  /** The same object as it is now; `no-entry` when another has taken its place. */
  again(entry: Entry): Entry {
    return this.#walk(entry, "", false, (_, found) => found);
  }

  /** At most `length` bytes of a regular file, and whether the file ends there. */
  read(file: Entry, offset: bigint, length: number): { readonly bytes: Uint8Array; readonly end: boolean } {
    return this.#walk(file, "", false, (place, { type, stats }) => {
      if (type === "directory") throw "is-directory" satisfies FilesystemError;
      if (type !== "regular-file") throw "not-permitted" satisfies FilesystemError;
      if (offset > BigInt(Number.MAX_SAFE_INTEGER)) return { bytes: new Uint8Array(), end: true };
      const buffer = new Uint8Array(length);
      const read = whileOpen(place, constants.O_RDONLY | constants.O_NONBLOCK, (fd) =>
        readSync(fd, buffer, 0, length, Number(offset)),
      );
      return { bytes: buffer.subarray(0, read), end: read < length || offset + BigInt(read) >= stats.size };
    });
  }

  /** What a directory holds, by name. `overflow` when that is more than MOST_DIRECTORY_ENTRIES. */
  list(directory: Entry): readonly DirectoryEntry[] {
    return this.#walk(directory, "", false, (place, { type }) => {
      if (type !== "directory") throw "not-directory" satisfies FilesystemError;
      const entries: DirectoryEntry[] = [];
      const listing = opendirSync(place, { bufferSize: 256 });
      try {
        for (let next = listing.readSync(); next !== null; next = listing.readSync()) {
          if (entries.length === MOST_DIRECTORY_ENTRIES) throw "overflow" satisfies FilesystemError;
          this.#pay(1);
          entries.push({ name: next.name, type: typeOf(next) });
        }
      } finally {
        listing.closeSync();
      }
      return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    });
  }

  /** The text of a link. */
  readLink(base: Entry, path: string): string {
    return this.#walk(base, path, false, (_, { type, names }, parent) => {
      if (type !== "symbolic-link") throw "invalid" satisfies FilesystemError;
      return relativeText(`${parent}/${names.at(-1)}`);
    });
  }

  /** Walks from the root to `base` without following anything, then along `path`, and never above `base` again. */
  #walk<T>(
    base: Entry | null,
    path: string,
    followLast: boolean,
    use: (place: string, found: Entry, parent: string) => T,
  ): T {
    if (path.length > LONGEST_PATH) throw "name-too-long" satisfies FilesystemError;
    if (path.includes("\0")) throw "invalid" satisfies FilesystemError;
    if (path.startsWith("/")) throw "not-permitted" satisfies FilesystemError;
    const open: Step[] = [];
    try {
      this.#pay(1);
      open.push(step(this.#root, O_PATH | constants.O_DIRECTORY, ""));
      for (const name of base?.names ?? []) this.#enter(open, name);
      if (base !== null && !isSame(last(open).stats, base.stats)) throw "no-entry" satisfies FilesystemError;
      if (path !== "") this.#follow(open, path, followLast);
      const { fd, stats } = last(open);
      const found = { names: open.slice(1).map(({ name }) => name), type: typeOf(stats), stats };
      return use(placeOf(fd), found, placeOf((open.at(-2) ?? last(open)).fd));
    } catch (thrown) {
      throw filesystemErrorOf(thrown);
    } finally {
      for (const { fd } of open) closeSync(fd);
    }
  }

  #follow(open: Step[], path: string, followLast: boolean): void {
    const floor = open.length;
    const ahead = path.split("/").reverse();
    let links = 0;
    for (let name = ahead.pop(); name !== undefined; name = ahead.pop()) {
      if (typeOf(last(open).stats) !== "directory") throw "not-directory" satisfies FilesystemError;
      if (name === "" || name === ".") continue;
      if (name === "..") {
        if (open.length === floor) throw "not-permitted" satisfies FilesystemError;
        closeSync(open.pop()!.fd);
        continue;
      }
      const parent = placeOf(last(open).fd);
      this.#enter(open, name);
      if (typeOf(last(open).stats) !== "symbolic-link" || (ahead.length === 0 && !followLast)) continue;
      closeSync(open.pop()!.fd);
      links += 1;
      if (links > MOST_LINKS) throw "loop" satisfies FilesystemError;
      ahead.push(...relativeText(`${parent}/${name}`).split("/").reverse());
    }
  }

  #enter(open: Step[], name: string): void {
    this.#pay(1);
    if (open.length > DEEPEST) throw "name-too-long" satisfies FilesystemError;
    open.push(step(`${placeOf(last(open).fd)}/${name}`, NAME_ONLY, name));
  }
}

interface Step {
  readonly fd: number;
  readonly name: string;
  readonly stats: BigIntStats;
}

function step(place: string, flags: number, name: string): Step {
  const fd = openSync(place, flags);
  try {
    return { fd, name, stats: fstatSync(fd, { bigint: true }) };
  } catch (thrown) {
    closeSync(fd);
    throw thrown;
  }
}

/** The one path that leads to an open object whatever happens to its name. */
function placeOf(fd: number): string {
  return `/proc/self/fd/${fd}`;
}

function whileOpen<T>(place: string, flags: number, use: (fd: number) => T): T {
  const fd = openSync(place, flags);
  try {
    return use(fd);
  } finally {
    closeSync(fd);
  }
}

/** An absolute link leads out, and its text tells about the machine. */
function relativeText(place: string): string {
  const text = readlinkSync(place);
  if (text.startsWith("/")) throw "not-permitted" satisfies FilesystemError;
  return text;
}

function last(open: readonly Step[]): Step {
  return open[open.length - 1]!;
}

function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}

function typeOf(
  of: Pick<
    BigIntStats,
    "isFile" | "isDirectory" | "isSymbolicLink" | "isFIFO" | "isSocket" | "isCharacterDevice" | "isBlockDevice"
  >,
): DescriptorType {
  if (of.isFile()) return "regular-file";
  if (of.isDirectory()) return "directory";
  if (of.isSymbolicLink()) return "symbolic-link";
  if (of.isFIFO()) return "fifo";
  if (of.isSocket()) return "socket";
  if (of.isCharacterDevice()) return "character-device";
  if (of.isBlockDevice()) return "block-device";
  return "unknown";
}
