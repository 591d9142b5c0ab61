/**
 * Units of fuel for the host's part of an imported call, on top of what the meter takes for the call itself. Part of what
 * a run burns, so a change of a price is a change of the schedule: it goes into CHANGELOG.md.
 */
export const PRICES = {
  /** A call that the thread answers itself. */
  local: 2_000,
  /** One event: JSON and schema check, and a message. */
  event: 20_000,
  /** A call that waits for the main thread. */
  main: 200_000,
  /** A call into the granted filesystem. */
  filesystem: 100_000,
  /** Every pair of pointer and length that a core module hands over to be read or written. */
  vector: 100,
  /** Every byte that is decoded, encoded or made for a call. */
  byte: 1,
} as const;
