import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadDriver, openSqlite, type SqliteConnection } from "./sqlite-connection.ts";

let directory: string;
let connection: SqliteConnection;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "airlock-sqlite-"));
  const file = join(directory, "airlock.db");
  writeFileSync(file, "", { mode: 0o600 });
  connection = await openSqlite(await loadDriver(), file, { directory, databaseBytes: null, busyMs: 1_000 });
});

afterEach(() => {
  connection.close();
  rmSync(directory, { recursive: true });
});

describe("openSqlite()", () => {
  it.each([
    ["journal_mode", "wal"],
    // FULL: no test can take the power from a machine.
    ["synchronous", 2],
    ["foreign_keys", 1],
    ["trusted_schema", 0],
    ["cell_size_check", 1],
    // In a thread of its own: nobody else is held up.
    ["busy_timeout", 1_000],
  ])("sets %s to %s", (name, value) => {
    const row = connection.prepare<Record<string, unknown>>(`PRAGMA ${name}`).get();
    expect(Object.values(row!)).toEqual([value]);
  });

  it("has rows that refer to others refused where those are missing", () => {
    const orphan = (): unknown =>
      connection.write("write", () =>
        connection.prepare("INSERT INTO entry VALUES (7, x'6b', 1, 'bytes', x'00')").run(),
      );
    expect(orphan).toThrow(expect.objectContaining({ code: "AIRLOCK_STORE_CORRUPT" }));
  });
});
