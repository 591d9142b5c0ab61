import { HostError, type HostErrorCode, nearest, quote } from "../errors/errors.ts";

/** One row of the table of limits. */
export interface LimitEntry {
  /** What holds when neither the manifest nor the request names the limit; null is no limit. */
  readonly default: number | null;
  /** The most that a manifest may ask for unless the policy says otherwise; null is no cap. */
  readonly cap: number | null;
  /** The least value that means anything. */
  readonly minimum: number;
  /** The most that the host can enforce at all, so the most that a policy may name. */
  readonly maximum: number;
  readonly unit: "fuel" | "bytes" | "ms" | "count";
  readonly description: string;
}

const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;
const PAGE = 64 * KiB;

// setTimeout holds its delay in 31 bits and fires at once past that.
const LONGEST_TIMER = 2 ** 31 - 1;
// A string of V8 holds at most 2^29 - 24 code units, so no JSON text is longer.
const LONGEST_TEXT = 2 ** 29 - 24;
const SAFE = Number.MAX_SAFE_INTEGER;

/**
 * Every limit of a run. The caps of the rows from `coreModules` on keep a package from naming a number that the host's
 * own memory would pay for: what those rows count is buffered or allocated outside of the guest.
 */
export const LIMITS = {
  fuel: row(2_000_000_000, 50_000_000_000, 1, SAFE, "fuel", "Instructions that one run may burn."),
  setupFuel: row(1_000_000_000, 1_000_000_000, 1, SAFE, "fuel", "Instructions that instantiation may burn."),
  memoryBytes: row(64 * MiB, GiB, PAGE, 4 * GiB, "bytes", "Sum over all linear memories, growth included."),
  tableElements: row(100_000, 1_000_000, 0, 10_000_000, "count", "Sum over all tables, growth included."),
  callDepth: row(
    null,
    null,
    1,
    1_000_000,
    "count",
    "Frame slots of nested Wasm calls; without it only the engine's stack is a bound.",
  ),
  coreModules: row(32, 128, 1, 1_000, "count", "Core modules inside the component."),
  memories: row(4, 16, 0, 1_000, "count", "Linear memories inside the component."),
  handles: row(1_024, 65_536, 0, SAFE, "count", "Resource handles that are open at once."),
  wallMs: row(10_000, 600_000, 1, LONGEST_TIMER, "ms", "Time from guest entry on, host calls included."),
  inputBytes: row(16 * MiB, 64 * MiB, 1, LONGEST_TEXT, "bytes", "Length of the input as UTF-8."),
  outputBytes: row(4 * MiB, 64 * MiB, 1, LONGEST_TEXT, "bytes", "Length of the output as UTF-8."),
  eventCount: row(1_000, 100_000, 0, SAFE, "count", "Events that one run may emit."),
  eventBytes: row(64 * KiB, MiB, 0, LONGEST_TEXT, "bytes", "Length of one event's payload as UTF-8."),
  eventTotalBytes: row(4 * MiB, 64 * MiB, 0, SAFE, "bytes", "Length of all payloads of one run together."),
  hostCalls: row(1_000, 1_000_000, 0, SAFE, "count", "Calls of host functions in one run."),
  hostBytesIn: row(16 * MiB, 256 * MiB, 0, SAFE, "bytes", "Bytes that host calls bring into the guest."),
  hostBytesOut: row(16 * MiB, 256 * MiB, 0, SAFE, "bytes", "Bytes that the guest hands to host calls."),
  logBytes: row(64 * KiB, 4 * MiB, 0, SAFE, "bytes", "Bytes of log lines; what is longer is dropped and counted."),
  randomBytes: row(64 * KiB, 16 * MiB, 0, SAFE, "bytes", "Random bytes that the guest may draw."),
} as const satisfies Record<string, LimitEntry>;

/** The name of a limit. */
export type LimitKey = keyof typeof LIMITS;

/** Limits, all of them resolved. Only `callDepth` may be null, which is no limit of its own. */
export type Limits = { readonly [key in Exclude<LimitKey, "callDepth">]: number } & {
  readonly callDepth: number | null;
};

/** What the embedder allows: `defaults` when nobody names a limit, `caps` that nobody gets past. */
export interface LimitPolicy {
  readonly defaults: Limits;
  /** A cap of null is none. */
  readonly caps: { readonly [key in LimitKey]: number | null };
}

/** The names of all limits, in the order of the table. */
export const LIMIT_KEYS = Object.freeze(Object.keys(LIMITS)) as readonly LimitKey[];

/** Nobody reads more than these, and each costs a search for the name that was meant. */
const MAX_PROBLEMS = 50;

