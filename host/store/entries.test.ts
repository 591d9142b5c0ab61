import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Entries, openStore, type Store } from "./store.ts";

let directory: string;
let store: Store;
let entries: Entries;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "airlock-store-"));
  store = await openStore({ directory });
  entries = store.entries;
});

afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const stored = (revision: number) => ({ kind: "stored", revision });
const found = (key: string, revision: number, text: string, format = "bytes") => ({
  kind: "found",
  entry: { key, revision, format, body: Buffer.from(text) },
});

async function keysOf(namespace: string, prefix = ""): Promise<string[]> {
  const { entries: listed, more } = await entries.list(namespace, { prefix, limit: 1_000 });
  expect(more).toBe(false);
  return listed.map(({ key }) => key);
}

describe("entries", () => {
  it("gives back what was put, also to who opens the store later", async () => {
    expect(await entries.get("n", "k")).toEqual({ kind: "missing" });
    expect(await entries.put("n", "k", bytes("one"))).toEqual(stored(1));
    expect(await entries.put("n", "empty", new Uint8Array(0), { format: "json" })).toEqual(stored(2));
    expect(await entries.put("n", "part", bytes("abcdef").subarray(2, 4))).toEqual(stored(3));
    await store.close();
    store = await openStore({ directory });
    entries = store.entries;
    expect(await entries.get("n", "k")).toEqual(found("k", 1, "one"));
    expect(await entries.get("n", "empty")).toEqual(found("empty", 2, "", "json"));
    expect(await entries.get("n", "part")).toEqual(found("part", 3, "cd"));
    expect(await entries.usage("n")).toEqual({ entries: 3, bytes: 1 + 3 + 5 + 4 + 2 });
    expect(await entries.usage("other")).toEqual({ entries: 0, bytes: 0 });
  });

  it("compares and sets, and gives no revision twice, not even after a deletion", async () => {
    expect(await entries.put("n", "k", bytes("1"), { expected: 0 })).toEqual(stored(1));
    expect(await entries.put("n", "k", bytes("2"), { expected: 0 })).toEqual({ kind: "conflict", revision: 1 });
    expect(await entries.put("n", "k", bytes("2"), { expected: 1 })).toEqual(stored(2));
    expect(await entries.put("n", "k", bytes("3"), { expected: 1 })).toEqual({ kind: "conflict", revision: 2 });
    expect(await entries.delete("n", "k", { expected: 1 })).toEqual({ kind: "conflict", revision: 2 });
    expect(await entries.get("n", "k")).toEqual(found("k", 2, "2"));
    expect(await entries.delete("n", "k", { expected: 2 })).toEqual({ kind: "deleted", revision: 3 });
    expect(await entries.delete("n", "k")).toEqual({ kind: "missing" });
    expect(await entries.delete("never", "k")).toEqual({ kind: "missing" });
    expect(await entries.put("n", "k", bytes("4"), { expected: 2 })).toEqual({ kind: "conflict", revision: 0 });
    expect(await entries.put("n", "k", bytes("4"), { expected: 0 })).toEqual(stored(4));
    expect(await entries.put("other", "k", bytes("4"))).toEqual(stored(1));
  });

  it("does not read a body that is too long", async () => {
    await entries.put("n", "k", bytes("12345"));
    expect(await entries.get("n", "k", { mostBytes: 5 })).toEqual(found("k", 1, "12345"));
    expect(await entries.get("n", "k", { mostBytes: 4 })).toEqual({ kind: "too-large", revision: 1, bytes: 5 });
  });

  it("holds the quota of a namespace, and lets who is past it make less of it", async () => {
    const quota = { entries: 2, bytes: 10 };
    expect(await entries.put("n", "a", bytes("1234"), { quota })).toEqual(stored(1));
    expect(await entries.put("n", "b", bytes("12345"), { quota })).toEqual({
      kind: "over-quota",
      usage: { entries: 1, bytes: 5 },
    });
    expect(await entries.put("n", "b", bytes("1234"), { quota })).toEqual(stored(2));
    expect(await entries.put("n", "c", bytes(""), { quota })).toMatchObject({ kind: "over-quota" });
    expect(await entries.put("n", "a", bytes("12345"), { quota })).toMatchObject({ kind: "over-quota" });
    expect(await entries.put("n", "a", bytes("123"), { quota: { entries: 1, bytes: 4 } })).toEqual(stored(3));
    expect(await entries.usage("n")).toEqual({ entries: 2, bytes: 9 });
    expect(await entries.put("m", "a", bytes("123"), { quota })).toEqual(stored(1));
  });

  it("keeps apart namespaces and keys that only look alike", async () => {
    const names = [
      "acme",
      "acme.notes",
      "acme.note",
      "acme.notes.",
      "ACME",
      "acme%",
      "acme_",
      "acme*",
      "a\0",
      "a\0b",
      "a",
      "\0",
      "'; DROP TABLE entry; --",
      '"',
      "\u00e9",
      "e\u0301",
      "＇",
      "\u{10ffff}",
      "\u{ffff}",
      " ",
      "a ",
      "__proto__",
      "constructor",
      "x".repeat(511),
      "x".repeat(512),
      "😀".repeat(128),
    ];
    for (const name of names) for (const key of names) await entries.put(name, key, bytes(`${name}|${key}`));
    const inOrder = [...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    for (const name of names) {
      expect(await keysOf(name)).toEqual(inOrder);
      for (const key of names) {
        const lookup = await entries.get(name, key);
        expect(lookup).toMatchObject({ kind: "found", entry: { key } });
        expect(lookup.kind === "found" && Buffer.from(lookup.entry.body).toString()).toBe(`${name}|${key}`);
      }
      expect(await keysOf("acme", name)).toEqual(inOrder.filter((key) => key.startsWith(name)));
    }
    await entries.delete("acme", "a");
    expect(await keysOf("acme.notes")).toEqual(inOrder);
    expect(await keysOf("acme")).toEqual(inOrder.filter((key) => key !== "a"));
  }, 120_000);

  it("pages through 10,000 entries, each once and in order", async () => {
    await store.close();
    // Another connection, for speed: ten thousand commits are as many syncs of the disk.
    const { default: Database } = await import("better-sqlite3");
    const database = new Database(join(directory, "airlock.db"));
    database.exec(
      `INSERT INTO namespace (name, revision, entries, bytes) VALUES (CAST('n' AS BLOB), 10000, 10000, 50000);
       WITH RECURSIVE number (value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM number WHERE value < 9999)
         INSERT INTO entry SELECT 1, CAST(printf('%05d', value) AS BLOB), value + 1, 'bytes', x'' FROM number`,
    );
    database.close();
    store = await openStore({ directory });
    entries = store.entries;
    const seen: string[] = [];
    for (let after: { after: string } | undefined; ; ) {
      const page = await entries.list("n", { ...after, limit: 999 });
      seen.push(...page.entries.map(({ key }) => key));
      if (!page.more) break;
      expect(page.entries).toHaveLength(999);
      after = { after: seen.at(-1)! };
    }
    expect(seen).toEqual(Array.from({ length: 10_000 }, (_, number) => `${number}`.padStart(5, "0")));
    expect(await keysOf("n", "0012")).toEqual(Array.from({ length: 10 }, (_, number) => `0012${number}`));
    const { entries: rest } = await entries.list("n", { prefix: "0012", after: "00128", limit: 5 });
    expect(rest).toEqual([{ key: "00129", revision: 130, bytes: 0 }]);
    expect(await entries.list("n", { prefix: "0012", after: "0013", limit: 5 })).toEqual({ entries: [], more: false });
    expect((await entries.list("n", { prefix: "0012", after: "0000", limit: 1 })).entries[0]!.key).toBe("00120");
  });

  const wrong: readonly (readonly [string, () => Promise<unknown>])[] = [
    ["namespace", () => entries.get("", "k")],
    ["namespace", () => entries.usage(5 as never)],
    ["key", () => entries.get("n", "")],
    ["key", () => entries.put("n", "x".repeat(513), bytes(""))],
    ["key", () => entries.put("n", "é".repeat(257), bytes(""))],
    ["key", () => entries.put("n", "\ud800", bytes(""))],
    ["key", () => entries.delete("n", Object("k") as never)],
    ["body", () => entries.put("n", "k", "text" as never)],
    ["format", () => entries.put("n", "k", bytes(""), { format: "xml" as never })],
    ["expected", () => entries.put("n", "k", bytes(""), { expected: -1 })],
    ["expected", () => entries.delete("n", "k", { expected: 1.5 })],
    ["mostBytes", () => entries.get("n", "k", { mostBytes: Number.NaN })],
    ["quota.bytes", () => entries.put("n", "k", bytes(""), { quota: { entries: 1, bytes: Infinity } })],
    ["prefix", () => entries.list("n", { prefix: "\udc00", limit: 1 })],
    ["after", () => entries.list("n", { after: "", limit: 1 })],
    ["limit", () => entries.list("n", { limit: 0 })],
    ["limit", () => entries.list("n", { limit: 1_001 })],
    ["limit", () => entries.list("n", {} as never)],
  ];
  it.each(wrong)("refuses an argument that is not as it says: %s", async (name, call) => {
    const message = expect.stringContaining(`Cannot use the store: ${name} is `);
    await expect(call()).rejects.toMatchObject({ code: "AIRLOCK_STORE_OPTIONS_INVALID", message });
    expect(await entries.usage("n")).toEqual({ entries: 0, bytes: 0 });
  });

  it("rejects once the store is closed, twice if need be", async () => {
    await store.close();
    await store.close();
    const closed = { code: "AIRLOCK_STORE_CLOSED" };
    await expect(entries.get("n", "k")).rejects.toMatchObject(closed);
    await expect(entries.put("n", "k", bytes(""))).rejects.toMatchObject(closed);
    await expect(store.schedule.nextAt()).rejects.toMatchObject(closed);
  });

  it("does what a map with revisions would do, whatever is asked", async () => {
    // Only few, so that they meet.
    const key = fc.constantFrom("a", "ab", "b", "\0", "é");
    const expected = fc.option(fc.nat(6), { nil: undefined });
    const step = fc.oneof(
      fc.record({ kind: fc.constant("put" as const), key, expected, size: fc.nat(12) }),
      fc.record({ kind: fc.constant("delete" as const), key, expected }),
      fc.record({
        kind: fc.constant("list" as const),
        prefix: fc.constantFrom("", "a", "é", "c"),
        limit: fc.integer({ min: 1, max: 4 }),
      }),
    );
    const quota = { entries: 3, bytes: 25 };
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const namespace = `round ${round++}`;
        const model = new Map<string, { revision: number; size: number }>();
        let revision = 0;
        const total = (): number =>
          [...model].reduce((sum, [name, { size }]) => sum + Buffer.byteLength(name) + size, 0);
        const inOrder = (): string[] =>
          [...model.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
        for (const each of steps) {
          if (each.kind === "list") {
            const all = inOrder().filter((name) => name.startsWith(each.prefix));
            const page = await entries.list(namespace, { prefix: each.prefix, limit: each.limit });
            const listed = all.slice(0, each.limit).map((name) => {
              const { revision: its, size } = model.get(name)!;
              return { key: name, revision: its, bytes: size };
            });
            expect(page).toEqual({ entries: listed, more: all.length > each.limit });
            continue;
          }
          const old = model.get(each.key);
          const options = each.expected === undefined ? {} : { expected: each.expected };
          const differs = each.expected !== undefined && each.expected !== (old?.revision ?? 0);
          if (each.kind === "delete") {
            const deletion = await entries.delete(namespace, each.key, options);
            if (old === undefined) expect(deletion).toEqual({ kind: "missing" });
            else if (differs) expect(deletion).toEqual({ kind: "conflict", revision: old.revision });
            else {
              expect(deletion).toEqual({ kind: "deleted", revision: ++revision });
              model.delete(each.key);
            }
            continue;
          }
          const put = await entries.put(namespace, each.key, new Uint8Array(each.size), { ...options, quota });
          const grown = each.size - (old === undefined ? -Buffer.byteLength(each.key) : old.size);
          if (differs) expect(put).toEqual({ kind: "conflict", revision: old?.revision ?? 0 });
          else if ((old === undefined && model.size === quota.entries) || (grown > 0 && total() + grown > quota.bytes))
            expect(put).toEqual({ kind: "over-quota", usage: { entries: model.size, bytes: total() } });
          else {
            expect(put).toEqual(stored(++revision));
            model.set(each.key, { revision, size: each.size });
          }
          expect(await entries.usage(namespace)).toEqual({ entries: model.size, bytes: total() });
        }
        for (const name of ["a", "ab", "b", "\0", "é"]) {
          const lookup = await entries.get(namespace, name);
          const its = model.get(name);
          if (its === undefined) expect(lookup).toEqual({ kind: "missing" });
          else expect(lookup).toMatchObject({ kind: "found", entry: { revision: its.revision } });
        }
      }),
      { numRuns: 150 },
    );
  });
});
