import type { Kind } from "./span.ts";

/** `label`: `[email]`. `stars`: a star for each character. `partial`: stars, but the domain or the last four stay. */
export type MaskStyle = "label" | "stars" | "partial";

/** What stands in the text instead of `found`. */
export function masked(found: string, kind: Kind, style: MaskStyle): string {
  if (style === "label") return `[${kind}]`;
  if (style === "stars") return "*".repeat(found.length);
  const kept = kind === "email" ? found.length - found.indexOf("@") : 4;
  return "*".repeat(found.length - kept) + found.slice(-kept);
}
