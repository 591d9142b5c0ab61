/** Words that no key of a request or a response may contain: they name what is the host's own. */
const HOST_WORDS = /config|credential|secret|password|path|device|endpoint|bucket/i;

/** With a length that is a multiple of four. A group of four that repeats would take a stack as long as the text: 8 MB have none. */
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * Where a JSON value has what may not cross between guest and host, and what it is, without its words; null when nothing is there. A
 * `body` at the top that is base64 is opaque. `value` is bounded in depth by who parsed it.
 */
export function privacyProblem(value: unknown): string | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return problemAt(value);
  for (const [key, child] of Object.entries(value)) {
    if (key === "body" && typeof child === "string" && isBase64(child)) continue;
    const problem = problemIn(key, child);
    if (problem !== null) return problem;
  }
  return null;
}

/** Whether a text is bytes in base64 with its padding, where what begins with a slash is no path. */
export function isBase64(text: string): boolean {
  return text.length % 4 === 0 && BASE64.test(text);
}

/** Whether a sentence may be shown to a guest: one with a slash that stands behind no letter or digit names a path, or may. */
export function mayCross(text: string): boolean {
  return !/(?<![\p{L}\p{N}])\//u.test(text) && !text.includes("://");
}

function problemIn(key: string, child: unknown): string | null {
  const word = HOST_WORDS.exec(key)?.[0].toLowerCase();
  if (word !== undefined) return `the payload has a key that contains "${word}"`;
  return textProblem(key, "key") ?? problemAt(child);
}

function textProblem(text: string, what: "key" | "text"): string | null {
  if (text.startsWith("/")) return `the payload has a ${what} that begins with "/"`;
  return text.includes("://") ? `the payload has a ${what} that contains "://"` : null;
}

function problemAt(value: unknown): string | null {
  if (typeof value === "string") return textProblem(value, "text");
  if (typeof value !== "object" || value === null) return null;
  if (Array.isArray(value)) {
    for (const child of value) {
      const problem = problemAt(child);
      if (problem !== null) return problem;
    }
    return null;
  }
  for (const [key, child] of Object.entries(value)) {
    const problem = problemIn(key, child);
    if (problem !== null) return problem;
  }
  return null;
}
