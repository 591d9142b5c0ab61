import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStore } from "./store.ts";

const PROGRAM = fileURLToPath(new URL("test-store-process.ts", import.meta.url));
const require = createRequire(import.meta.url);
const TSX = ["--import", pathToFileURL(require.resolve("tsx")).href];

let top: string;
let directory: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), "airlock-store-"));
  directory = join(top, "store");
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(top, { recursive: true });
});

/** Starts processes with these arguments, lets them begin at once, and answers what each has printed after that. */
async function together(...tasks: readonly (readonly string[])[]): Promise<string[]> {
  const started = tasks.map(([task, ...rest]) =>
    spawn(process.execPath, [...TSX, PROGRAM, task!, directory, ...rest], { stdio: ["pipe", "pipe", "inherit"] }),
  );
  children.push(...started);
  const answers = started.map(({ stdout }) => text(stdout));
  await Promise.all(started.map(({ stdout }) => once(stdout, "readable")));
  for (const { stdin } of started) stdin.write("go\n");
  return (await Promise.all(answers)).map((answer) => answer.replace(/^ready\n/, "").trimEnd());
}

describe("processes on one store", () => {
  it("eight that count by comparing and setting lose nothing", async () => {
    const answers = await together(...Array.from({ length: 8 }, () => ["count", "100"]));
    expect(answers).toEqual(Array.from({ length: 8 }, () => "counted"));
    const store = await openStore({ directory });
    expect(await store.entries.get("counters", "one")).toMatchObject({
      kind: "found",
      entry: { revision: 800, body: Buffer.from("800") },
    });
    await store.close();
  }, 180_000);

  it("open a directory that is not there at the same time", async () => {
    for (let round = 0; round < 3; round++) {
      directory = join(top, `${round}`);
      expect(await together(["open"], ["open"], ["open"], ["open"])).toEqual(["opened", "opened", "opened", "opened"]);
      const store = await openStore({ directory });
      expect(await store.entries.put("n", "k", Buffer.alloc(1))).toEqual({ kind: "stored", revision: 1 });
      await store.close();
      expect(readdirSync(directory)).toEqual(["airlock.db"]);
    }
  });

  it("one that is killed as it writes leaves a store that opens and has all that was confirmed", async () => {
    let confirmed = -1;
    for (let round = 0; round < 4; round++) {
      const child = spawn(process.execPath, [...TSX, PROGRAM, "fill", directory], {
        stdio: ["pipe", "pipe", "inherit"],
      });
      children.push(child);
      child.stdin.write("go\n");
      confirmed = -1;
      // It goes on writing after the line at which it is killed: what is read later was confirmed, too.
      for await (const line of createInterface(child.stdout)) {
        if (line === "ready") continue;
        confirmed = Number(line);
        if (confirmed === 40 + round * 7) child.kill("SIGKILL");
      }
      expect(child.signalCode ?? (await once(child, "exit"))[1]).toBe("SIGKILL");
      const store = await openStore({ directory });
      for (let number = 0; number <= confirmed; number++) {
        const lookup = await store.entries.get("filled", `${number}`);
        expect(lookup).toMatchObject({ kind: "found", entry: { body: Buffer.alloc(5_000, number % 251) } });
      }
      const { entries, more } = await store.entries.list("filled", { limit: 1_000 });
      expect(more).toBe(false);
      const bytes = entries.reduce((sum, { key, bytes }) => sum + key.length + bytes, 0);
      expect(await store.entries.usage("filled")).toEqual({ entries: entries.length, bytes });
      await store.close();
    }
    expect(confirmed).toBeGreaterThanOrEqual(61);
  });

  it("leave a store alone that another one of its process has been opened and closed beside", async () => {
    const store = await openStore({ directory });
    const twin = await openStore({ directory });
    await store.entries.put("n", "k", Buffer.from("kept"));
    await twin.close();
    const third = await openStore({ directory });
    await third.close();
    // A process that thinks itself the last one takes the log with it.
    expect(await together(["open"])).toEqual(["opened"]);
    expect(readdirSync(directory)).toEqual(["airlock.db", "airlock.db-shm", "airlock.db-wal"]);
    await store.entries.put("n", "k", Buffer.from("kept, too"));
    await store.close();
    const later = await openStore({ directory });
    expect(await later.entries.get("n", "k")).toMatchObject({ kind: "found", entry: { revision: 2 } });
    await later.close();
  });

  it("pass no quota together", async () => {
    const answers = await together(["quota", "a"], ["quota", "b"], ["quota", "c"]);
    expect(answers.reduce((sum, answer) => sum + Number(answer), 0)).toBe(100);
    const store = await openStore({ directory });
    expect((await store.entries.usage("bounded")).entries).toBe(100);
    expect((await store.entries.list("bounded", { limit: 1_000 })).entries).toHaveLength(100);
    await store.close();
  });

  it("claim each entry that is due once", async () => {
    const store = await openStore({ directory });
    const ids = Array.from({ length: 40 }, (_, number) => `id-${number}`);
    for (const [number, id] of ids.entries())
      await store.schedule.add("n", id, { dueAt: 900 + number, body: Buffer.alloc(1) });
    await store.schedule.add("n", "later", { dueAt: 1_001, body: Buffer.alloc(1) });
    const answers = await together(["claim"], ["claim"], ["claim"]);
    const claimed = answers.flatMap((answer) => (answer === "" ? [] : answer.split("\n")));
    expect(claimed.sort()).toEqual(ids.map((id) => `${id} 1`).sort());
    expect(await store.schedule.claimDue({ now: 60_999, limit: 9, leaseMs: 1 })).toMatchObject([{ id: "later" }]);
    // The processes have ended without settling anything.
    const again = await store.schedule.claimDue({ now: 61_000, limit: 50, leaseMs: 1_000 });
    expect(again.map(({ attempt }) => attempt).sort()).toEqual([...ids.map(() => 2), 2].sort());
    await store.close();
  });
});

