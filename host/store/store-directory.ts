import { closeSync, constants, fchmodSync, lstatSync, mkdirSync, openSync, realpathSync, type Stats } from "node:fs";
import { join } from "node:path";
import { HostError, messageOf, quote } from "../errors/errors.ts";

/** The database's name; SQLite puts its own files beside it, under this name and a suffix. */
const FILE = "airlock.db";
const SIDE_FILES = ["-wal", "-shm", "-journal"];
const OTHERS_ANYTHING = 0o077;
const SAFE_CREATE = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/** The directory of a store, which is this user's alone, and the database in it. */
export interface StoreDirectory {
  /** The real path. */
  readonly path: string;
  /** It is there, perhaps empty. */
  readonly file: string;
}

/**
 * Makes the directory and an empty database where they are missing. Throws AIRLOCK_STORE_UNSAFE where a link leads out of it, or
 * another user could have read or written it or a file of the store, and AIRLOCK_STORE_UNAVAILABLE for what the file system refuses.
 */
export function openStoreDirectory(directory: string): StoreDirectory {
  try {
    if (lstatSync(directory, { throwIfNoEntry: false }) === undefined)
      mkdirSync(directory, { recursive: true, mode: 0o700 });
    const found = lstatSync(directory);
    if (found.isSymbolicLink()) throw unsafe(directory, "is a symbolic link");
    if (!found.isDirectory()) throw unsafe(directory, "is no directory");
    checkOwner(directory, found);
    // Links further up are the system's own affair, but SQLite is not to follow them anew for each of its files.
    const path = realpathSync(directory);
    const file = join(path, FILE);
    for (const suffix of SIDE_FILES) checkFile(`${file}${suffix}`);
    if (!checkFile(file)) makeFile(file);
    return { path, file };
  } catch (thrown) {
    if (thrown instanceof HostError) throw thrown;
    throw new HostError(
      "AIRLOCK_STORE_UNAVAILABLE",
      `Cannot open the store in ${quote(directory, 300)}: ${messageOf(thrown)}`,
      { cause: thrown },
    );
  }
}

/**
 * Whether the file is there; one that is must be this user's alone, and have no other name. It is looked at and never opened: a process
 * that closes any descriptor of a database loses the locks that SQLite has on it, and so could another store of this process.
 * SQLite itself opens all of its files with O_NOFOLLOW, and nobody else can write to the directory. https://sqlite.org/howtocorrupt.html
 */
function checkFile(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return false;
  if (stats.isSymbolicLink()) throw unsafe(path, "is a symbolic link");
  if (!stats.isFile()) throw unsafe(path, "is no regular file");
  if (stats.nlink > 1) throw unsafe(path, `has ${stats.nlink} names (hard links)`);
  checkOwner(path, stats);
  return true;
}

/** SQLite would make it with the modes that the umask leaves. Those beside it get the mode that it has. */
function makeFile(path: string): void {
  let descriptor: number;
  try {
    descriptor = openSync(path, SAFE_CREATE, 0o600);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw thrown;
    // Another process was faster, and may have been anybody.
    checkFile(path);
    return;
  }
  try {
    fchmodSync(descriptor, 0o600);
  } finally {
    // Nobody in this process has the file open yet, so that no lock is lost.
    closeSync(descriptor);
  }
}

/** The sticky bit: whoever may write there may not take away what others have written. */
const SHARED = 0o1000;

/** Windows has neither owners nor bits that Node could show: there the directory's own list of rights is all there is. */
function checkOwner(path: string, { uid, mode }: Stats): void {
  const user = process.geteuid?.();
  if (user === undefined) return;
  if (uid !== user) throw unsafe(path, `belongs to user ${uid}, and this process is user ${user}`);
  if ((mode & OTHERS_ANYTHING) !== 0) {
    const bits = (mode & 0o777).toString(8).padStart(3, "0");
    // Whoever shut others out of /tmp would have broken more than this.
    const remedy = (mode & SHARED) === 0 ? "chmod go= shuts them out" : "it is shared, name one of its own below it";
    throw unsafe(path, `has mode ${bits}: other users must not have any access (${remedy})`);
  }
}

function unsafe(path: string, why: string): HostError {
  return new HostError(
    "AIRLOCK_STORE_UNSAFE",
    `Cannot open the store: ${quote(path, 300)} ${why}; a directory of this user's own, and files that are its own, are wanted`,
  );
}
