import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isHostError } from "../errors/errors.ts";
import { CheckedEntries } from "./checked-entries.ts";
import { CheckedSchedule } from "./checked-schedule.ts";
import type { StoreCalls } from "./protocol.ts";
import { openSqliteStore, type SqliteStore } from "./sqlite-store.ts";
import { resolveStoreOptions } from "./store-options.ts";

type Nouns = ReturnType<typeof nounsOf>;

const CALLS: readonly ((nouns: Nouns) => Promise<unknown>)[] = [
  ({ entries }) => entries.get("n", "k7"),
  ({ entries }) => entries.list("n", { limit: 100 }),
  ({ entries }) => entries.put("n", "k7", Buffer.alloc(500)),
  ({ entries }) => entries.delete("n", "k3"),
  ({ entries }) => entries.usage("n"),
  ({ schedule }) => schedule.list("n", { limit: 100 }),
  ({ schedule }) => schedule.claimDue({ now: 30, limit: 10, leaseMs: 5 }),
  ({ schedule }) => schedule.cancel("n", "i50", { now: 1 }),
  ({ schedule }) => schedule.add("n", "new", { dueAt: 5, body: Buffer.alloc(9) }),
  ({ schedule }) => schedule.nextAt(),
];

describe("a store of which bytes were changed", () => {
  it("does what it can and says of the rest that it is damaged, in the words of this room", async () => {
    const top = mkdtempSync(join(tmpdir(), "airlock-store-"));
    const whole = await filled(join(top, "whole"));
    const codes = new Set<string>();
    const note = (thrown: unknown): null => {
      // Whatever else is thrown comes from the driver, or from a row that was believed.
      if (!isHostError(thrown)) throw thrown;
      codes.add(thrown.code);
      return null;
    };
    let round = 0;
    // More of them near the beginning, where the schema is.
    const position = fc.oneof(fc.nat(4_095), fc.nat(whole.length - 1));
    const changes = fc.array(fc.tuple(position, fc.nat(255)), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(changes, async (changed) => {
        const directory = join(top, `${round++}`);
        (await open(directory)).close();
        const bytes = Buffer.from(whole);
        for (const [at, byte] of changed) bytes[at] = byte;
        writeFileSync(join(directory, "airlock.db"), bytes);
        const store = await open(directory).catch(note);
        if (store === null) return;
        for (const call of CALLS) await call(nounsOf(store)).catch(note);
        store.close();
        rmSync(directory, { recursive: true });
      }),
      { numRuns: 400 },
    );
    expect([...codes]).toContain("AIRLOCK_STORE_CORRUPT");
    rmSync(top, { recursive: true });
  });
});

/** Hundreds of stores, each open for a moment: they are opened as their threads would do it, in this one. */
function open(directory: string): Promise<SqliteStore> {
  return openSqliteStore(resolveStoreOptions({ directory }));
}

function nounsOf(store: SqliteStore) {
  const calls: StoreCalls = { ask: async (noun, method, ...args) => store.answer(noun, method, args) as never };
  return { entries: new CheckedEntries(calls), schedule: new CheckedSchedule(calls) };
}

/** The bytes of a store that has something of everything. */
async function filled(directory: string): Promise<Buffer> {
  const store = await open(directory);
  const { entries, schedule } = nounsOf(store);
  for (let number = 0; number < 60; number++) {
    await entries.put("n", `k${number}`, Buffer.alloc(number * 40, number));
    await schedule.add("n", `i${number}`, { dueAt: number, body: Buffer.alloc(number) });
  }
  store.close();
  return readFileSync(join(directory, "airlock.db"));
}
