import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MIGRATIONS, migrate } from "./migrations.ts";
import { openStore, type Store } from "./store.ts";

const POSIX = process.platform !== "win32";
const ROOT = process.geteuid?.() === 0;
const NOBODY = 65_534;

let top: string;
let directory: string;
let file: string;

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), "airlock-store-"));
  directory = join(top, "store");
  file = join(directory, "airlock.db");
});

afterEach(() => rmSync(top, { recursive: true }));

async function putOne(): Promise<void> {
  const store = await openStore({ directory });
  await store.entries.put("n", "k", Buffer.from("kept"));
  await store.close();
}

async function expectOne(): Promise<void> {
  const store = await openStore({ directory });
  expect(await store.entries.get("n", "k")).toMatchObject({ kind: "found", entry: { body: Buffer.from("kept") } });
  await store.close();
}

const refusal = (code: string, why: string) => ({ code, message: expect.stringContaining(why) });

describe("openStore()", () => {
  it("makes the directory, and says where it is", async () => {
    directory = join(top, "some", "where");
    const store = await openStore({ directory });
    expect(store.directory).toBe(directory);
    await store.close();
    // Its log has gone into it when the last one closes.
    expect(readdirSync(directory)).toEqual(["airlock.db"]);
  });

  it("is closed at the end of its scope", async () => {
    let entries: Store["entries"];
    {
      await using store = await openStore({ directory });
      entries = store.entries;
      expect(await entries.usage("n")).toEqual({ entries: 0, bytes: 0 });
    }
    await expect(entries.usage("n")).rejects.toMatchObject({ code: "AIRLOCK_STORE_CLOSED" });
  });

  it("takes a name that SQLite would read as an address", async () => {
    directory = join(top, "file:a?mode=memory#b ");
    await putOne();
    expect(readdirSync(top)).toEqual(["file:a?mode=memory#b "]);
    await expectOne();
  });

  it.each([
    [undefined, "no options"],
    [{}, "directory is undefined"],
    [{ directory: "" }, 'directory is ""'],
    [{ directory: "a\0b" }, "directory is"],
    [{ directory: "/x", directry: "/y" }, 'unknown option "directry": did you mean "directory"?'],
    [{ directory: "/x", colour: 1 }, "directory, databaseBytes, busyMs are known"],
    [{ directory: "/x", busyMs: 2_001 }, "busyMs is 2001"],
    [{ directory: "/x", busyMs: Number.NaN }, "busyMs is NaN"],
    [{ directory: "/x", databaseBytes: 1_000 }, "databaseBytes is 1000"],
    [{ directory: "/x", databaseBytes: "1 GB" }, "databaseBytes is 1 GB"],
  ])("refuses the options %j", async (options, why) => {
    await expect(openStore(options as never)).rejects.toMatchObject(refusal("AIRLOCK_STORE_OPTIONS_INVALID", why));
  });

  it.runIf(POSIX).each(["000", "022", "077"])("keeps everything for this user alone under umask %s", async (umask) => {
    const program = `
      import { statSync, readdirSync } from "node:fs";
      import { openStore } from ${JSON.stringify(join(import.meta.dirname, "store.ts"))};
      const store = await openStore({ directory: process.argv[2] });
      await store.entries.put("n", "k", Buffer.alloc(10));
      const modes = ["", ...readdirSync(process.argv[2])].map((name) =>
        name + " " + (statSync(process.argv[2] + "/" + name).mode & 0o777).toString(8));
      process.stdout.write(modes.sort().join("\\n"));
      await store.close();`;
    const path = join(top, "program.mts");
    writeFileSync(path, program);
    const command = `umask ${umask}; exec "$0" --import "$1" "$2" "$3"`;
    const output = execFileSync("sh", ["-c", command, process.execPath, import.meta.resolve("tsx"), path, directory]);
    expect(output.toString().split("\n")).toEqual([
      " 700",
      "airlock.db 600",
      "airlock.db-shm 600",
      "airlock.db-wal 600",
    ]);
  });

  const plant = (name: string, target = "elsewhere"): void => {
    rmSync(join(directory, name), { force: true });
    symlinkSync(join(top, target), join(directory, name));
  };
  it.runIf(POSIX).each<[string, () => void]>([
    [
      'store\\" is a symbolic link',
      () => {
        renameSync(directory, join(top, "moved"));
        symlinkSync("moved", directory);
      },
    ],
    [
      'store\\" is a symbolic link',
      () => {
        rmSync(directory, { recursive: true });
        symlinkSync("nowhere", directory);
      },
    ],
    [
      'store\\" is no directory',
      () => {
        rmSync(directory, { recursive: true });
        writeFileSync(directory, "");
      },
    ],
    ['airlock.db\\" is a symbolic link', () => plant("airlock.db")],
    ['airlock.db\\" is a symbolic link', () => plant("airlock.db", "nowhere")],
    ['airlock.db-wal\\" is a symbolic link', () => plant("airlock.db-wal")],
    ['airlock.db-wal\\" is a symbolic link', () => plant("airlock.db-wal", "nowhere")],
    ['airlock.db-shm\\" is a symbolic link', () => plant("airlock.db-shm")],
    ['airlock.db-journal\\" is a symbolic link', () => plant("airlock.db-journal", "nowhere")],
    ['airlock.db\\" has 2 names', () => linkSync(file, join(top, "another"))],
    ['airlock.db-wal\\" has 2 names', () => linkSync(join(top, "elsewhere"), `${file}-wal`)],
    [
      'airlock.db\\" is no regular file',
      () => {
        rmSync(file);
        mkdirSync(file);
      },
    ],
    [
      'airlock.db\\" is no regular file',
      () => {
        rmSync(file);
        execFileSync("mkfifo", [file]);
      },
    ],
    ['store\\" has mode 710', () => chmodSync(directory, 0o710)],
    ['store\\" has mode 701', () => chmodSync(directory, 0o701)],
    ["(chmod go= shuts them out)", () => chmodSync(directory, 0o777)],
    ["(it is shared, name one of its own below it)", () => chmodSync(directory, 0o1777)],
    ['airlock.db\\" has mode 640', () => chmodSync(file, 0o640)],
    ['airlock.db\\" has mode 602', () => chmodSync(file, 0o602)],
    ['airlock.db-wal\\" has mode 644', () => writeFileSync(`${file}-wal`, "", { mode: 0o644 })],
    ...(ROOT
      ? ([
          ['store\\" belongs to user 65534', () => chownSync(directory, NOBODY, 0)],
          ['airlock.db\\" belongs to user 65534', () => chownSync(file, NOBODY, 0)],
        ] satisfies [string, () => void][])
      : []),
  ])("refuses what others could have touched, and touches nothing: %s", async (why, touch) => {
    await putOne();
    writeFileSync(join(top, "elsewhere"), "untouched", { mode: 0o600 });
    touch();
    const quoted = why.replace("\\", "");
    await expect(openStore({ directory })).rejects.toMatchObject(refusal("AIRLOCK_STORE_UNSAFE", quoted));
    expect(readFileSync(join(top, "elsewhere"), "utf8")).toBe("untouched");
    expect(existsSync(join(top, "nowhere"))).toBe(false);
  });

  it.runIf(POSIX)("follows no link that is planted beside the open database", async () => {
    writeFileSync(join(top, "elsewhere"), "untouched", { mode: 0o600 });
    const driver = new Database(join(top, "driver.db"));
    driver.pragma("journal_mode = WAL");
    driver.close();
    symlinkSync(join(top, "elsewhere"), join(top, "driver.db-wal"));
    // What this room relies on once it has looked: the driver itself opens nothing through a link.
    const again = new Database(join(top, "driver.db"));
    expect(() => again.exec("CREATE TABLE t (x)")).toThrow(expect.objectContaining({ code: "SQLITE_CANTOPEN" }));
    again.close();
    expect(readFileSync(join(top, "elsewhere"), "utf8")).toBe("untouched");
    expect(lstatSync(join(top, "driver.db-wal")).isSymbolicLink()).toBe(true);
  });

  it.runIf(POSIX).each([
    [0o500, "a directory that cannot be written", () => {}],
    [0o700, "a database that cannot be written", () => chmodSync(file, 0o400)],
    [0o000, "a directory that cannot be entered", () => {}],
  ])("says that the file system refuses: mode %o, %s", async (mode, _, touch) => {
    await putOne();
    touch();
    if (ROOT) {
      // Root may do anything, so this test is nobody for a while.
      for (const path of [directory, file]) chownSync(path, NOBODY, NOBODY);
      chmodSync(top, 0o755);
    }
    chmodSync(directory, mode);
    if (ROOT) process.seteuid!(NOBODY);
    try {
      await expect(openStore({ directory })).rejects.toMatchObject({ code: "AIRLOCK_STORE_UNAVAILABLE" });
    } finally {
      if (ROOT) process.seteuid!(0);
      chmodSync(directory, 0o700);
    }
  });

  it.each<[string, () => void]>([
    [
      "file is not a database",
      () => writeFileSync(file, "no database, but long enough to look like one".repeat(200), { mode: 0o600 }),
    ],
    ["file is not a database", () => writeFileSync(file, readFileSync(file).fill(0xff, 0, 100))],
    ["SQLITE_CORRUPT", () => writeFileSync(file, readFileSync(file).fill(0xff, 100, 4_096))],
    ["another program", () => overwriteApplication(0x1234)],
    ["another program", () => overwriteApplication(0)],
    ["another program", putForeign],
  ])("refuses a damaged or foreign file and leaves it as it is: %s", async (why, damage) => {
    await putOne();
    damage();
    const before = readFileSync(file);
    await expect(openStore({ directory })).rejects.toMatchObject(refusal("AIRLOCK_STORE_CORRUPT", why));
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it("says that it is damaged when that shows only later", async () => {
    await putOne();
    // All pages but the first one, with the schema.
    const pages = readFileSync(file);
    writeFileSync(file, pages.fill(0xa5, 4_096));
    const store = await openStore({ directory });
    const damaged = { code: "AIRLOCK_STORE_CORRUPT" };
    await expect(store.entries.get("n", "k")).rejects.toMatchObject(damaged);
    await expect(store.entries.put("n", "k", Buffer.alloc(1))).rejects.toMatchObject(damaged);
    await expect(store.schedule.nextAt()).rejects.toMatchObject(damaged);
    await store.close();
    truncateSync(file, 4_096);
    const short = await openStore({ directory })
      .then(
        async (opened) => opened.entries.get("n", "k").finally(() => opened.close()),
        (thrown: unknown) => Promise.reject(thrown),
      )
      .catch(({ code }: { code: string }) => code);
    expect(short).toBe("AIRLOCK_STORE_CORRUPT");
  });

  it("refuses a store of a newer version and leaves it as it is", async () => {
    await putOne();
    const database = new Database(file);
    database.pragma(`user_version = ${MIGRATIONS.length + 1}`);
    database.close();
    const before = readFileSync(file);
    await expect(openStore({ directory })).rejects.toMatchObject({
      ...refusal(
        "AIRLOCK_STORE_NEWER",
        `it has version ${MIGRATIONS.length + 1}, and this program knows versions up to`,
      ),
      details: { version: MIGRATIONS.length + 1, newest: MIGRATIONS.length },
    });
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("a store of an older version is brought to the newest with what it has", async () => {
    mkdirSync(directory, { mode: 0o700 });
    const database = new Database(file);
    migrate(database, MIGRATIONS.slice(0, 1));
    expect(database.pragma("user_version", { simple: true })).toBe(1);
    database.exec(
      "INSERT INTO namespace VALUES (1, x'6e', 7, 1, 5); INSERT INTO entry VALUES (1, x'6b', 7, 'bytes', x'6b657074')",
    );
    database.close();
    chmodSync(file, 0o600);
    await expectOne();
    const store = await openStore({ directory });
    expect(await store.schedule.add("n", "i", { dueAt: 1, body: Buffer.alloc(0) })).toEqual({ kind: "scheduled" });
    await store.close();
  });

  it("a step that fails leaves the step before it", () => {
    const database = new Database(join(top, "steps.db"));
    const steps = ["CREATE TABLE first (x)", "CREATE TABLE second (x); INSERT INTO nowhere VALUES (1)"];
    expect(() => migrate(database, steps)).toThrow("no such table: nowhere");
    expect(database.pragma("user_version", { simple: true })).toBe(1);
    expect(database.prepare("SELECT name FROM sqlite_schema").pluck().all()).toEqual(["first"]);
    migrate(database, [steps[0]!, "CREATE TABLE second (x)"]);
    expect(database.prepare("SELECT name FROM sqlite_schema").pluck().all()).toEqual(["first", "second"]);
    database.close();
  });

  it("a step that another process takes first is not taken again", () => {
    const steps = ["CREATE TABLE first (x)", "CREATE TABLE second (x)"];
    const database = new Database(join(top, "steps.db"));
    const other = new Database(join(top, "steps.db"));
    const transaction = database.transaction.bind(database);
    let turns = 0;
    // The first one looks what kind of file it is; before the second one gets its lock, the other process is through.
    database.transaction = ((work: () => unknown) => {
      turns += 1;
      if (turns === 2) migrate(other, steps);
      return transaction(work);
    }) as typeof database.transaction;
    migrate(database, steps);
    expect(turns).toBe(2);
    expect(database.pragma("user_version", { simple: true })).toBe(2);
    database.close();
    other.close();
  });

  it("waits for a lock for as long as it may, and then says that it is busy and has written nothing", async () => {
    await putOne();
    const store = await openStore({ directory, busyMs: 0 });
    const other = new Database(file);
    other.exec("BEGIN IMMEDIATE");
    const busy = { code: "AIRLOCK_STORE_BUSY", details: { sqlite: "SQLITE_BUSY" } };
    await expect(store.entries.put("n", "k", Buffer.from("new"))).rejects.toMatchObject(busy);
    await expect(store.entries.delete("n", "k")).rejects.toMatchObject(busy);
    // Whoever reads waits for nobody.
    expect(await store.entries.get("n", "k")).toMatchObject({ kind: "found", entry: { revision: 1 } });
    other.exec("COMMIT");
    other.close();
    expect(await store.entries.put("n", "k", Buffer.from("new"))).toEqual({ kind: "stored", revision: 2 });
    await store.close();
  });

  it("waits for a lock without holding up the thread that asks", async () => {
    const store = await openStore({ directory });
    const other = new Database(file);
    other.exec("BEGIN IMMEDIATE");
    const put = store.entries.put("n", "k", Buffer.from("new"));
    const add = store.schedule.add("n", "k", { dueAt: 0, body: Buffer.from("new") });
    // This thread alone can let go of the lock: were it held up, both would be told that the store is busy.
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
    other.exec("COMMIT");
    other.close();
    expect(await put).toEqual({ kind: "stored", revision: 1 });
    expect(await add).toEqual({ kind: "scheduled" });
    await store.close();
  });

  it("that is closed while calls wait for a lock answers them first", async () => {
    const store = await openStore({ directory });
    const other = new Database(file);
    other.exec("BEGIN IMMEDIATE");
    const calls = [store.entries.put("n", "k", Buffer.from("new")), store.entries.usage("n")];
    const closed = store.close();
    const late = store.entries.usage("n");
    await expect(late).rejects.toMatchObject({ code: "AIRLOCK_STORE_CLOSED" });
    other.exec("COMMIT");
    other.close();
    expect(await Promise.all(calls)).toEqual([
      { kind: "stored", revision: 1 },
      { entries: 1, bytes: 4 },
    ]);
    await closed;
    await store.close();
    expect(readdirSync(directory)).toEqual(["airlock.db"]);
  });

  it("grows no further than it may, and a write that has no place leaves nothing behind", async () => {
    const store = await openStore({ directory, databaseBytes: 256 * 1024 });
    let stored = 0;
    const full = await (async () => {
      for (; ; stored++) await store.entries.put("n", `${stored}`, Buffer.alloc(10_000, stored));
    })().catch((thrown: unknown) => thrown);
    expect(full).toMatchObject({ code: "AIRLOCK_STORE_FULL", details: { sqlite: "SQLITE_FULL" } });
    expect(stored).toBeGreaterThan(5);
    expect(await store.entries.usage("n")).toMatchObject({ entries: stored });
    expect(await store.entries.get("n", `${stored}`)).toEqual({ kind: "missing" });
    const { entries } = await store.entries.list("n", { limit: 1_000 });
    expect(entries).toHaveLength(stored);
    // A deletion needs no place, and makes some.
    expect(await store.entries.delete("n", "0")).toEqual({ kind: "deleted", revision: stored + 1 });
    expect(await store.entries.put("n", "0", Buffer.alloc(10_000))).toMatchObject({ kind: "stored" });
    await store.close();
    expect(statSync(file).size).toBeLessThanOrEqual(256 * 1024);
  });
});

/** As another program would have it. */
/** A database as most programs make it, which is not in WAL. */
function putForeign(): void {
  rmSync(file);
  const database = new Database(file);
  database.exec("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)");
  database.close();
  chmodSync(file, 0o600);
}

function overwriteApplication(id: number): void {
  const database = new Database(file);
  database.pragma(`application_id = ${id}`);
  database.close();
}
