import type Database from "better-sqlite3";
import { HostError } from "../errors/errors.ts";

/** Stands in the header of every store ("AirL"), so that no other program's database is taken for one. */
export const APPLICATION_ID = 0x4169724c;

/**
 * The schema, step by step; a store's version is how many of them it has. A step that was released is never changed: what comes
 * later is a step of its own.
 */
export const MIGRATIONS: readonly string[] = [
  // Names and keys are BLOBs: compared bit by bit, and cut short by nothing.
  `CREATE TABLE namespace (
     id INTEGER PRIMARY KEY,
     name BLOB NOT NULL UNIQUE,
     revision INTEGER NOT NULL,
     entries INTEGER NOT NULL CHECK (entries >= 0),
     bytes INTEGER NOT NULL CHECK (bytes >= 0)
   ) STRICT;
   CREATE TABLE entry (
     namespace INTEGER NOT NULL REFERENCES namespace (id),
     key BLOB NOT NULL,
     revision INTEGER NOT NULL,
     format TEXT NOT NULL CHECK (format IN ('bytes', 'json')),
     body BLOB NOT NULL,
     PRIMARY KEY (namespace, key)
   ) STRICT;`,
  // ready_at is when the entry can be claimed: due_at, and once it was claimed the end of that lease. A serial is never given again.
  `CREATE TABLE agenda (
     id INTEGER PRIMARY KEY,
     name BLOB NOT NULL UNIQUE,
     entries INTEGER NOT NULL CHECK (entries >= 0),
     bytes INTEGER NOT NULL CHECK (bytes >= 0)
   ) STRICT;
   CREATE TABLE due (
     serial INTEGER PRIMARY KEY AUTOINCREMENT,
     agenda INTEGER NOT NULL REFERENCES agenda (id),
     id BLOB NOT NULL,
     due_at INTEGER NOT NULL,
     ready_at INTEGER NOT NULL,
     attempt INTEGER NOT NULL,
     format TEXT NOT NULL CHECK (format IN ('bytes', 'json')),
     body BLOB NOT NULL,
     UNIQUE (agenda, id)
   ) STRICT;
   CREATE INDEX due_in_order ON due (due_at, id, agenda);
   CREATE INDEX due_of_agenda ON due (agenda, due_at, id);
   CREATE INDEX due_ready ON due (ready_at);`,
];

/**
 * Brings a store to the newest version, each step in a transaction of its own; processes that do it at the same time wait for each other. Throws
 * AIRLOCK_STORE_NEWER and AIRLOCK_STORE_CORRUPT, and then nothing was written; what SQLite throws passes through.
 */
export function migrate(database: Database.Database, migrations: readonly string[] = MIGRATIONS): void {
  checkKind(database);
  while (versionOf(database, migrations) < migrations.length) {
    database
      .transaction(() => {
        // Another process may have taken the step before this one got the lock.
        const version = versionOf(database, migrations);
        if (version === migrations.length) return;
        database.exec(migrations[version]!);
        database.pragma(`user_version = ${version + 1}`);
        database.pragma(`application_id = ${APPLICATION_ID}`);
      })
      .immediate();
  }
}

/** Before anything is written: whether this is a store, or an empty database. */
export function checkKind(database: Database.Database): void {
  // In one transaction: another process may be about to make it a store.
  const [id, version, tables] = database.transaction(() => [
    database.pragma("application_id", { simple: true }),
    database.pragma("user_version", { simple: true }),
    database.prepare("SELECT count(*) FROM sqlite_schema").pluck().get(),
  ])();
  if (id === APPLICATION_ID || (id === 0 && version === 0 && tables === 0)) return;
  throw new HostError(
    "AIRLOCK_STORE_CORRUPT",
    `Cannot open the store: its file is a database of another program (application id ${String(id)}, ${String(tables)} tables and indexes): a store or an empty directory is wanted`,
  );
}

function versionOf(database: Database.Database, migrations: readonly string[]): number {
  const version = database.pragma("user_version", { simple: true }) as number;
  if (version >= 0 && version <= migrations.length) return version;
  throw new HostError(
    "AIRLOCK_STORE_NEWER",
    `Cannot open the store: it has version ${version}, and this program knows versions up to ${migrations.length}: a newer version of the program is wanted`,
    { details: { version, newest: migrations.length } },
  );
}
