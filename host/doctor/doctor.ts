/**
 * The doctor. In: hostile guests, shipped as WAT, each with the ending that it must have. Out: a report that says for each guest
 * how it ended, and for each limit, ending and admission code which guests proved it on this machine. Holds always: every guest
 * runs on a real host of its own, and after each one the host must still serve a good run. Not promised: that what no guest
 * tries cannot be done.
 */
import { createHost, type Host } from "../host.ts";
import { parseManifest } from "../manifest/manifest.ts";
import type { Expectation } from "./definition.ts";
import { type Guest, guestDefinition, guestNames, loadGuest } from "./guest.ts";
import type { Observed } from "./observed.ts";
import { OFFERED } from "./offers.ts";
import { ROWS, type Row } from "./rows.ts";
import { type Admission, admitGuest, tryGuest } from "./trial.ts";

export type { Expectation } from "./definition.ts";
export type { Observed } from "./observed.ts";
export { ROWS, type Row } from "./rows.ts";

/** What to examine. */
export interface DoctorOptions {
  /** Names of guests; default: all. The rows are then those that these guests prove. */
  readonly guests?: readonly string[];
  /** Of the first run; the second is always on fresh memories. Default: recycled, so that the two are compared. */
  readonly tier?: "reset" | "recycled" | "fresh";
  /** Hears of each guest when it is through. */
  readonly onProgress?: (result: GuestResult) => void;
}

/** How one guest did. */
export interface GuestResult {
  readonly name: string;
  readonly description: string;
  /** A limit, an admission code, or `ending:<kind>`. */
  readonly proves: string;
  readonly expected: Expectation;
  readonly got: Observed;
  readonly ok: boolean;
  /** Milliseconds of the run, or of the refusal. */
  readonly ms: number;
  /** Units of fuel; null where that is only a lower bound, or nothing ran. */
  readonly fuel: number | null;
  /** What is wrong, in one line; when all is well, what the host said, or null. */
  readonly note: string | null;
}

/** Whether a promise was proved, and by whom. */
export interface RowResult extends Row {
  readonly provedBy: readonly string[];
  readonly ok: boolean;
}

export interface DoctorReport {
  readonly node: string;
  readonly guests: readonly GuestResult[];
  readonly rows: readonly RowResult[];
  /** True when every guest ended as it must and every row was proved. */
  readonly ok: boolean;
}

/** The guest that answers. It runs after each hostile one. */
const CONTROL = "answers";

const KiB = 1024;
/** Low enough that a guest of a few hundred kilobytes is too large, and that one can fill a thread's heap. */
const MAX_COMPONENT_BYTES = 1024 * KiB;
const HEAP_MEGABYTES = 32;
/** No guest needs a tenth of it; a busy machine is no reason to say that a promise is broken. */
const COMPILE_TIMEOUT_MS = 30_000;

/** Guests that are admitted at the same time: admission is the work of other processes. */
const AHEAD = 2;

/** Runs the guests on a host made for them. Throws a plain Error for a guest that does not exist. */
export async function examine(options: DoctorOptions = {}): Promise<DoctorReport> {
  const { tier = "reset", onProgress, guests: selected } = options;
  const guests: Guest[] = [];
  for (const name of selected ?? guestNames()) guests.push(await loadGuest(name));
  const results: GuestResult[] = [];
  const host = await createHost({
    threads: 1,
    heapMegabytes: HEAP_MEGABYTES,
    tier,
    imports: OFFERED,
    maxComponentBytes: MAX_COMPONENT_BYTES,
    compile: { timeoutMs: COMPILE_TIMEOUT_MS },
  });
  try {
    const control = await installControl(host);
    for await (const admission of admitAhead(host, guests)) {
      const { got, ms, fuel, problem } = await tryGuest(host, admission, control);
      const { name, description, proves, expect: expected } = admission.guest;
      const note = problem ?? got.message ?? null;
      const result = { name, description, proves, expected, got, ok: problem === null, ms, fuel, note };
      results.push(result);
      onProgress?.(result);
    }
  } finally {
    await host.close();
  }
  const rows = judgeRows(results, selected === undefined);
  const ok = results.every((result) => result.ok) && rows.every((row) => row.ok);
  return { node: process.version, guests: results, rows, ok };
}

/** What there is to examine: names and what each proves. */
export function listGuests(): readonly Pick<GuestResult, "name" | "description" | "proves">[] {
  return guestNames().map((name) => {
    const { description, proves } = guestDefinition(name);
    return { name, description, proves };
  });
}

async function* admitAhead(host: Host, guests: readonly Guest[]): AsyncGenerator<Admission> {
  const begun: Promise<Admission>[] = [];
  let next = 0;
  for (;;) {
    while (begun.length < AHEAD && next < guests.length) begun.push(admitGuest(host, guests[next++]!));
    const first = begun.shift();
    if (first === undefined) return;
    yield await first;
  }
}

async function installControl(host: Host): Promise<() => Promise<string | null>> {
  const guest = await loadGuest(CONTROL);
  const manifest = parseManifest(guest.manifestText, "control");
  const { id } = await host.install({ manifest: { ...manifest, id: "doctor.control" }, component: guest.component });
  return async () => {
    const outcome = await host.run(id, { input: "still here" }).outcome;
    return outcome.kind === "succeeded" && outcome.output === "still here" ? null : outcome.kind;
  };
}

function judgeRows(results: readonly GuestResult[], all: boolean): readonly RowResult[] {
  return ROWS.flatMap((row) => {
    const named = results.filter(({ proves }) => proves === row.name);
    if (named.length === 0 && !all) return [];
    const provedBy = named.filter(({ ok }) => ok).map(({ name }) => name);
    return [{ ...row, provedBy, ok: provedBy.length > 0 }];
  });
}
