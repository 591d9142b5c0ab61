import { HostError, quote } from "../../errors/errors.ts";
import {
  LIMIT_KEYS,
  LIMITS,
  type LimitEntry,
  type LimitKey,
  type Limits,
  parseLimits,
} from "../../manifest/manifest.ts";

type Unit = LimitEntry["unit"];

const KiB = 1024;
const COUNTS = { "": 1, k: 1e3, m: 1e6, g: 1e9 };
const SUFFIXES: Readonly<Record<Unit, Readonly<Record<string, number>>>> = {
  fuel: COUNTS,
  count: COUNTS,
  bytes: {
    "": 1,
    b: 1,
    kb: 1e3,
    mb: 1e6,
    gb: 1e9,
    kib: KiB,
    mib: KiB ** 2,
    gib: KiB ** 3,
  },
  ms: { "": 1, ms: 1, s: 1e3, min: 60_000, h: 3_600_000 },
};
const EXAMPLES: Readonly<Record<Unit, string>> = {
  fuel: "2000000, 2_000_000, 2e6 or 2M",
  count: "1000, 1_000, 1e3 or 1k",
  bytes: "65536, 64KiB, 1.5MB or 1GiB",
  ms: "500, 500ms, 10s, 2min or 1h",
};

/**
 * A quantity as a person writes it: digits with `_` between them, a fraction, an exponent, a unit. Answers what the text says,
 * also when it is negative or no whole number: the bounds are the limit's own. Throws AIRLOCK_CLI_USAGE for other text.
 */
export function parseQuantity(text: string, unit: Unit, what: string): number {
  const match = /^([+-]?\d+(?:_\d+)*(?:\.\d+)?(?:e[+-]?\d{1,3})?)\s*([a-z]*)$/i.exec(text.trim());
  const suffix = match === null ? "" : match[2]!.toLowerCase();
  if (match === null || !Object.hasOwn(SUFFIXES[unit], suffix)) {
    throw new HostError("AIRLOCK_CLI_USAGE", `${what} is ${quote(text, 40)}: ${EXAMPLES[unit]} is wanted`);
  }
  const number = Number(match[1]!.replaceAll("_", "")) * SUFFIXES[unit][suffix]!;
  // 1.1 KiB is 1126.4 bytes, but 0.1 MB must not become 100000.00000000001.
  return Math.abs(number - Math.round(number)) < 1e-6 ? Math.round(number) : number;
}

/** The limits of `key=value` pairs; the last of a key counts. Throws AIRLOCK_CLI_USAGE and AIRLOCK_INVOCATION_REQUEST_INVALID. */
export function parseLimitPairs(pairs: readonly string[]): Partial<Limits> {
  const entries = pairs.map((pair): [string, number | null] => {
    const equals = pair.indexOf("=");
    if (equals < 1) {
      throw new HostError("AIRLOCK_CLI_USAGE", `--limit is ${quote(pair, 60)}: key=value is wanted, such as fuel=2e9`);
    }
    const key = pair.slice(0, equals).trim();
    const value = pair.slice(equals + 1);
    // An unknown key goes on as it is: the room of the limits names the nearest one.
    const unit = Object.hasOwn(LIMITS, key) ? LIMITS[key as LimitKey].unit : null;
    return [key, unit === null || value === "none" ? null : parseQuantity(value, unit, `--limit ${key}`)];
  });
  return parseLimits(Object.fromEntries(entries), "limits", "AIRLOCK_INVOCATION_REQUEST_INVALID");
}

/** A limit's value for people, and how to write it: `64 MiB`, `10 s`, `2,000,000,000`, `none`. */
export function shownLimit(key: LimitKey, value: number | null): string {
  if (value === null) return "none";
  switch (LIMITS[key].unit) {
    case "bytes":
      return shownBytes(value);
    case "ms":
      return shownMs(value);
    default:
      return shownCount(value);
  }
}

/** The table of limits for help texts. */
export function limitLines(): readonly string[] {
  return LIMIT_KEYS.map((key) => {
    const { description, default: fallback } = LIMITS[key];
    return `  ${key.padEnd(16)} ${shownLimit(key, fallback).padStart(13)}  ${description}`;
  });
}

/** `12,345,678`. */
export function shownCount(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** `1 memory`, `2 memories`. */
export function counted(count: number, word: string): string {
  if (count === 1) return `1 ${word}`;
  return `${count} ${word.endsWith("y") ? `${word.slice(0, -1)}ies` : `${word}s`}`;
}

/** `512 bytes`, `64 KiB`, `1.1 MiB`. */
export function shownBytes(value: number): string {
  if (value < KiB) return value === 1 ? "1 byte" : `${value} bytes`;
  const power = value >= KiB ** 3 ? 3 : value >= KiB ** 2 ? 2 : 1;
  return `${shortened(value / KiB ** power)} ${["", "KiB", "MiB", "GiB"][power]}`;
}

/** `0.4 ms`, `120 ms`, `1.5 s`, `10 min`. */
export function shownMs(value: number): string {
  if (value >= 600_000) return `${shortened(value / 60_000)} min`;
  if (value >= 1_000) return `${shortened(value / 1_000)} s`;
  return `${value < 10 ? shortened(value) : Math.round(value)} ms`;
}

function shortened(value: number): string {
  return String(Number(value.toFixed(1)));
}
