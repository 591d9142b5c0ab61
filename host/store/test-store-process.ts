/**
 * A process on a store, for tests: `<task> <directory> [argument]`. It opens the store once it has read a line from stdin and has printed `ready`, so
 * that several can begin at once; then it prints what it did, as its task says.
 */
import { once } from "node:events";
import { writeSync } from "node:fs";
import { isHostError } from "../errors/errors.ts";
import { openStore, type Store } from "./store.ts";

const [, , task = "", directory = "", argument = ""] = process.argv;
const say = (line: string): number => writeSync(1, `${line}\n`);

const TASKS: Readonly<Record<string, (store: Store) => Promise<void>>> = {
  /** Prints `opened`. */
  async open() {
    say("opened");
  },

  /** Adds one to a counter as often as the argument says; an attempt that lost is made again. */
  async count(store) {
    for (let done = 0; done < Number(argument); ) {
      const found = await store.entries.get("counters", "one");
      const [value, expected] =
        found.kind === "found" ? [Number(Buffer.from(found.entry.body).toString()), found.entry.revision] : [0, 0];
      const body = Buffer.from(String(value + 1));
      const put = await store.entries.put("counters", "one", body, { expected }).catch(busy);
      if (put?.kind === "stored") done++;
    }
    say("counted");
  },

  /** Puts entries of 5,000 bytes under ever new keys, and prints each key once it is confirmed. */
  async fill(store) {
    for (let number = 0; ; number++) {
      await store.entries.put("filled", `${number}`, Buffer.alloc(5_000, number % 251));
      say(`${number}`);
    }
  },

  /** Puts entries of its own until it is over quota, and prints how many. */
  async quota(store) {
    const quota = { entries: 100, bytes: 100_000 };
    for (let number = 0, stored = 0; ; number++) {
      const put = await store.entries.put("bounded", `${argument}-${number}`, Buffer.alloc(10), { quota }).catch(busy);
      if (put?.kind === "over-quota") return void say(`${stored}`);
      if (put?.kind === "stored") stored++;
    }
  },

  /** Claims what is due, three at a time, until nothing is, and prints the ids; settles nothing. */
  async claim(store) {
    for (;;) {
      const claims = await store.schedule.claimDue({ now: 1_000, limit: 3, leaseMs: 60_000 }).catch(busy);
      for (const { id, attempt } of claims ?? []) say(`${id} ${attempt}`);
      if (claims?.length === 0) return;
    }
  },

  /** Puts entries until that fails, and prints how many were confirmed and the code. */
  async overflow(store) {
    for (let number = 0; ; number++) {
      try {
        await store.entries.put("filled", `${number}`, Buffer.alloc(5_000, number % 251));
      } catch (thrown) {
        if (!isHostError(thrown)) throw thrown;
        return void say(`${number} ${thrown.code}`);
      }
    }
  },
};

say("ready");
await once(process.stdin, "data");
process.stdin.destroy();
try {
  const store = await openStore({ directory });
  await TASKS[task]!(store);
  await store.close();
} catch (thrown) {
  if (!isHostError(thrown)) throw thrown;
  say(`${thrown.code} ${thrown.message}`);
}

/** That the lock was kept for too long is no defect; that what was read is no longer true (SQLITE_BUSY_SNAPSHOT) would be one. */
function busy(thrown: unknown): undefined {
  if (!isHostError(thrown) || (thrown.details as { sqlite?: unknown })?.sqlite !== "SQLITE_BUSY") throw thrown;
}
