import type { Entries } from "./entries.ts";
import type { Schedule } from "./schedule.ts";
import { loadDriver, openSqlite, type SqliteConnection } from "./sqlite-connection.ts";
import { SqliteEntries } from "./sqlite-entries.ts";
import { SqliteSchedule } from "./sqlite-schedule.ts";
import { openStoreDirectory } from "./store-directory.ts";
import { resolveStoreOptions, type StoreOptions } from "./store-options.ts";

/**
 * Durable state that several processes share. What a method has answered is on disk; what it has rejected was not done. The work is done on
 * the thread that asks: a read takes some microseconds, a write as long as the disk needs to confirm it, often a millisecond or more.
 */
export interface Store {
  /** The real path of its directory. */
  readonly directory: string;
  /** Values under keys. */
  readonly entries: Entries;
  /** What is due when. */
  readonly schedule: Schedule;
  /** Idempotent. Whatever is called after that rejects with AIRLOCK_STORE_CLOSED. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Opens the store in a directory, and makes both where they are missing; several processes may do it at once. It needs the optional
 * dependency better-sqlite3. Rejects with AIRLOCK_STORE_OPTIONS_INVALID, AIRLOCK_STORE_UNSAFE, AIRLOCK_STORE_DRIVER_MISSING,
 * AIRLOCK_STORE_CORRUPT, AIRLOCK_STORE_NEWER, AIRLOCK_STORE_UNAVAILABLE, AIRLOCK_STORE_FULL and AIRLOCK_STORE_BUSY.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const resolved = resolveStoreOptions(options);
  // First, so that nothing is made that could not be used.
  const driver = await loadDriver();
  const { path, file } = openStoreDirectory(resolved.directory);
  const connection = await openSqlite(driver, file, resolved);
  try {
    return connection.read("open", () => new SqliteStore(path, connection));
  } catch (thrown) {
    connection.close();
    throw thrown;
  }
}

class SqliteStore implements Store {
  readonly directory: string;
  readonly entries: Entries;
  readonly schedule: Schedule;
  readonly #connection: SqliteConnection;

  constructor(directory: string, connection: SqliteConnection) {
    this.directory = directory;
    this.entries = new SqliteEntries(connection);
    this.schedule = new SqliteSchedule(connection);
    this.#connection = connection;
  }

  async close(): Promise<void> {
    this.#connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
