import { setTimeout as sleep } from "node:timers/promises";
import type Database from "better-sqlite3";
import { HostError, isHostError, messageOf } from "../errors/errors.ts";
import { APPLICATION_ID, checkKind, migrate } from "./migrations.ts";
import { isSqliteError, storeError } from "./sqlite-error.ts";
import type { ResolvedStoreOptions } from "./store-options.ts";

const DRIVER = "better-sqlite3";
const DRIVER_RANGE = "12";
/** For how long an opening waits for other openings, which take some milliseconds each, and how often it looks. */
const OPENING_MS = 2_000;
const OPENING_WAIT_MS = 20;

/** How long a call sleeps before it tries a lock again: at first, and at most. */
const FIRST_WAIT_MS = 1;
const LONGEST_WAIT_MS = 4;

/**
 * A connection to the database, and the one way to it: what SQLite throws leaves as an error of this room. A lock of another process is
 * waited for `busyMs`, and the thread does other things meanwhile: SQLite's own waiting would hold it.
 */
export class SqliteConnection {
  readonly #database: Database.Database;
  readonly #busyMs: number;

  constructor(database: Database.Database, busyMs: number) {
    this.#database = database;
    this.#busyMs = busyMs;
  }

  /** For the statements of those who keep tables; SQL is compiled once. */
  prepare<Row>(sql: string): Database.Statement<unknown[], Row> {
    return this.#database.prepare<unknown[], Row>(sql);
  }

  /** One statement, or several that need not agree with each other. */
  async read<T>(action: string, work: () => T): Promise<T> {
    const last = performance.now() + this.#busyMs;
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
      try {
        return this.#attempt(action, work);
      } catch (thrown) {
        if (!isHostError(thrown) || thrown.code !== "AIRLOCK_STORE_BUSY" || performance.now() >= last) throw thrown;
      }
      await sleep(wait);
    }
  }

  /**
   * One transaction that is alone from its beginning: what it reads is true until what it writes is on disk. A transaction that begins to write
   * only later can find that it was overtaken, and would have to be done anew.
   */
  write<T>(action: string, work: () => T): Promise<T> {
    return this.read(action, () => this.#database.transaction(work).immediate());
  }

  close(): void {
    this.#database.close();
  }

  #attempt<T>(action: string, work: () => T): T {
    if (!this.#database.open) throw new HostError("AIRLOCK_STORE_CLOSED", `Cannot ${action} the store: it is closed`);
    try {
      return work();
    } catch (thrown) {
      throw storeError(action, thrown);
    }
  }
}

/** What makes connections. */
export type Driver = typeof Database;

/**
 * Loads better-sqlite3, an optional dependency of which a part is machine code: it may be missing, or be for another version of Node. Rejects
 * with AIRLOCK_STORE_DRIVER_MISSING.
 */
export async function loadDriver(): Promise<Driver> {
  try {
    const { default: Driver } = await import("better-sqlite3");
    // The machine code is loaded by the first connection, not by the import.
    new Driver(":memory:").close();
    return Driver;
  } catch (thrown) {
    throw new HostError(
      "AIRLOCK_STORE_DRIVER_MISSING",
      `Cannot open the store: the package ${DRIVER} cannot be loaded (${messageOf(thrown).slice(0, 200)}): run npm install ${DRIVER}@${DRIVER_RANGE}, with its install script allowed`,
      { cause: thrown },
    );
  }
}

/**
 * Opens the database in `file`, which is there, and brings it to the newest version. Rejects with AIRLOCK_STORE_NEWER,
 * AIRLOCK_STORE_CORRUPT, AIRLOCK_STORE_UNAVAILABLE, AIRLOCK_STORE_BUSY and AIRLOCK_STORE_FULL.
 */
export async function openSqlite(
  Driver: Driver,
  file: string,
  options: ResolvedStoreOptions,
): Promise<SqliteConnection> {
  let database: Database.Database | undefined;
  try {
    database = new Driver(file, { fileMustExist: true, timeout: options.busyMs });
    await setUpInTurn(database, options);
    // What follows is what guests ask for.
    database.pragma("busy_timeout = 0");
    return new SqliteConnection(database, options.busyMs);
  } catch (thrown) {
    database?.close();
    throw storeError("open", thrown);
  }
}

/** Into WAL only one connection can go, and SQLite waits for no lock there. */
async function setUpInTurn(database: Database.Database, options: ResolvedStoreOptions): Promise<void> {
  const last = performance.now() + OPENING_MS;
  for (;;) {
    try {
      setUp(database, options);
      return;
    } catch (thrown) {
      if (!isSqliteError(thrown) || !thrown.code.startsWith("SQLITE_BUSY") || performance.now() > last) throw thrown;
    }
    await sleep(OPENING_WAIT_MS);
  }
}

function setUp(database: Database.Database, { databaseBytes }: ResolvedStoreOptions): void {
  // First of all, so that a file that is not ours is left as it is.
  checkKind(database);
  database.pragma("trusted_schema = OFF");
  database.pragma("cell_size_check = ON");
  database.pragma("foreign_keys = ON");
  const mode = database.pragma("journal_mode = WAL", { simple: true });
  if (mode !== "wal") {
    throw new HostError(
      "AIRLOCK_STORE_UNAVAILABLE",
      `Cannot open the store: its file system allows journal mode ${String(mode)} only: one with shared memory and locks, such as a local disk, is wanted`,
    );
  }
  // Less, and a commit that was confirmed could be gone after the machine lost its power.
  database.pragma("synchronous = FULL");
  if (databaseBytes !== null) {
    const pageBytes = database.pragma("page_size", { simple: true }) as number;
    database.pragma(`max_page_count = ${Math.min(Math.floor(databaseBytes / pageBytes), 0xfffffffe)}`);
  }
  checkWritable(database);
  migrate(database);
}

/** SQLite opens what it may not write for reading alone, and says so at the first write; this is one, and is taken back. */
function checkWritable(database: Database.Database): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    database.pragma(`application_id = ${APPLICATION_ID}`);
  } finally {
    if (database.inTransaction) database.exec("ROLLBACK");
  }
}
