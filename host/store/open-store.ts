import type { Entries } from "./entries.ts";
import type { Schedule } from "./schedule.ts";
import { resolveStoreOptions, type StoreOptions } from "./store-options.ts";
import { openThreadedStore } from "./threaded-store.ts";

/**
 * Durable state that several processes share. What a method has answered is on disk; what it has rejected was not done, unless the thread
 * of the store ended meanwhile (AIRLOCK_STORE_UNAVAILABLE, and so for all that comes later): then it was done as a whole or not at all. Calls
 * are carried out one after the other, in the order in which they were made, on that thread alone: a read takes some ten microseconds, a
 * write as long as the disk needs to confirm it, often a millisecond or more. At most 10,000 wait, then AIRLOCK_STORE_BUSY. The thread keeps
 * the process alive while a call is under way, and not otherwise.
 */
export interface Store {
  /** The real path of its directory. */
  readonly directory: string;
  /** Values under keys. */
  readonly entries: Entries;
  /** What is due when. */
  readonly schedule: Schedule;
  /** Resolves when what was called before has been answered. Idempotent. Whatever is called after that rejects with AIRLOCK_STORE_CLOSED. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Opens the store in a directory, and makes both where they are missing; several processes may do it at once. It needs the optional
 * dependency better-sqlite3. Rejects with AIRLOCK_STORE_OPTIONS_INVALID, AIRLOCK_STORE_UNSAFE, AIRLOCK_STORE_DRIVER_MISSING,
 * AIRLOCK_STORE_CORRUPT, AIRLOCK_STORE_NEWER, AIRLOCK_STORE_UNAVAILABLE, AIRLOCK_STORE_FULL and AIRLOCK_STORE_BUSY.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  return openThreadedStore(resolveStoreOptions(options));
}
