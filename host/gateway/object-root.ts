import { createHash } from "node:crypto";
import { type BigIntStats, closeSync, constants, fstatSync, fsyncSync, mkdirSync, openSync, type Stats } from "node:fs";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { resolve } from "node:path";
import { HostError, messageOf, quote } from "../errors/errors.ts";
import { ConnectorError } from "./connector.ts";

// A link in the place of a directory is not followed. Windows knows neither flag.
const DIRECTORY = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);
const OTHERS_ANYTHING = 0o077;

/** The folder of one capability while it is held open. */
export interface OpenFolder {
  readonly handle: FileHandle;
  /** The way to it that no swap of a name can turn elsewhere. Outside of Linux: its path. */
  readonly place: string;
}

/**
 * The directory of an object store, held open from its making to `close`, so that nothing that is put in the place of its name is ever entered.
 * Each capability has a folder in it, named by the digest of its id.
 */
export class ObjectRoot {
  readonly #descriptor: number;
  readonly #place: string;
  #users = 0;
  #closing: (() => void) | null = null;
  #closed: Promise<void> | null = null;

  /** Makes the directory where it is missing. Throws AIRLOCK_GATEWAY_CONNECTOR_INVALID for a link, or one that other users can enter. */
  constructor(directory: string) {
    const path = resolve(directory);
    try {
      mkdirSync(path, { recursive: true, mode: 0o700 });
      this.#descriptor = openSync(path, DIRECTORY);
    } catch (thrown) {
      throw unusable(path, `cannot be opened as a directory: ${messageOf(thrown)}`, thrown);
    }
    this.#place = placeOf(this.#descriptor, path);
    const problem = ownerProblem(fstatSync(this.#descriptor));
    if (problem === null) return;
    closeSync(this.#descriptor);
    throw unusable(path, problem);
  }

  /** Works in the folder of a capability, which is made first or else is null where it is missing. Throws `unsafe-storage`. */
  async within<T>(capabilityId: string, make: boolean, work: (folder: OpenFolder | null) => Promise<T>): Promise<T> {
    if (this.#closed !== null) throw new ConnectorError("closed", "The object store is closed");
    // The number of a closed descriptor goes to the next file that is opened, whatever that is.
    this.#users += 1;
    try {
      const path = `${this.#place}/${createHash("sha256").update(capabilityId).digest("hex")}`;
      if (make) await this.#make(path);
      const handle = await openFolder(path);
      if (handle === null) return await work(null);
      try {
        if (ownerProblem(await handle.stat()) !== null) throw unsafeStorage();
        return await work({ handle, place: placeOf(handle.fd, path) });
      } finally {
        await handle.close();
      }
    } finally {
      this.#users -= 1;
      if (this.#users === 0) this.#closing?.();
    }
  }

  /** Waits for those who work in it. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= new Promise<void>((done) => {
      this.#closing = () => {
        this.#closing = null;
        closeSync(this.#descriptor);
        done();
      };
      if (this.#users === 0) this.#closing();
    });
    return this.#closed;
  }

  async #make(path: string): Promise<void> {
    try {
      await mkdir(path, { mode: 0o700 });
      fsyncSync(this.#descriptor);
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw thrown;
    }
  }
}

/** Something stands where the store's own files and folders do, and is none of them. */
export function unsafeStorage(): ConnectorError {
  return new ConnectorError("unsafe-storage", "The store holds something that it did not make, and does not touch it");
}

function placeOf(descriptor: number, path: string): string {
  return process.platform === "linux" ? `/proc/self/fd/${descriptor}` : path;
}

async function openFolder(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, DIRECTORY);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === "ENOENT") return null;
    if (code === "ELOOP" || code === "ENOTDIR") throw unsafeStorage();
    throw thrown;
  }
}

/** Windows has neither owners nor bits that Node could show. */
function ownerProblem({ uid, mode }: Pick<Stats | BigIntStats, "uid" | "mode">): string | null {
  const user = process.geteuid?.();
  if (user === undefined) return null;
  if (Number(uid) !== user) return `belongs to user ${uid}, and this process is user ${user}`;
  if ((Number(mode) & OTHERS_ANYTHING) === 0) return null;
  return `has mode ${(Number(mode) & 0o777).toString(8).padStart(3, "0")}: other users must not have any access (700)`;
}

function unusable(path: string, why: string, cause?: unknown): HostError {
  return new HostError(
    "AIRLOCK_GATEWAY_CONNECTOR_INVALID",
    `Cannot make the connector: directory ${quote(path, 300)} ${why}; a directory of this user's own, and no link, is wanted`,
    { cause },
  );
}
