import { ENDINGS, NATIVE_ENDINGS } from "../errors/errors.ts";
import { VIOLATION_CODES } from "../index.ts";
import { LIMIT_KEYS } from "../manifest/manifest.ts";

/** Something that the host promises, and that a guest must prove. */
export interface Row {
  readonly kind: "limit" | "ending" | "admission";
  /** As a guest's `proves` names it. */
  readonly name: string;
}

/** Needs a file, so no guest in memory can raise it; host/tests/admission does. */
const NEEDS_FILE: ReadonlySet<string> = new Set(["binary_load_failed"]);

/** Every limit, `deadlineMs` of a request included, every ending of a guest and every admission code. */
export const ROWS: readonly Row[] = [
  ...[...LIMIT_KEYS, "deadlineMs"].map((name) => ({ kind: "limit" as const, name })),
  ...Object.keys(ENDINGS)
    .filter((kind) => !NATIVE_ENDINGS.has(kind))
    .map((kind) => ({ kind: "ending" as const, name: `ending:${kind}` })),
  ...VIOLATION_CODES.filter((code) => !NEEDS_FILE.has(code)).map((name) => ({ kind: "admission" as const, name })),
];
