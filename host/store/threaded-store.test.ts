import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStore } from "./store.ts";

let top: string;
let directory: string;
const workers: Worker[] = [];
const ended: Worker[] = [];

/** Each thread that is started while a test runs. */
function note(worker: Worker): void {
  workers.push(worker);
  worker.once("exit", () => ended.push(worker));
}

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), "airlock-store-"));
  directory = join(top, "store");
  workers.length = ended.length = 0;
  process.on("worker", note);
});

afterEach(() => {
  process.off("worker", note);
  rmSync(top, { recursive: true });
});

/** Runs while another connection has the lock, so that whatever is written meanwhile waits. */
async function locked<T>(run: () => Promise<T>): Promise<T> {
  const other = new Database(join(directory, "airlock.db"));
  other.exec("BEGIN IMMEDIATE");
  try {
    return await run();
  } finally {
    other.exec("COMMIT");
    other.close();
  }
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("a store in a thread of its own", () => {
  it("lets the event loop of its caller turn while a put is written and synced", async () => {
    const store = await openStore({ directory });
    let turns = 0;
    let done = false;
    const put = store.entries.put("n", "k", Buffer.alloc(16 * 1024 * 1024)).finally(() => {
      done = true;
    });
    while (!done) {
      await new Promise(setImmediate);
      turns++;
    }
    expect(await put).toEqual({ kind: "stored", revision: 1 });
    expect(turns).toBeGreaterThan(10);
    await store.close();
  });

  it("carries out calls in the order in which they were made, whatever they are about, and answers in that order", async () => {
    const store = await openStore({ directory });
    const answers: unknown[] = [];
    const calls = await locked(async () => [
      store.entries.put("n", "k", bytes("1")),
      store.entries.get("n", "k"),
      store.schedule.add("n", "i", { dueAt: 5, body: bytes("due") }),
      store.entries.delete("n", "k", { expected: 7 }),
      store.schedule.claimDue({ now: 5, limit: 1, leaseMs: 1 }),
      store.entries.delete("n", "k", { expected: 1 }),
      store.entries.usage("n"),
      store.schedule.nextAt(),
    ]);
    await Promise.all(calls.map(async (call) => answers.push(await call)));
    expect(answers).toMatchObject([
      { kind: "stored", revision: 1 },
      { kind: "found", entry: { revision: 1, body: Buffer.from("1") } },
      { kind: "scheduled" },
      { kind: "conflict", revision: 1 },
      [{ id: "i", body: Buffer.from("due"), leasedUntil: 6 }],
      { kind: "deleted", revision: 2 },
      { entries: 0, bytes: 0 },
      6,
    ]);
    await store.close();
  });

  it("takes a body as it is when it is called, and leaves it to its owner", async () => {
    const store = await openStore({ directory });
    const shared = new Uint8Array(new SharedArrayBuffer(3)).fill(7);
    const owned = bytes("abcdef").subarray(2, 4);
    const due = bytes("due");
    const calls = await locked(async () => {
      const begun = [
        store.entries.put("n", "shared", shared),
        store.entries.put("n", "owned", owned),
        store.schedule.add("n", "i", { dueAt: 1, body: due }),
      ];
      shared.fill(8);
      owned.fill(8);
      due.fill(8);
      return begun;
    });
    await Promise.all(calls);
    expect([shared, owned, due].map(({ length }) => length)).toEqual([3, 2, 3]);
    expect(await store.entries.get("n", "shared")).toMatchObject({ entry: { body: Buffer.of(7, 7, 7) } });
    expect(await store.entries.get("n", "owned")).toMatchObject({ entry: { body: Buffer.from("cd") } });
    expect(await store.schedule.claimDue({ now: 1, limit: 1, leaseMs: 1 })).toMatchObject([
      { body: Buffer.from("due") },
    ]);
    await store.close();
  });

  it("takes of options what is asked for, also where the rest could not cross to a thread", async () => {
    const store = await openStore({ directory });
    const quota = { entries: 1, bytes: 10, why: () => "no data" };
    class Options {
      get quota() {
        return quota;
      }
      readonly hook = () => {};
    }
    expect(await store.entries.put("n", "k", bytes("1"), new Options())).toEqual({ kind: "stored", revision: 1 });
    expect(await store.entries.put("n", "l", bytes("1"), new Options())).toMatchObject({ kind: "over-quota" });
    const invalid = { code: "AIRLOCK_STORE_OPTIONS_INVALID" };
    await expect(store.entries.get("n", Symbol("k") as never)).rejects.toMatchObject(invalid);
    await expect(store.entries.put("n", "k", (() => {}) as never)).rejects.toMatchObject(invalid);
    await store.close();
  });

  it("says that it is busy when 10,000 calls wait, and goes on when they were answered", async () => {
    const store = await openStore({ directory });
    const calls = await locked(async () => {
      const begun = Array.from({ length: 10_000 }, () => store.entries.delete("n", "k"));
      await expect(store.entries.usage("n")).rejects.toMatchObject({ code: "AIRLOCK_STORE_BUSY" });
      return begun;
    });
    expect(new Set((await Promise.all(calls)).map(({ kind }) => kind))).toEqual(new Set(["missing"]));
    expect(await store.entries.usage("n")).toEqual({ entries: 0, bytes: 0 });
    await store.close();
  });

  it.each<[string, (worker: Worker) => unknown, string]>([
    ["is stopped", (worker) => worker.terminate(), "it was stopped"],
    ["throws", (worker) => worker.postMessage(null), "null"],
  ])("rejects what waits and what comes later when the thread %s, and closes all the same", async (_, end, why) => {
    const store = await openStore({ directory });
    await store.entries.put("n", "k", bytes("kept"));
    const gone = { code: "AIRLOCK_STORE_UNAVAILABLE", message: expect.stringContaining(why) };
    await locked(async () => {
      end(workers[0]!);
      const calls = [store.entries.put("n", "k", bytes("lost")), store.schedule.nextAt()];
      for (const end of await Promise.allSettled(calls)) expect(end).toMatchObject({ reason: gone });
    });
    await expect(store.entries.get("n", "k")).rejects.toMatchObject(gone);
    await store.close();
    await store.close();
    await expect(store.entries.get("n", "k")).rejects.toMatchObject({ code: "AIRLOCK_STORE_CLOSED" });
    expect(ended).toEqual(workers);
    const again = await openStore({ directory });
    expect(await again.entries.get("n", "k")).toMatchObject({ entry: { revision: 1, body: Buffer.from("kept") } });
    await again.close();
  });

  it("closes when its thread is stopped meanwhile", async () => {
    const store = await openStore({ directory });
    await locked(async () => {
      const put = store.entries.put("n", "k", bytes("lost"));
      const [closed] = [store.close(), workers[0]!.terminate()];
      await expect(put).rejects.toMatchObject({ code: "AIRLOCK_STORE_UNAVAILABLE" });
      await closed;
    });
  });

  it("leaves no thread behind when it is closed or could not be opened", async () => {
    const store = await openStore({ directory });
    await Promise.all([store.close(), store.close()]);
    expect([workers.length, ended.length]).toEqual([1, 1]);
    writeFileSync(join(directory, "airlock.db"), "no database, but long enough to look like one".repeat(200));
    await expect(openStore({ directory })).rejects.toMatchObject({ code: "AIRLOCK_STORE_CORRUPT" });
    expect([workers.length, ended.length]).toEqual([2, 2]);
    directory = join(top, "open");
    mkdirSync(directory, { mode: 0o755 });
    await expect(openStore({ directory })).rejects.toMatchObject({ code: "AIRLOCK_STORE_UNSAFE" });
    expect([workers.length, ended.length]).toEqual([3, 3]);
    // What the caller sees by itself needs no thread.
    await expect(openStore({ directory, busyMs: -1 })).rejects.toMatchObject({ code: "AIRLOCK_STORE_OPTIONS_INVALID" });
    expect(workers).toHaveLength(3);
  });

  it("rejects when its thread is stopped as it opens", async () => {
    process.once("worker", (worker: Worker) => void worker.terminate());
    await expect(openStore({ directory })).rejects.toMatchObject({ code: "AIRLOCK_STORE_UNAVAILABLE" });
    expect(ended).toEqual(workers);
  });

  it.each<[string, string, string]>([
    ["an open store alone does not keep a process alive, and a call under way does", "put", "put"],
    ["a closing does", "", "closed"],
    ["a closing behind a call does", "put", "put closed"],
  ])("%s", (_, calls, said) => {
    const program = `
      import { writeSync } from "node:fs";
      import { openStore } from ${JSON.stringify(join(import.meta.dirname, "store.ts"))};
      const store = await openStore({ directory: ${JSON.stringify(directory)} });
      await store.entries.usage("n");
      // Nobody waits for these at the top: the loop alone decides when the process is over.
      if (${calls !== ""}) store.entries.put("n", "k", Buffer.alloc(10)).then(() => writeSync(1, "put"));
      if (${said.endsWith("closed")}) store.close().then(() => writeSync(1, " closed"));`;
    const path = join(top, "program.mts");
    writeFileSync(path, program);
    // One that goes on is killed, and fails the test.
    const options = { timeout: 50_000 };
    const output = execFileSync(process.execPath, ["--import", import.meta.resolve("tsx"), path], options);
    expect(output.toString().trim()).toBe(said);
  });
});