describe.runIf(process.platform === "linux")("a store on a disk that is full", () => {
  // Whether this user may have a file system of its own, in a process that is alone with it.
  const mounts = spawnSync("unshare", ["-m", "mount", "-t", "tmpfs", "none", "/mnt"]).status === 0;

  it.runIf(mounts)("says so, and has what was confirmed and nothing else", () => {
    const again = join(top, "again");
    mkdirSync(directory, { mode: 0o700 });
    mkdirSync(again, { mode: 0o700 });
    // The mount is gone with the shell: what lay on it is copied away first.
    const script = `mount -t tmpfs -o size=400k,mode=700 none "$0" && "$@"; cp "$0"/* "${again}"`;
    const args = ["-m", "sh", "-c", script, directory, process.execPath, ...TSX, PROGRAM, "overflow", directory];
    const output = execFileSync("unshare", args, { input: "go\n" }).toString();
    return expectConfirmed(output, again, "AIRLOCK_STORE_FULL");
  });

  it("ends a write past the longest file that the process may have, and has what was confirmed and nothing else", () => {
    const script = 'trap "" XFSZ; ulimit -f 400; exec "$@"';
    const args = ["-c", script, "sh", process.execPath, ...TSX, PROGRAM, "overflow", directory];
    const output = execFileSync("sh", args, { input: "go\n" }).toString();
    return expectConfirmed(output, directory, "AIRLOCK_STORE_UNAVAILABLE");
  });

  async function expectConfirmed(output: string, where: string, code: string): Promise<void> {
    const [, count, said] = /^ready\n(\d+) (\w+)\n$/.exec(output) ?? [];
    expect(said).toBe(code);
    expect(Number(count)).toBeGreaterThan(5);
    const store = await openStore({ directory: where });
    const { entries } = await store.entries.list("filled", { limit: 1_000 });
    expect(entries.map(({ key }) => Number(key)).sort((a, b) => a - b)).toEqual(
      Array.from({ length: Number(count) }, (_, n) => n),
    );
    expect(await store.entries.usage("filled")).toMatchObject({ entries: Number(count) });
    expect(await store.entries.put("filled", "more", Buffer.alloc(5_000))).toMatchObject({ kind: "stored" });
    await store.close();
  }
});

describe("a store without its driver", () => {
  const MISSING =
    /^AIRLOCK_STORE_DRIVER_MISSING Cannot open the store: the package better-sqlite3 .* run npm install better-sqlite3@12,/;

  /** The room and what it imports, where no package is found but those that are put there, and tsx, with which its thread starts. */
  function copyRoom(): string {
    for (const room of ["store", "errors"]) {
      cpSync(join(dirname(import.meta.dirname), room), join(top, "host", room), { recursive: true });
    }
    writeFileSync(join(top, "host", "package.json"), '{ "type": "module" }');
    mkdirSync(join(top, "host", "node_modules"));
    symlinkSync(dirname(require.resolve("tsx/package.json")), join(top, "host", "node_modules", "tsx"), "dir");
    return join(top, "host", "store", "test-store-process.ts");
  }

  function run(program: string): string {
    const command = [...TSX, program, "open", directory];
    return execFileSync(process.execPath, command, { input: "go\n" }).toString().split("\n")[1]!;
  }

  it("says which package is missing, and makes nothing", () => {
    const program = copyRoom();
    expect(run(program)).toMatch(MISSING);
    expect(readdirSync(top)).toEqual(["host"]);
  });

  it("says so where the package is there and its machine code is not, or is for another Node", () => {
    const program = copyRoom();
    const modules = dirname(dirname(require.resolve("better-sqlite3/package.json")));
    const to = join(top, "host", "node_modules");
    for (const name of ["better-sqlite3/package.json", "better-sqlite3/lib", "bindings", "file-uri-to-path"])
      cpSync(join(modules, name), join(to, name), { recursive: true });
    expect(run(program)).toMatch(MISSING);
    mkdirSync(join(to, "better-sqlite3", "build", "Release"), { recursive: true });
    writeFileSync(join(to, "better-sqlite3", "build", "Release", "better_sqlite3.node"), "no machine code");
    expect(run(program)).toMatch(MISSING);
    expect(readdirSync(top)).toEqual(["host"]);
  });

  it("is named by no other file of the host", () => {
    const host = dirname(import.meta.dirname);
    const files = readdirSync(host, { recursive: true, withFileTypes: true }).filter(
      (each) =>
        each.isFile() &&
        /(?<!\.test)\.ts$/.test(each.name) &&
        !/node_modules|dist|host[\\/]tests/.test(each.parentPath),
    );
    const naming = files
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((path) => /better-sqlite3["']|node:sqlite/.test(readFileSync(path, "utf8")));
    expect(naming.filter((path) => dirname(path) !== import.meta.dirname)).toEqual([]);
    expect(naming).toContain(join(import.meta.dirname, "sqlite-connection.ts"));
  });
});
