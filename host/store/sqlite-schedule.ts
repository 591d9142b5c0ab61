import { nameBytes } from "./argument.ts";
import { blob, type Columns, format, integer, text } from "./column.ts";
import type { Format, Quota, Usage } from "./entries.ts";
import { isOverQuota } from "./quota.ts";
import type { Addition, Cancellation, DueEntry, ScheduledEntry } from "./schedule.ts";
import type { SqliteConnection } from "./sqlite-connection.ts";

interface AgendaRow extends Usage {
  readonly id: number;
}

type DueColumns = Columns<"serial" | "id" | "dueAt" | "readyAt" | "attempt" | "bytes">;

const NOTHING: Usage = { entries: 0, bytes: 0 };

/** What is due when, in the tables `agenda` and `due`. The methods are those of `Schedule`, for arguments that were checked. */
export class SqliteSchedule {
  readonly #connection: SqliteConnection;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#statements = prepare(connection);
  }

  add(
    namespace: string,
    id: string,
    body: Uint8Array,
    { dueAt, format, quota }: { readonly dueAt: number; readonly format: Format; readonly quota: Quota | null },
  ): Addition {
    const name = nameBytes(namespace);
    const idBytes = nameBytes(id);
    return this.#connection.write("write", (): Addition => {
      const row = this.#agenda(name);
      const twin = row === undefined ? undefined : this.#statements.find.get(row.id, idBytes);
      if (twin !== undefined) return { kind: "duplicate", dueAt: integer(twin.dueAt) };
      const before = row ?? NOTHING;
      const after = { entries: before.entries + 1, bytes: before.bytes + idBytes.length + body.length };
      if (isOverQuota(before, after, quota)) return { kind: "over-quota", usage: usageOf(before) };
      const agenda = row?.id ?? this.#statements.addAgenda.run(name).lastInsertRowid;
      this.#statements.add.run(agenda, idBytes, dueAt, dueAt, format, body);
      this.#statements.count.run(after.entries, after.bytes, agenda);
      return { kind: "scheduled" };
    });
  }

  find(namespace: string, id: string): ScheduledEntry | null {
    const names = [nameBytes(namespace), nameBytes(id)];
    return this.#connection.read("read", () => {
      const row = this.#statements.findByName.get(...names);
      return row === undefined ? null : scheduledEntry(row);
    });
  }

  cancel(namespace: string, id: string, now: number): Cancellation {
    const name = nameBytes(namespace);
    const idBytes = nameBytes(id);
    return this.#connection.write("write", (): Cancellation => {
      const row = this.#agenda(name);
      const due = row === undefined ? undefined : this.#statements.find.get(row.id, idBytes);
      if (due === undefined) return { kind: "missing" };
      if (integer(due.attempt) > 0 && integer(due.readyAt) > now) return { kind: "claimed" };
      this.#remove(integer(due.serial));
      return { kind: "cancelled" };
    });
  }

  list(
    namespace: string,
    {
      after,
      limit,
    }: { readonly after: { readonly dueAt: number; readonly id: string } | null; readonly limit: number },
  ): { readonly entries: readonly ScheduledEntry[]; readonly more: boolean } {
    const name = nameBytes(namespace);
    const from = after?.dueAt ?? Number.MIN_SAFE_INTEGER;
    const afterId = nameBytes(after?.id ?? "");
    return this.#connection.read("read", () => {
      const rows = this.#statements.list.all(name, from, afterId, limit + 1);
      return { entries: rows.slice(0, limit).map(scheduledEntry), more: rows.length > limit };
    });
  }

  claimDue({
    now,
    limit,
    leasedUntil,
  }: {
    readonly now: number;
    readonly limit: number;
    readonly leasedUntil: number;
  }): readonly DueEntry[] {
    // Whoever asks often mostly gets nothing, and should not wait for the lock to hear it.
    const next = this.nextAt();
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

  settle(serial: number, attempt: number): boolean {
    return this.#connection.write("write", () => {
      if (this.#statements.claimed.get(serial, attempt) === undefined) return false;
      this.#remove(serial);
      return true;
    });
  }

  nextAt(): number | null {
    return this.#connection.read("read", () => {
      const at = this.#statements.next.get()?.at ?? null;
      return at === null ? null : integer(at);
    });
  }

  usage(namespace: string): Usage {
    const name = nameBytes(namespace);
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
