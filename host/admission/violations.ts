import { HostError, type HostErrorCode } from "../errors/errors.ts";

/** Why a component is not let in, in the order in which they count: the first of a report is its error. */
export const VIOLATION_CODES = [
  "binary_load_failed",
  "too_large",
  "checksum_mismatch",
  "malformed_wasm_artifact",
  "unsupported_profile",
  "profile_mismatch",
  "unsupported_abi_version",
  "unsafe_name",
  "too_complex",
  "unauthorized_host_import",
  "import_list_mismatch",
  "missing_export",
  "invalid_schema",
  "limit_unenforceable",
  "grant_denied",
  "engine_feature_missing",
] as const;

export type ViolationCode = (typeof VIOLATION_CODES)[number];

/** One reason for a refusal. */
export interface Violation {
  readonly code: ViolationCode;
  /** One sentence: what is, and what is wanted. Safe to show. */
  readonly message: string;
  /** What the sentence speaks of, as data. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Collects every violation; sorted by code, then by text, so that a report is the same each time. */
export class Violations {
  readonly #all: Violation[] = [];

  add(code: ViolationCode, message: string, details?: Readonly<Record<string, unknown>>): void {
    this.#all.push(details === undefined ? { code, message } : { code, message, details });
  }

  has(...codes: readonly ViolationCode[]): boolean {
    return this.#all.some(({ code }) => codes.includes(code));
  }

  sorted(): readonly Violation[] {
    const rank = (code: ViolationCode): number => VIOLATION_CODES.indexOf(code);
    return [...this.#all].sort(
      (a, b) => rank(a.code) - rank(b.code) || (a.message < b.message ? -1 : a.message > b.message ? 1 : 0),
    );
  }
}

/** The error code of a violation. */
export function errorCodeOf(code: ViolationCode): HostErrorCode {
  return `AIRLOCK_ADMISSION_${code.toUpperCase()}` as HostErrorCode;
}

/** The error of a refusal: the first violation speaks, `details` is the whole report. */
export function refusal(subject: string, violations: readonly Violation[], report: unknown): HostError {
  const first = violations[0]!;
  const more = violations.length > 1 ? ` (and ${violations.length - 1} more)` : "";
  return new HostError(errorCodeOf(first.code), `Cannot admit ${subject}: ${first.message}${more}`, {
    details: report,
  });
}
