import { createHash, randomBytes } from "node:crypto";
import { channel } from "node:diagnostics_channel";
import { constants } from "node:fs";
import { type FileHandle, lstat, open, readdir, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import v8 from "node:v8";
import { isHostError, messageOf } from "../errors/errors.ts";
import { type CacheDirectory, openCacheDirectory } from "./cache-directory.ts";
import { SEAL_BYTES, seal, unseal } from "./sealed-file.ts";

/** Where results are kept between processes, and how many bytes of them. */
export interface DiskCacheOptions {
  readonly directory: string;
  readonly bytes: number;
}

/** Counters of the disk cache since the host started. */
export interface DiskCacheStats {
  readonly hits: number;
  /** Not there, or not what was kept there: `rejected` of them. */
  readonly misses: number;
  /** Files that were not authentic, or no files, and were removed. */
  readonly rejected: number;
}

/** A kept result was not authentic: `{ file, why }`. */
const rejections = channel("airlock:compile:cache-rejected");
/** The directory cannot be used, or not be written to, and the host goes on without it: `{ directory, problem }`, once a host. */
const troubles = channel("airlock:compile:cache-unusable");

const SUFFIX = ".airlock";
// Exact: whatever else lies in the directory is not the cache's to remove.
const ENTRY = /^[0-9a-f]{64}\.airlock$/;
const DRAFT = /^\.([0-9a-f]{64}|airlock)\.(airlock|secret)-[0-9a-f]{24}$/;
/** A draft of this age has lost its process. */
const DRAFT_AGE_MS = 10 * 60_000;
/** No result comes near it; a file that does is not read. */
const MOST_ENTRY_BYTES = 2 ** 30;
/** What is left after a sweep, of the bound: not every write is to sweep again. */
const KEEP = 7 / 8;
/** Other processes write too: the directory is looked at again whenever this one has written so much of the bound. */
const LOOK_AGAIN = 1 / 16;
// A FIFO without a writer would block open() for ever, and a link could lead anywhere. Windows knows neither flag.
const SAFE_READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const SAFE_CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/**
 * Results in files, for this process and others at the same time. A file is named by all that its value was made from, is only
 * believed when it was sealed under that name with the directory's secret, and is never changed: it appears whole and
 * disappears whole. Whatever goes wrong with one is a miss.
 */
export class DiskCache {
  readonly #options: DiskCacheOptions;
  readonly #maker: string;
  readonly #directory: CacheDirectory | null;
  readonly #writes = new Set<Promise<void>>();
  #warned = false;
  /** Written since the directory was last looked at; null when it never was. */
  #written: number | null = null;
  #hits = 0;
  #misses = 0;
  #rejected = 0;

  /** `maker` names the code that makes the values and reads them. Throws AIRLOCK_COMPILE_CACHE_UNSAFE. */
  constructor(options: DiskCacheOptions, maker: string) {
    this.#options = options;
    this.#maker = maker;
    this.#directory = this.#open();
  }

  /** What was kept under the key, or undefined; also when `check`, which sees nothing that is not authentic, throws. */
  async get(key: string, check: (value: unknown) => void = () => {}): Promise<unknown> {
    const value = await this.#read(key, check);
    if (value === undefined) this.#misses++;
    else this.#hits++;
    return value;
  }

  /** Keeps a value, in the background. */
  put(key: string, value: unknown): void {
    const write = this.#write(key, value)
      .catch((thrown: unknown) => this.#warn(messageOf(thrown)))
      .finally(() => this.#writes.delete(write));
    this.#writes.add(write);
  }

  stats(): DiskCacheStats {
    return { hits: this.#hits, misses: this.#misses, rejected: this.#rejected };
  }

  /** Resolves when all that was put is written. */
  async flush(): Promise<void> {
    await Promise.all(this.#writes);
  }

  #open(): CacheDirectory | null {
    try {
      return openCacheDirectory(this.#options.directory);
    } catch (thrown) {
      if (isHostError(thrown)) throw thrown;
      this.#warn(messageOf(thrown));
      return null;
    }
  }

  #nameOf(key: string): string {
    return createHash("sha256").update(`${this.#maker}\n${key}`).digest("hex") + SUFFIX;
  }

  async #read(key: string, check: (value: unknown) => void): Promise<unknown> {
    if (this.#directory === null) return undefined;
    const name = this.#nameOf(key);
    const path = join(this.#directory.path, name);
    let file: FileHandle;
    try {
      file = await open(path, SAFE_READ);
    } catch (thrown) {
      const { code } = thrown as NodeJS.ErrnoException;
      if (code === "ELOOP" || code === "ENXIO") return await this.#reject(path, "it is a link or a socket");
      // Never kept, or removed by another process just now.
      if (code !== "ENOENT") this.#warn(messageOf(thrown));
      return undefined;
    }
    try {
      const stats = await file.stat();
      const most = Math.min(this.#options.bytes, MOST_ENTRY_BYTES);
      if (!stats.isFile()) return await this.#reject(path, "it is no regular file");
      if (stats.size > most) return await this.#reject(path, `it holds ${stats.size} bytes, at most ${most} are read`);
      const bytes = Buffer.alloc(stats.size);
      const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
      const payload = unseal(this.#directory.secret, name, bytes.subarray(0, bytesRead));
      if (payload === null) return await this.#reject(path, "it is not what was kept there");
      const value: unknown = v8.deserialize(payload);
      check(value);
      // The time of a file is that of its last use: it decides what goes first.
      const now = new Date();
      await file.utimes(now, now).catch(() => {});
      return value;
    } catch (thrown) {
      return await this.#reject(path, messageOf(thrown));
    } finally {
      await file.close();
    }
  }

  async #reject(path: string, why: string): Promise<undefined> {
    this.#rejected++;
    rejections.publish({ file: path, why });
    await unlink(path).catch(() => {});
  }

  async #write(key: string, value: unknown): Promise<void> {
    if (this.#directory === null) return;
    const { path, secret } = this.#directory;
    const name = this.#nameOf(key);
    // Not JSON: it has no bytes, and a plan's types are shared, which as a tree could be exponentially many.
    const payload = v8.serialize(value);
    const size = payload.length + SEAL_BYTES;
    if (size > Math.min(this.#options.bytes, MOST_ENTRY_BYTES)) return;
    const draft = join(path, `.${name}-${randomBytes(12).toString("hex")}`);
    const file = await open(draft, SAFE_CREATE, 0o600);
    try {
      try {
        for (const part of seal(secret, name, payload)) await file.writeFile(part);
      } finally {
        await file.close();
      }
      await rename(draft, join(path, name));
    } catch (thrown) {
      await unlink(draft).catch(() => {});
      throw thrown;
    }
    const { bytes } = this.#options;
    const written = this.#written;
    this.#written = (written ?? 0) + size;
    if (written !== null && this.#written <= bytes * LOOK_AGAIN) return;
    this.#written = 0;
    await this.#sweep(path);
  }

  /** Removes what lost its process, and what was not used for longest until the bound holds. */
  async #sweep(directory: string): Promise<void> {
    const entries: { readonly path: string; readonly size: number; readonly usedAt: number }[] = [];
    let total = 0;
    for (const name of await readdir(directory)) {
      const path = join(directory, name);
      const stats = ENTRY.test(name) || DRAFT.test(name) ? await lstat(path).catch(() => null) : null;
      if (stats === null) continue;
      if (DRAFT.test(name) && Date.now() - stats.mtimeMs > DRAFT_AGE_MS) {
        await unlink(path).catch(() => {});
        continue;
      }
      total += stats.size;
      if (ENTRY.test(name)) entries.push({ path, size: stats.size, usedAt: stats.mtimeMs });
    }
    if (total <= this.#options.bytes) return;
    entries.sort((a, b) => a.usedAt - b.usedAt);
    for (const { path, size } of entries) {
      if (total <= this.#options.bytes * KEEP) return;
      await unlink(path).catch(() => {});
      total -= size;
    }
  }

  #warn(problem: string): void {
    if (this.#warned) return;
    this.#warned = true;
    troubles.publish({ directory: this.#options.directory, problem });
  }
}
