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

/** Nobody reads more of one kind, and a component can have a hundred thousand. */
const MOST_OF_A_KIND = 100;

/** Collects violations, sorted by code, then by text, so that a report is the same each time. Past a hundred of a kind it counts. */
export class Violations {
  readonly #kinds = new Map<ViolationCode, { readonly kept: Violation[]; count: number }>();

  add(code: ViolationCode, message: string, details?: Readonly<Record<string, unknown>>): void {
    const kind = this.#kinds.get(code) ?? { kept: [], count: 0 };
    this.#kinds.set(code, kind);
    kind.count++;
    if (kind.count > MOST_OF_A_KIND) return;
    kind.kept.push(details === undefined ? { code, message } : { code, message, details });
  }

  has(...codes: readonly ViolationCode[]): boolean {
    return codes.some((code) => this.#kinds.has(code));
  }

  sorted(): readonly Violation[] {
    return VIOLATION_CODES.flatMap((code) => {
      const { kept = [], count = 0 } = this.#kinds.get(code) ?? {};
      const sorted = [...kept].sort((a, b) => (a.message < b.message ? -1 : a.message > b.message ? 1 : 0));
      const more = count - kept.length;
      return more === 0 ? sorted : [...sorted, { code, message: `and ${more} more of this kind` }];
    });
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
