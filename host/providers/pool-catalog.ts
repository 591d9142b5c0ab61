import { HostError, nearest, quote } from "../errors/errors.ts";

/** A provider that may serve the runs of a pool. */
export interface CatalogEntry {
  /** `id@version`. */
  readonly providerId: string;
  /** Runs that it carries out at once: a whole number from 1 to 65,536. */
  readonly capacity: number;
  /** A whole number; of the candidates with free capacity the one with the highest is chosen. Default 0. */
  readonly priority?: number;
}

/** A pool as its owner configures it. */
export interface PoolCatalog {
  readonly candidates: readonly CatalogEntry[];
  /** Runs that may wait for a slot: a whole number from 0 to 1,000,000. Default 1,024. */
  readonly queue?: number;
  /** Who of the waiting is next. `fifo`, the only policy: by the priority of the run, then first come first served. */
  readonly policy?: "fifo";
}

/** A catalog that was checked. */
export interface ResolvedCatalog {
  readonly candidates: readonly Required<CatalogEntry>[];
  readonly queue: number;
  readonly policy: "fifo";
  /** Slots whose runs wait all the same, further on: a refusal counts them to the queue. */
  readonly ahead?: number;
}

/** A burst of a thousand calls waits, and a host that is hopelessly behind says so early. */
const DEFAULT_QUEUE = 1_024;
export const MOST_CAPACITY = 65_536;
export const LONGEST_QUEUE = 1_000_000;
export const MOST_PRIORITY = 1_000_000;

const KEYS = ["candidates", "queue", "policy"];
const ENTRY_KEYS = ["providerId", "capacity", "priority"];

/** Checks a catalog and fills in defaults. Throws AIRLOCK_PROVIDERS_CATALOG_INVALID. */
export function resolveCatalog(catalog: PoolCatalog): ResolvedCatalog {
  const given = fields(catalog, "the catalog", KEYS);
  const { candidates, queue = DEFAULT_QUEUE, policy = "fifo" } = given;
  if (!Array.isArray(candidates) || candidates.length === 0) {
    throw wrong("candidates", candidates, "an array of at least one candidate");
  }
  if (policy !== "fifo") throw wrong("policy", policy, '"fifo"');
  const resolved = candidates.map((entry: unknown, index) => resolveEntry(entry, `candidates.${index}`));
  const ids = new Set<string>();
  for (const { providerId } of resolved) {
    if (ids.has(providerId)) throw wrong("candidates", providerId, "each provider once");
    ids.add(providerId);
  }
  return Object.freeze({
    candidates: Object.freeze(resolved),
    queue: wholeNumber(queue, "queue", 0, LONGEST_QUEUE),
    policy,
  });
}

function resolveEntry(entry: unknown, path: string): Required<CatalogEntry> {
  const { providerId, capacity, priority = 0 } = fields(entry, path, ENTRY_KEYS);
  if (typeof providerId !== "string" || providerId === "") throw wrong(`${path}.providerId`, providerId, "an id");
  return Object.freeze({
    providerId,
    capacity: wholeNumber(capacity, `${path}.capacity`, 1, MOST_CAPACITY),
    priority: wholeNumber(priority, `${path}.priority`, -MOST_PRIORITY, MOST_PRIORITY),
  });
}

function fields(value: unknown, path: string, known: readonly string[]): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(path, value, "an object");
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    const near = nearest(key, known);
    throw invalid(
      `${path} has the unknown key ${quote(key)}: ${near === undefined ? `known are ${known.join(", ")}` : `did you mean ${quote(near)}?`}`,
    );
  }
  return value as Record<string, unknown>;
}

function wholeNumber(value: unknown, path: string, least: number, most: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most) return value as number;
  throw wrong(path, value, `a whole number from ${least} to ${most}`);
}

function wrong(path: string, value: unknown, wanted: string): HostError {
  return invalid(`${path} is ${shown(value)}: ${wanted} is wanted`);
}

function shown(value: unknown): string {
  if (typeof value === "string") return quote(value);
  if (Array.isArray(value)) return value.length === 0 ? "an empty array" : "an array";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

function invalid(text: string): HostError {
  return new HostError("AIRLOCK_PROVIDERS_CATALOG_INVALID", `Cannot set up the pool: ${text}`);
}
