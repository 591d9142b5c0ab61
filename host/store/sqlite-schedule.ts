import {
  checkedBody,
  checkedFormat,
  checkedQuota,
  checkedTime,
  MOST_LISTED,
  nameBytes,
  wholeNumber,
} from "./argument.ts";
import { blob, type Columns, format, integer, text } from "./column.ts";
import type { Format, Quota, Usage } from "./entries.ts";
import { isOverQuota } from "./quota.ts";
import type { Addition, Cancellation, DueEntry, Schedule, ScheduledEntry } from "./schedule.ts";
import type { SqliteConnection } from "./sqlite-connection.ts";

interface AgendaRow extends Usage {
  readonly id: number;
}

type DueColumns = Columns<"serial" | "id" | "dueAt" | "readyAt" | "attempt" | "bytes">;

const NOTHING: Usage = { entries: 0, bytes: 0 };
/** Ten years: who needs longer does not mean to give up a claim at all. */
const MOST_LEASE_MS = 10 * 366 * 86_400_000;

/** What is due when, in the tables `agenda` and `due`. */
export class SqliteSchedule implements Schedule {
  readonly #connection: SqliteConnection;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#statements = prepare(connection);
  }

  async add(
    namespace: string,
    id: string,
    due: { readonly dueAt: number; readonly body: Uint8Array; readonly format?: Format },
    options: { readonly quota?: Quota } = {},
  ): Promise<Addition> {
    const name = nameBytes("namespace", namespace);
    const idBytes = nameBytes("id", id);
    const dueAt = checkedTime("dueAt", due.dueAt);
    const body = checkedBody(due.body);
    const kind = checkedFormat(due.format ?? "bytes");
    const quota = checkedQuota(options.quota);
    return this.#connection.write("write", (): Addition => {
      const row = this.#agenda(name);
      const twin = row === undefined ? undefined : this.#statements.find.get(row.id, idBytes);
      if (twin !== undefined) return { kind: "duplicate", dueAt: integer(twin.dueAt) };
      const before = row ?? NOTHING;
      const after = { entries: before.entries + 1, bytes: before.bytes + idBytes.length + body.length };
      if (isOverQuota(before, after, quota)) return { kind: "over-quota", usage: usageOf(before) };
      const agenda = row?.id ?? this.#statements.addAgenda.run(name).lastInsertRowid;
      this.#statements.add.run(agenda, idBytes, dueAt, dueAt, kind, body);
      this.#statements.count.run(after.entries, after.bytes, agenda);
      return { kind: "scheduled" };
    });
  }

  async find(namespace: string, id: string): Promise<ScheduledEntry | null> {
    const names = [nameBytes("namespace", namespace), nameBytes("id", id)];
    return this.#connection.read("read", () => {
      const row = this.#statements.findByName.get(...names);
      return row === undefined ? null : scheduledEntry(row);
    });
  }

  async cancel(namespace: string, id: string, options: { readonly now: number }): Promise<Cancellation> {
    const name = nameBytes("namespace", namespace);
    const idBytes = nameBytes("id", id);
    const now = checkedTime("now", options.now);
    return this.#connection.write("write", (): Cancellation => {
      const row = this.#agenda(name);
      const due = row === undefined ? undefined : this.#statements.find.get(row.id, idBytes);
      if (due === undefined) return { kind: "missing" };
      if (integer(due.attempt) > 0 && integer(due.readyAt) > now) return { kind: "claimed" };
      this.#remove(integer(due.serial));
      return { kind: "cancelled" };
    });
  }

  async list(
    namespace: string,
    options: { readonly after?: { readonly dueAt: number; readonly id: string }; readonly limit: number },
  ): Promise<{ readonly entries: readonly ScheduledEntry[]; readonly more: boolean }> {
    const name = nameBytes("namespace", namespace);
    const { after } = options;
    const from = after === undefined ? Number.MIN_SAFE_INTEGER : checkedTime("after.dueAt", after.dueAt);
    const afterId = after === undefined ? Buffer.alloc(0) : nameBytes("after.id", after.id);
    const limit = wholeNumber("limit", options.limit, 1, MOST_LISTED);
    return this.#connection.read("read", () => {
      const rows = this.#statements.list.all(name, from, afterId, limit + 1);
      return { entries: rows.slice(0, limit).map(scheduledEntry), more: rows.length > limit };
    });
  }

  async claimDue(options: {
    readonly now: number;
    readonly limit: number;
    readonly leaseMs: number;
  }): Promise<readonly DueEntry[]> {
    const now = checkedTime("now", options.now);
    const limit = wholeNumber("limit", options.limit, 1, MOST_LISTED);
    const leasedUntil = now + wholeNumber("leaseMs", options.leaseMs, 1, MOST_LEASE_MS);
    // Whoever asks often mostly gets nothing, and should not wait for the lock to hear it.
    const next = await this.nextAt();
    if (next === null || next > now) return [];
    return this.#connection.write("write", () =>
      this.#statements.claimable.all(now, now, limit).map((row): DueEntry => {
        const serial = integer(row.serial);
        this.#statements.claim.run(leasedUntil, serial);
        return {
          serial,
          namespace: text(row.namespace),
          id: text(row.id),
          dueAt: integer(row.dueAt),
          format: format(row.format),
          body: blob(row.body),
          attempt: integer(row.attempt) + 1,
          leasedUntil,
        };
      }),
    );
  }

  async settle(claim: Pick<DueEntry, "serial" | "attempt">): Promise<boolean> {
    const serial = wholeNumber("serial", claim.serial, 1);
    const attempt = wholeNumber("attempt", claim.attempt, 1);
    return this.#connection.write("write", () => {
      if (this.#statements.claimed.get(serial, attempt) === undefined) return false;
      this.#remove(serial);
      return true;
    });
  }

  async nextAt(): Promise<number | null> {
    return this.#connection.read("read", () => {
      const at = this.#statements.next.get()?.at ?? null;
      return at === null ? null : integer(at);
    });
  }

  async usage(namespace: string): Promise<Usage> {
    const name = nameBytes("namespace", namespace);
    return this.#connection.read("read", () => usageOf(this.#agenda(name) ?? NOTHING));
  }

  #agenda(name: Buffer): AgendaRow | undefined {
    const row = this.#statements.agenda.get(name);
    if (row === undefined) return undefined;
    return { id: integer(row.id), entries: integer(row.entries), bytes: integer(row.bytes) };
  }

  /** Within a transaction. */
  #remove(serial: number): void {
    this.#statements.uncount.run(serial);
    this.#statements.remove.run(serial);
  }
}

