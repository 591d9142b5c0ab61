import { HostError, type HostErrorCode, isHostError, messageOf } from "../errors/errors.ts";

/** Codes of SQLite by how they begin, and what they mean here. https://sqlite.org/rescode.html */
const MEANINGS: readonly (readonly [prefix: string, code: HostErrorCode, wanted: string])[] = [
  ["SQLITE_BUSY", "AIRLOCK_STORE_BUSY", "other processes kept it locked; the same call can work later"],
  ["SQLITE_LOCKED", "AIRLOCK_STORE_BUSY", "another connection kept it locked; the same call can work later"],
  ["SQLITE_PROTOCOL", "AIRLOCK_STORE_BUSY", "other processes were faster each time; the same call can work later"],
  ["SQLITE_FULL", "AIRLOCK_STORE_FULL", "the disk is full or databaseBytes are used up; free some of it"],
  [
    "SQLITE_READONLY",
    "AIRLOCK_STORE_UNAVAILABLE",
    "it cannot be written; write access to directory and files is wanted",
  ],
  [
    "SQLITE_CANTOPEN",
    "AIRLOCK_STORE_UNAVAILABLE",
    "one of its files cannot be opened; access to directory and files is wanted",
  ],
  ["SQLITE_IOERR_SHORT_READ", "AIRLOCK_STORE_CORRUPT", "the file ends too early; a copy that does not is wanted"],
  ["SQLITE_IOERR", "AIRLOCK_STORE_UNAVAILABLE", "the file system failed; look at the disk, its quota and its locks"],
  ["SQLITE_PERM", "AIRLOCK_STORE_UNAVAILABLE", "access was refused; access to directory and files is wanted"],
  ["SQLITE_NOMEM", "AIRLOCK_STORE_UNAVAILABLE", "no memory was left"],
];

/** What was thrown while `action` was tried, as an error of this room: the one place where SQLite's become ours. */
export function storeError(action: string, thrown: unknown): unknown {
  if (isHostError(thrown) || !isSqliteError(thrown)) return thrown;
  const meaning = MEANINGS.find(([prefix]) => thrown.code.startsWith(prefix));
  // Whatever else it says, such as a table that is not there, the statements are ours and the file is not as we left it.
  const [, code, wanted] = meaning ?? ["", "AIRLOCK_STORE_CORRUPT", "a store that this program has written is wanted"];
  return new HostError(code, `Cannot ${action} the store: ${thrown.code} (${messageOf(thrown)}): ${wanted}`, {
    details: { sqlite: thrown.code },
    cause: thrown,
  });
}

/** The driver's class is no help: it is only there once the driver is loaded. */
export function isSqliteError(thrown: unknown): thrown is Error & { readonly code: string } {
  return (
    thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" && thrown.code.startsWith("SQLITE_")
  );
}
