/**
 * The store: the one interface to durable state, and its drivers. In: a directory of the application's. Out: what several processes
 * share and what outlives them. Holds always: the only SQL of the project is here, and runs on a thread of each store's own; directory
 * 0700, file 0600, no links followed; what a promise has confirmed is on disk; a quota holds for all processes together. Not promised:
 * that a disk keeps what it was told to, a file system without locks (such as many over a network), and what another program writes into
 * the file.
 */
export type {
  Deletion,
  Entries,
  Entry,
  EntryListing,
  Format,
  Lookup,
  Put,
  Quota,
  Usage,
} from "./entries.ts";
export { openStore, type Store } from "./open-store.ts";
export type { Addition, Cancellation, DueEntry, Schedule, ScheduledEntry } from "./schedule.ts";
export type { StoreOptions } from "./store-options.ts";
