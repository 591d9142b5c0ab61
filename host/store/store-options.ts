import { resolve } from "node:path";
import { HostError, nearest, quote } from "../errors/errors.ts";

/** Where a store is, and its bounds. */
export interface StoreOptions {
  /**
   * A directory of this user's own, made where it is missing. One that is there must belong to the user and have mode 0700: what
   * others could have written is refused and not put right, since nobody knows what they did.
   */
  readonly directory: string;
  /**
   * Bytes that the database may grow to, rounded down to whole pages, without the log of what was not yet moved into it (some 4 MB). From
   * 256 KiB; default: as many as the disk has. It binds this process alone.
   */
  readonly databaseBytes?: number;
  /**
   * Milliseconds that a call waits for a lock of other processes before AIRLOCK_STORE_BUSY, 0 to 2,000; default 1,000. The thread is free
   * meanwhile; a transaction takes some milliseconds.
   */
  readonly busyMs?: number;
}

/** Options with every default filled in, checked and frozen. */
export interface ResolvedStoreOptions {
  /** Absolute. */
  readonly directory: string;
  /** Null: as many as the disk has. */
  readonly databaseBytes: number | null;
  readonly busyMs: number;
}

const KNOWN = ["directory", "databaseBytes", "busyMs"];
const LEAST_DATABASE_BYTES = 256 * 1024;
const BUSY_MS = 1_000;
const MOST_BUSY_MS = 2_000;

/** Throws AIRLOCK_STORE_OPTIONS_INVALID. */
export function resolveStoreOptions(options: unknown): ResolvedStoreOptions {
  if (typeof options !== "object" || options === null) throw invalid("no options: { directory } is wanted");
  const surplus = Object.keys(options).find((key) => !KNOWN.includes(key));
  if (surplus !== undefined) {
    const near = nearest(surplus, KNOWN);
    throw invalid(
      `unknown option ${quote(surplus, 60)}: ${near === undefined ? `${KNOWN.join(", ")} are known` : `did you mean ${quote(near)}?`}`,
    );
  }
  const { directory, databaseBytes, busyMs = BUSY_MS } = options as Partial<Record<keyof StoreOptions, unknown>>;
  if (typeof directory !== "string" || directory === "" || directory.includes("\0"))
    throw invalid(
      `directory is ${typeof directory === "string" ? quote(directory) : String(directory)}: a path is wanted`,
    );
  if (databaseBytes !== undefined && !isWhole(databaseBytes, LEAST_DATABASE_BYTES, Number.MAX_SAFE_INTEGER))
    throw invalid(
      `databaseBytes is ${String(databaseBytes)}: a whole number of at least ${LEAST_DATABASE_BYTES} is wanted`,
    );
  if (!isWhole(busyMs, 0, MOST_BUSY_MS))
    throw invalid(`busyMs is ${String(busyMs)}: whole milliseconds from 0 to ${MOST_BUSY_MS} are wanted`);
  return Object.freeze({ directory: resolve(directory), databaseBytes: databaseBytes ?? null, busyMs });
}

function isWhole(value: unknown, least: number, most: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
}

function invalid(what: string): HostError {
  return new HostError("AIRLOCK_STORE_OPTIONS_INVALID", `Cannot open the store: ${what}`);
}