/** What is wrong with `input` as a set of limits, one line each, and the limits that are right. `field` names it. */
export function checkLimits(
  input: unknown,
  field: string,
): { readonly limits: Partial<Limits>; readonly problems: readonly string[] } {
  const limits: { [key in LimitKey]?: number | null } = {};
  const problems: string[] = [];
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    return { limits: Object.freeze({}), problems: [`${field} is ${shown(input)}: an object of limits is wanted`] };
  }
  for (const [key, value] of Object.entries(input)) {
    if (value === undefined) continue;
    if (problems.length >= MAX_PROBLEMS) break;
    if (!isLimitKey(key)) {
      problems.push(unknownLimit(key, field));
      continue;
    }
    if (value === null && LIMITS[key].default === null) {
      limits[key] = null;
      continue;
    }
    const { minimum, maximum } = LIMITS[key];
    if (typeof value !== "number" || !Number.isSafeInteger(value) || value < minimum || value > maximum) {
      problems.push(`${field}.${key} is ${shown(value)}: ${wantedLimit(key)} is wanted`);
      continue;
    }
    limits[key] = value;
  }
  return { limits: Object.freeze(limits) as Partial<Limits>, problems };
}

/**
 * Limits from outside input, frozen. Throws `code` with the first problem as its text and all of them in
 * `details.problems`. Units are those of the table: whole numbers of fuel, bytes, milliseconds or things.
 */
export function parseLimits(
  input: unknown,
  field: string,
  code: HostErrorCode = "AIRLOCK_MANIFEST_INVALID",
): Partial<Limits> {
  const { limits, problems } = checkLimits(input, field);
  if (problems.length > 0) throw new HostError(code, problems[0]!, { details: { problems } });
  return limits;
}

/**
 * The policy of a host from what its embedder wrote; what is not named comes from the table. A default that comes from
 * the table is lowered to a cap that the embedder named. Throws AIRLOCK_HOST_OPTIONS_INVALID, also for a default that
 * the embedder put above the cap.
 */
export function resolvePolicy(user: { readonly defaults?: unknown; readonly caps?: unknown } = {}): LimitPolicy {
  const code = "AIRLOCK_HOST_OPTIONS_INVALID";
  const userDefaults = parseLimits(user.defaults ?? {}, "limits.defaults", code);
  const userCaps = parseLimits(user.caps ?? {}, "limits.caps", code);
  const defaults: { [key in LimitKey]?: number | null } = {};
  const caps: { [key in LimitKey]?: number | null } = {};
  for (const key of LIMIT_KEYS) {
    const named = userDefaults[key] ?? null;
    const namedCap = userCaps[key] ?? null;
    // A default that the embedder chose is his word on what is acceptable, so it lifts a cap that he did not choose.
    const cap = namedCap ?? (named === null ? LIMITS[key].cap : highest(LIMITS[key].cap, named));
    if (named !== null && cap !== null && named > cap) {
      throw new HostError(code, `limits.defaults.${key} is ${named}: at most limits.caps.${key} (${cap}) is wanted`);
    }
    caps[key] = cap;
    defaults[key] = lowest(named ?? LIMITS[key].default, cap);
  }
  return Object.freeze({
    defaults: Object.freeze(defaults) as Limits,
    caps: Object.freeze(caps) as LimitPolicy["caps"],
  });
}

/** The limits of a run: min(cap, manifest ?? default, request ?? none). A request can only lower. */
export function effectiveLimits(policy: LimitPolicy, manifest?: Partial<Limits>, request?: Partial<Limits>): Limits {
  const effective: { [key in LimitKey]?: number | null } = {};
  for (const key of LIMIT_KEYS) {
    const asked = manifest?.[key] ?? policy.defaults[key];
    effective[key] = lowest(lowest(asked, policy.caps[key]), request?.[key] ?? null);
  }
  return Object.freeze(effective) as Limits;
}

function row(
  fallback: number | null,
  cap: number | null,
  minimum: number,
  maximum: number,
  unit: LimitEntry["unit"],
  description: string,
): LimitEntry {
  return Object.freeze({ default: fallback, cap, minimum, maximum, unit, description });
}

function isLimitKey(key: string): key is LimitKey {
  return Object.hasOwn(LIMITS, key);
}

function unknownLimit(key: string, field: string): string {
  const near = nearest(key, LIMIT_KEYS);
  const hint = near === undefined ? `one of ${LIMIT_KEYS.join(", ")} is wanted` : `did you mean ${quote(near)}?`;
  return `${field} has the unknown limit ${quote(key)}: ${hint}`;
}

function wantedLimit(key: LimitKey): string {
  const { minimum, maximum, unit } = LIMITS[key];
  const of = { fuel: " of fuel", bytes: " of bytes", ms: " of milliseconds", count: "" }[unit];
  return `a whole number${of} from ${minimum} to ${maximum}`;
}

/** A value that a person wrote, short enough for one line. */
function shown(value: unknown): string {
  if (typeof value === "string") return quote(value, 40);
  if (typeof value === "number" || typeof value === "boolean" || value === null) return String(value);
  return Array.isArray(value) ? "an array" : `of type ${typeof value}`;
}

function lowest(a: number | null, b: number | null): number | null {
  if (a === null) return b;
  return b === null ? a : Math.min(a, b);
}

function highest(a: number | null, b: number): number | null {
  return a === null ? null : Math.max(a, b);
}
