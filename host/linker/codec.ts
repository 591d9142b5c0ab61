import type { CoreValue, Guest } from "./guest.ts";

export type CoreType = "i32" | "i64" | "f32" | "f64";

/**
 * How values of one WIT type cross: as they lie in memory, and flat, as core values. `load` and `store` are only given places
 * that are checked already, `lift` and `lower` only arrays that hold as many values as `flat` from `at` on.
 */
export interface Codec {
  readonly size: number;
  readonly align: number;
  /** Null where there are more than MOST_FLAT: such a value always crosses in memory. */
  readonly flat: readonly CoreType[] | null;
  load(guest: Guest, at: number): unknown;
  store(guest: Guest, value: unknown, at: number): void;
  lift(guest: Guest, values: readonly CoreValue[], at: number): unknown;
  lower(guest: Guest, value: unknown, into: CoreValue[], at: number): void;
}

/** Core values that parameters may take before they are spilled into memory. */
export const MOST_FLAT = 16;

export function alignTo(offset: number, align: number): number {
  return Math.ceil(offset / align) * align;
}

/** Several flat forms after another, or null where that is too long. */
export function flatConcat(parts: readonly (readonly CoreType[] | null)[]): readonly CoreType[] | null {
  const all: CoreType[] = [];
  for (const part of parts) {
    if (part === null || all.length + part.length > MOST_FLAT) return null;
    all.push(...part);
  }
  return all;
}

/** What the host hands to a guest is checked before: this is only reached through a defect of the host. */
export function unfit(guest: Guest, what: string): never {
  return guest.hooks.trap(`the host has a value for the guest that is no ${what}`);
}
