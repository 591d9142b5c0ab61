import type { Format, Quota, Usage } from "./entries.ts";

/** What is due at a time. */
export interface ScheduledEntry {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly dueAt: number;
  /** Bytes of the body. */
  readonly bytes: number;
  /** How often it was claimed. */
  readonly attempt: number;
}

/** A claim: whoever has it works on the entry until `leasedUntil`, and then settles it. */
export interface DueEntry {
  /** Never the same for two entries, also where the id is used again. */
  readonly serial: number;
  readonly namespace: string;
  readonly id: string;
  readonly dueAt: number;
  readonly format: Format;
  readonly body: Uint8Array;
  /** 1 for the first claim; more where an earlier one was not settled in time. */
  readonly attempt: number;
  readonly leasedUntil: number;
}

/** What `add` answers. */
export type Addition =
  | { readonly kind: "scheduled" }
  | { readonly kind: "duplicate"; readonly dueAt: number }
  | { readonly kind: "over-quota"; readonly usage: Usage };

/** What `cancel` answers. `claimed`: somebody works on it, and it cannot be taken back any more. */
export type Cancellation = { readonly kind: "cancelled" | "missing" | "claimed" };

/**
 * What is due when, by namespace. Times are whole milliseconds since the epoch, and whoever calls says what time it is: the
 * processes on one store are trusted to agree. Names are as in `Entries`, and so is what methods reject with. An entry
 * comes at least once: it is there until it is settled or cancelled.
 */
export interface Schedule {
  /** Adds an entry, and answers when it is on disk. An id is taken until its entry is settled or cancelled. */
  add(
    namespace: string,
    id: string,
    due: { readonly dueAt: number; readonly body: Uint8Array; readonly format?: Format },
    options?: { readonly quota?: Quota },
  ): Promise<Addition>;

  /** The entry of that id, or null. */
  find(namespace: string, id: string): Promise<ScheduledEntry | null>;

  /** Removes an entry that nobody has claimed, or whose claim ran out by `now`. */
  cancel(namespace: string, id: string, options: { readonly now: number }): Promise<Cancellation>;

  /** Entries by due time, then by the UTF-8 bytes of the id; those after `after` (default: from the first), at most `limit`, 1 to 1,000. */
  list(
    namespace: string,
    options: { readonly after?: { readonly dueAt: number; readonly id: string }; readonly limit: number },
  ): Promise<{ readonly entries: readonly ScheduledEntry[]; readonly more: boolean }>;

  /**
   * Claims entries of all namespaces that are due by `now` and that nobody holds, by due time, then id, then namespace; at most `limit`,
   * 1 to 1,000. No other process gets them before `now + leaseMs`; after that anybody does, with a higher attempt.
   */
  claimDue(options: {
    readonly now: number;
    readonly limit: number;
    readonly leaseMs: number;
  }): Promise<readonly DueEntry[]>;

  /** Removes what was claimed. False where it was claimed anew meanwhile, or is gone: then somebody else may have worked on it too. */
  settle(claim: Pick<DueEntry, "serial" | "attempt">): Promise<boolean>;

  /** When the next entry can be claimed, in the past for one that waits already; null for none. */
  nextAt(): Promise<number | null>;

  usage(namespace: string): Promise<Usage>;
}
