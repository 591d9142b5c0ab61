import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { HostError, quote } from "../errors/errors.ts";

/** A directory that only this user can write to, and the secret with which its files are authenticated. */
export interface CacheDirectory {
  /** The real path. */
  readonly path: string;
  readonly secret: Buffer;
}

const SECRET_FILE = "airlock.secret";
const SECRET_BYTES = 32;
const OTHERS_WRITE = 0o022;
const OTHERS_ANYTHING = 0o077;
// A FIFO without a writer would block open() for ever, and a link could lead anywhere. Windows knows neither flag.
const SAFE_READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const SAFE_CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/**
 * Opens the directory, and makes it and its secret where they are missing. Throws AIRLOCK_COMPILE_CACHE_UNSAFE where another user
 * could have written either, or could have read the secret; what the file system refuses passes through.
 */
export function openCacheDirectory(directory: string): CacheDirectory {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = realpathSync(directory);
  checkOwner(path, statSync(path), OTHERS_WRITE);
  return { path, secret: readSecret(path) ?? makeSecret(path) };
}

function readSecret(directory: string): Buffer | null {
  const path = join(directory, SECRET_FILE);
  let descriptor: number;
  try {
    descriptor = openSync(path, SAFE_READ);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === "ENOENT") return null;
    if (code === "ELOOP") throw unsafe(path, "is a symbolic link");
    throw thrown;
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw unsafe(path, "is no regular file");
    checkOwner(path, stats, OTHERS_ANYTHING);
    // A secret cut short would be a weak one: its length is part of what is checked.
    const secret = Buffer.alloc(SECRET_BYTES);
    if (stats.size !== SECRET_BYTES || readSync(descriptor, secret) !== SECRET_BYTES)
      throw unsafe(path, `holds ${stats.size} bytes and not ${SECRET_BYTES}`);
    return secret;
  } finally {
    closeSync(descriptor);
  }
}

/** Whoever comes first wins. The name appears with all the bytes behind it, so that no process ever reads half a secret. */
function makeSecret(directory: string): Buffer {
  const draft = join(directory, `.${SECRET_FILE}-${randomBytes(12).toString("hex")}`);
  const descriptor = openSync(draft, SAFE_CREATE, 0o600);
  try {
    try {
      writeSync(descriptor, randomBytes(SECRET_BYTES));
    } finally {
      closeSync(descriptor);
    }
    linkSync(draft, join(directory, SECRET_FILE));
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw thrown;
  } finally {
    unlinkSync(draft);
  }
  const secret = readSecret(directory);
  if (secret === null) throw unsafe(join(directory, SECRET_FILE), "was removed while it was made");
  return secret;
}

/** Windows has neither owners nor bits that Node could show: there the directory's own list of rights is all there is. */
function checkOwner(path: string, { uid, mode }: Stats, forbidden: number): void {
  const user = process.geteuid?.();
  if (user === undefined) return;
  if (uid !== user) throw unsafe(path, `belongs to user ${uid}, and this process is user ${user}`);
  if ((mode & forbidden) !== 0) {
    const bits = (mode & 0o777).toString(8).padStart(3, "0");
    throw unsafe(
      path,
      `has mode ${bits}: other users must not have ${forbidden === OTHERS_WRITE ? "write" : "any"} access`,
    );
  }
}

function unsafe(path: string, why: string): HostError {
  return new HostError(
    "AIRLOCK_COMPILE_CACHE_UNSAFE",
    `Cannot use the cache directory: ${quote(path, 300)} ${why}; a directory of this user's own is wanted`,
  );
}
