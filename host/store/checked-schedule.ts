import {
  asBuffer,
  checkedBody,
  checkedFormat,
  checkedName,
  checkedQuota,
  checkedTime,
  MOST_LISTED,
  wholeNumber,
} from "./argument.ts";
import type { Format, Quota, Usage } from "./entries.ts";
import type { StoreCalls } from "./protocol.ts";
import type { Addition, Cancellation, DueEntry, Schedule, ScheduledEntry } from "./schedule.ts";

/** Ten years: who needs longer does not mean to give up a claim at all. */
const MOST_LEASE_MS = 10 * 366 * 86_400_000;

/** What is due when, for callers: their arguments are checked and copied before anybody is asked. */
export class CheckedSchedule implements Schedule {
  readonly #calls: StoreCalls;

  constructor(calls: StoreCalls) {
    this.#calls = calls;
  }

  async add(
    namespace: string,
    id: string,
    due: { readonly dueAt: number; readonly body: Uint8Array; readonly format?: Format },
    options: { readonly quota?: Quota } = {},
  ): Promise<Addition> {
    const names = [checkedName("namespace", namespace), checkedName("id", id)] as const;
    const dueAt = checkedTime("dueAt", due.dueAt);
    const body = checkedBody(due.body);
    const format = checkedFormat(due.format ?? "bytes");
    const quota = checkedQuota(options.quota);
    return this.#calls.ask("schedule", "add", ...names, body, { dueAt, format, quota });
  }

  async find(namespace: string, id: string): Promise<ScheduledEntry | null> {
    return this.#calls.ask("schedule", "find", checkedName("namespace", namespace), checkedName("id", id));
  }

  async cancel(namespace: string, id: string, options: { readonly now: number }): Promise<Cancellation> {
    const names = [checkedName("namespace", namespace), checkedName("id", id)] as const;
    return this.#calls.ask("schedule", "cancel", ...names, checkedTime("now", options.now));
  }

  async list(
    namespace: string,
    options: { readonly after?: { readonly dueAt: number; readonly id: string }; readonly limit: number },
  ): Promise<{ readonly entries: readonly ScheduledEntry[]; readonly more: boolean }> {
    const name = checkedName("namespace", namespace);
    const { after } = options;
    const from =
      after === undefined
        ? null
        : { dueAt: checkedTime("after.dueAt", after.dueAt), id: checkedName("after.id", after.id) };
    const limit = wholeNumber("limit", options.limit, 1, MOST_LISTED);
    return this.#calls.ask("schedule", "list", name, { after: from, limit });
  }

  async claimDue(options: {
    readonly now: number;
    readonly limit: number;
    readonly leaseMs: number;
  }): Promise<readonly DueEntry[]> {
    const now = checkedTime("now", options.now);
    const limit = wholeNumber("limit", options.limit, 1, MOST_LISTED);
    const leasedUntil = now + wholeNumber("leaseMs", options.leaseMs, 1, MOST_LEASE_MS);
    const claims = await this.#calls.ask("schedule", "claimDue", { now, limit, leasedUntil });
    return claims.map((claim) => ({ ...claim, body: asBuffer(claim.body) }));
  }

  async settle(claim: Pick<DueEntry, "serial" | "attempt">): Promise<boolean> {
    const serial = wholeNumber("serial", claim.serial, 1);
    return this.#calls.ask("schedule", "settle", serial, wholeNumber("attempt", claim.attempt, 1));
  }

  async nextAt(): Promise<number | null> {
    return this.#calls.ask("schedule", "nextAt");
  }

  async usage(namespace: string): Promise<Usage> {
    return this.#calls.ask("schedule", "usage", checkedName("namespace", namespace));
  }
}
