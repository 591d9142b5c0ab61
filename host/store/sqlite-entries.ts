import { nameBytes } from "./argument.ts";
import { blob, type Columns, format, integer, text } from "./column.ts";
import type { Deletion, EntryListing, Format, Lookup, Put, Quota, Usage } from "./entries.ts";
import { isOverQuota } from "./quota.ts";
import type { SqliteConnection } from "./sqlite-connection.ts";

interface NamespaceRow extends Usage {
  readonly id: number;
  readonly revision: number;
}

interface EntryRow {
  readonly revision: number;
  /** Of the body. */
  readonly bytes: number;
}

const NOTHING: Usage = { entries: 0, bytes: 0 };
/** No byte of UTF-8 is as high. */
const PAST_ALL_KEYS = Buffer.of(0xff);

/**
 * Values under keys, in the tables `namespace` and `entry`. What a namespace holds is counted in its row by every write. The methods are those
 * of `Entries`, for arguments that were checked.
 */
export class SqliteEntries {
  readonly #connection: SqliteConnection;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#statements = prepare(connection);
  }

  get(namespace: string, key: string, most: number): Lookup {
    const names = [nameBytes(namespace), nameBytes(key)];
    return this.#connection.read("read", () => {
      const found = this.#statements.entry.get(most, ...names);
      if (found === undefined) return { kind: "missing" };
      const revision = integer(found.revision);
      return found.body === null
        ? { kind: "too-large", revision, bytes: integer(found.bytes) }
        : { kind: "found", entry: { key, revision, format: format(found.format), body: blob(found.body) } };
    });
  }

  put(
    namespace: string,
    key: string,
    body: Uint8Array,
    {
      expected,
      format,
      quota,
    }: { readonly expected: number | null; readonly format: Format; readonly quota: Quota | null },
  ): Put {
    const name = nameBytes(namespace);
    const keyBytes = nameBytes(key);
    return this.#connection.write("write", (): Put => {
      const row = this.#namespace(name);
      const old = row === undefined ? undefined : this.#entry(row.id, keyBytes);
      const current = old?.revision ?? 0;
      if (expected !== null && expected !== current) return { kind: "conflict", revision: current };
      const before = row ?? NOTHING;
      const added = body.length + (old === undefined ? keyBytes.length : -old.bytes);
      const after = { entries: before.entries + (old === undefined ? 1 : 0), bytes: before.bytes + added };
      if (isOverQuota(before, after, quota)) return { kind: "over-quota", usage: usageOf(before) };
      const revision = (row?.revision ?? 0) + 1;
      const id = row?.id ?? this.#statements.addNamespace.run(name).lastInsertRowid;
      this.#statements.put.run(id, keyBytes, revision, format, body);
      this.#statements.count.run(revision, after.entries, after.bytes, id);
      return { kind: "stored", revision };
    });
  }

  delete(namespace: string, key: string, expected: number | null): Deletion {
    const name = nameBytes(namespace);
    const keyBytes = nameBytes(key);
    return this.#connection.write("write", (): Deletion => {
      const row = this.#namespace(name);
      const old = row === undefined ? undefined : this.#entry(row.id, keyBytes);
      if (row === undefined || old === undefined) return { kind: "missing" };
      if (expected !== null && expected !== old.revision) return { kind: "conflict", revision: old.revision };
      const revision = row.revision + 1;
      this.#statements.delete.run(row.id, keyBytes);
      this.#statements.count.run(revision, row.entries - 1, row.bytes - keyBytes.length - old.bytes, row.id);
      return { kind: "deleted", revision };
    });
  }

  list(
    namespace: string,
    options: { readonly prefix: string; readonly after: string | null; readonly limit: number },
  ): EntryListing {
    const name = nameBytes(namespace);
    const prefix = nameBytes(options.prefix);
    const after = options.after === null ? null : nameBytes(options.after);
    const { limit } = options;
    return this.#connection.read("read", () => {
      const rows = this.#statements.list.all(name, firstKey(prefix, after), pastPrefix(prefix), limit + 1);
      const entries = rows
        .slice(0, limit)
        .map(({ key, revision, bytes }) => ({ key: text(key), revision: integer(revision), bytes: integer(bytes) }));
      return { entries, more: rows.length > limit };
    });
  }

  usage(namespace: string): Usage {
    const name = nameBytes(namespace);
    return this.#connection.read("read", () => usageOf(this.#namespace(name) ?? NOTHING));
  }

  #namespace(name: Buffer): NamespaceRow | undefined {
    const row = this.#statements.namespace.get(name);
    if (row === undefined) return undefined;
    const { id, revision, entries, bytes } = row;
    return { id: integer(id), revision: integer(revision), entries: integer(entries), bytes: integer(bytes) };
  }

  #entry(namespace: number, key: Buffer): EntryRow | undefined {
    const row = this.#statements.revision.get(namespace, key);
    return row === undefined ? undefined : { revision: integer(row.revision), bytes: integer(row.bytes) };
  }
}

function prepare(connection: SqliteConnection) {
  return {
    namespace: connection.prepare<Columns<"id" | "revision" | "entries" | "bytes">>(
      "SELECT id, revision, entries, bytes FROM namespace WHERE name = ?",
    ),
    addNamespace: connection.prepare("INSERT INTO namespace (name, revision, entries, bytes) VALUES (?, 0, 0, 0)"),
    count: connection.prepare("UPDATE namespace SET revision = ?, entries = ?, bytes = ? WHERE id = ?"),
    revision: connection.prepare<Columns<"revision" | "bytes">>(
      "SELECT revision, length(body) AS bytes FROM entry WHERE namespace = ? AND key = ?",
    ),
    // A body that is too long is not read from disk: SQLite knows its length without it.
    entry: connection.prepare<Columns<"revision" | "bytes" | "format" | "body">>(
      `SELECT entry.revision, length(body) AS bytes, format, CASE WHEN length(body) <= ? THEN body END AS body
         FROM entry JOIN namespace ON namespace.id = entry.namespace WHERE namespace.name = ? AND key = ?`,
    ),
    put: connection.prepare(
      `INSERT INTO entry (namespace, key, revision, format, body) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (namespace, key) DO UPDATE SET revision = excluded.revision, format = excluded.format, body = excluded.body`,
    ),
    delete: connection.prepare("DELETE FROM entry WHERE namespace = ? AND key = ?"),
    list: connection.prepare<Columns<"key" | "revision" | "bytes">>(
      `SELECT key, entry.revision, length(body) AS bytes FROM entry JOIN namespace ON namespace.id = entry.namespace
         WHERE namespace.name = ? AND key >= ? AND key < ? ORDER BY key LIMIT ?`,
    ),
  };
}

/** The least key that may come: the next one after `after` is that with a NUL behind it. */
function firstKey(prefix: Buffer, after: Buffer | null): Buffer {
  if (after === null || Buffer.compare(after, prefix) < 0) return prefix;
  return Buffer.concat([after, Buffer.of(0)]);
}

/** The least byte string that comes after all that begin with the prefix. */
function pastPrefix(prefix: Buffer): Buffer {
  if (prefix.length === 0) return PAST_ALL_KEYS;
  const past = Buffer.from(prefix);
  past[past.length - 1]! += 1;
  return past;
}

function usageOf({ entries, bytes }: Usage): Usage {
  return { entries, bytes };
}