const COLUMNS = "serial, due.id, due_at AS dueAt, ready_at AS readyAt, attempt, length(body) AS bytes";

function prepare(connection: SqliteConnection) {
  return {
    agenda: connection.prepare<Columns<"id" | "entries" | "bytes">>(
      "SELECT id, entries, bytes FROM agenda WHERE name = ?",
    ),
    addAgenda: connection.prepare("INSERT INTO agenda (name, entries, bytes) VALUES (?, 0, 0)"),
    count: connection.prepare("UPDATE agenda SET entries = ?, bytes = ? WHERE id = ?"),
    uncount: connection.prepare(
      `UPDATE agenda SET entries = entries - 1, bytes = agenda.bytes - length(due.id) - length(due.body)
         FROM due WHERE due.serial = ? AND agenda.id = due.agenda`,
    ),
    find: connection.prepare<DueColumns>(`SELECT ${COLUMNS} FROM due WHERE agenda = ? AND id = ?`),
    findByName: connection.prepare<DueColumns>(
      `SELECT ${COLUMNS} FROM due JOIN agenda ON agenda.id = due.agenda WHERE agenda.name = ? AND due.id = ?`,
    ),
    add: connection.prepare(
      "INSERT INTO due (agenda, id, due_at, ready_at, attempt, format, body) VALUES (?, ?, ?, ?, 0, ?, ?)",
    ),
    remove: connection.prepare("DELETE FROM due WHERE serial = ?"),
    list: connection.prepare<DueColumns>(
      `SELECT ${COLUMNS} FROM due JOIN agenda ON agenda.id = due.agenda
         WHERE agenda.name = ? AND (due_at, due.id) > (?, ?) ORDER BY due_at, due.id LIMIT ?`,
    ),
    next: connection.prepare<Columns<"at">>("SELECT min(ready_at) AS at FROM due"),
    // By the order and not by what is ready: entries of others that come first are few, and a backlog is not sorted for each claim.
    claimable: connection.prepare<Columns<"serial" | "namespace" | "id" | "dueAt" | "attempt" | "format" | "body">>(
      `SELECT serial, agenda.name AS namespace, due.id, due_at AS dueAt, attempt, format, body
         FROM due INDEXED BY due_in_order CROSS JOIN agenda ON agenda.id = due.agenda
         WHERE due_at <= ? AND ready_at <= ? ORDER BY due_at, due.id, due.agenda LIMIT ?`,
    ),
    claim: connection.prepare("UPDATE due SET attempt = attempt + 1, ready_at = ? WHERE serial = ?"),
    claimed: connection.prepare<Columns<"serial">>("SELECT serial FROM due WHERE serial = ? AND attempt = ?"),
  };
}

function scheduledEntry({ id, dueAt, bytes, attempt }: DueColumns): ScheduledEntry {
  return { id: text(id), dueAt: integer(dueAt), bytes: integer(bytes), attempt: integer(attempt) };
}

function usageOf({ entries, bytes }: Usage): Usage {
  return { entries, bytes };
}
