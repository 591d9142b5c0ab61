import type { Points } from "./points.ts";

export const MODE = {
  /** Every path costs nothing: nothing is injected. */
  free: 0,
  /** Every path costs the same and there is no loop: charged once, at entry. */
  direct: 1,
  /** The counter lives in a local. */
  cached: 2,
  /** It catches exceptions, so charges go to the counter itself. */
  guarded: 3,
  /** Its callers pay: nothing is injected. */
  leaf: 4,
} as const;

/** What the scan found out of each function, by its place in the code section. */
export interface Plan {
  readonly points: Points;
  /** The first point of each function; one more entry than functions. */
  readonly firstPoints: Uint32Array;
  readonly modes: Uint8Array;
  /** What a direct function costs. */
  readonly totals: Float64Array;
  /** What a cached or guarded function owes where it returns; -1 when it never does. */
  readonly owed: Int32Array;
  /** 1 when the counter is tested at entry. */
  readonly tested: Uint8Array;
  /** Ids of the injected functions that are called (`injected-functions.ts` writes them). */
  readonly injected: ReadonlySet<number>;
  /** Functions that were scanned twice because targets of a `br_table` disagreed. */
  readonly rescans: number;
  /** What callers of a leaf pay for it, as `findLeaves` answers. */
  readonly leaves: Int32Array;
  /** What the module may do that a restored memory and restored globals would not undo; null when nothing. */
  readonly lasting: string | null;
  /** Whether exceptions may unwind its frames. */
  readonly unwinds: boolean;
}

/** Ids of the injected functions that charge for a length, in bytes or elements, of 32 or 64 bits; then those that grow. */
export const INJECTED = { chargeBytes: 0, chargeElements: 1, chargeBytes64: 2, chargeElements64: 3, grow: 4 } as const;

/** Past the ids of all that grow. */
const CANONICAL = 0x100_0000;

/** The id of the function that makes NaNs canonical in the results of a type of the module. */
export function canonicalId(type: number): number {
  return CANONICAL + type;
}

/** The index of the type whose results an injected function makes canonical, or undefined. */
export function canonicalType(injected: number): number | undefined {
  return injected < CANONICAL ? undefined : injected - CANONICAL;
}

/** The id of the function that grows a memory or a table. */
export function growthId(what: "memory" | "table", index: number): number {
  return INJECTED.grow + index * 2 + (what === "memory" ? 0 : 1);
}

/** What an injected function grows. */
export function grownBy(injected: number): { readonly what: "memory" | "table"; readonly index: number } | undefined {
  const id = injected - INJECTED.grow;
  return id < 0 || injected >= CANONICAL ? undefined : { what: id % 2 === 0 ? "memory" : "table", index: id >> 1 };
}
