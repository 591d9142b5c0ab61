import { ENDINGS, NATIVE_ENDINGS } from "../errors/errors.ts";
import { VIOLATION_CODES } from "../index.ts";
import { LIMIT_KEYS } from "../manifest/manifest.ts";

/** Something that the host promises, and that a guest must prove. */
export interface Row {
  readonly kind: "limit" | "ending" | "admission";
  /** As a guest's `proves` names it. */
  readonly name: string;
}

/** What no guest in memory can raise on the doctor's host: it needs a file, or another policy. host/tests/admission does. */
const NOT_BY_A_GUEST: ReadonlySet<string> = new Set(["binary_load_failed", "unsupported_profile"]);

/** Every limit, `deadlineMs` of a request included, every ending of a guest and every admission code. */
export const ROWS: readonly Row[] = [
  ...[...LIMIT_KEYS, "deadlineMs"].map((name) => ({ kind: "limit" as const, name })),
  ...Object.keys(ENDINGS)
    .filter((kind) => !NATIVE_ENDINGS.has(kind))
    .map((kind) => ({ kind: "ending" as const, name: `ending:${kind}` })),
  ...VIOLATION_CODES.filter((code) => !NOT_BY_A_GUEST.has(code)).map((name) => ({ kind: "admission" as const, name })),
];
