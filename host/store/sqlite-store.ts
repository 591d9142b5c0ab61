import type { StoreNouns } from "./protocol.ts";
import { loadDriver, openSqlite, type SqliteConnection } from "./sqlite-connection.ts";
import { SqliteEntries } from "./sqlite-entries.ts";
import { SqliteSchedule } from "./sqlite-schedule.ts";
import { openStoreDirectory } from "./store-directory.ts";
import type { ResolvedStoreOptions } from "./store-options.ts";

/** Opens what `openStore` says on the thread that calls, and rejects with the same codes. */
export async function openSqliteStore(options: ResolvedStoreOptions): Promise<SqliteStore> {
  // First, so that nothing is made that could not be used.
  const driver = await loadDriver();
  const { path, file } = openStoreDirectory(options.directory);
  const connection = await openSqlite(driver, file, options);
  try {
    return connection.read("open", () => new SqliteStore(path, connection));
  } catch (thrown) {
    connection.close();
    throw thrown;
  }
}

/** A store on the thread that calls: each answer is there when the method returns, and until then nothing else is done. */
export class SqliteStore implements StoreNouns {
  readonly directory: string;
  readonly entries: SqliteEntries;
  readonly schedule: SqliteSchedule;
  readonly #connection: SqliteConnection;

  constructor(directory: string, connection: SqliteConnection) {
    this.directory = directory;
    this.entries = new SqliteEntries(connection);
    this.schedule = new SqliteSchedule(connection);
    this.#connection = connection;
  }

  /** Answers what came from another thread; whoever asked has checked the arguments. */
  answer(noun: keyof StoreNouns, method: string, args: readonly unknown[]): unknown {
    return (this[noun] as unknown as Record<string, (...args: readonly unknown[]) => unknown>)[method]!(...args);
  }

  close(): void {
    this.#connection.close();
  }
}
