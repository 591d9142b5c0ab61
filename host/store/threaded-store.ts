import { CheckedEntries } from "./checked-entries.ts";
import { CheckedSchedule } from "./checked-schedule.ts";
import type { Entries } from "./entries.ts";
import type { Store } from "./open-store.ts";
import type { Schedule } from "./schedule.ts";
import type { ResolvedStoreOptions } from "./store-options.ts";
import { ThreadCalls } from "./thread-calls.ts";

/** Opens a store in a thread of its own. Rejects with what `openStore` says, and then no thread is left. */
export async function openThreadedStore(options: ResolvedStoreOptions): Promise<Store> {
  const calls = new ThreadCalls(options);
  try {
    return new ThreadedStore(await calls.opened, calls);
  } catch (thrown) {
    await calls.close();
    throw thrown;
  }
}

class ThreadedStore implements Store {
  readonly directory: string;
  readonly entries: Entries;
  readonly schedule: Schedule;
  readonly #calls: ThreadCalls;

  constructor(directory: string, calls: ThreadCalls) {
    this.directory = directory;
    this.entries = new CheckedEntries(calls);
    this.schedule = new CheckedSchedule(calls);
    this.#calls = calls;
  }

  close(): Promise<void> {
    return this.#calls.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
