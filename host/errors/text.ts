/** Text that came from a component or a package, made safe to show: quoted, control characters escaped, bounded. */
export function quote(text: string, maxLength = 120): string {
  const shown = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  // JSON escapes C0 controls; DEL, C1 controls and bidirectional overrides would still reach a terminal.
  return JSON.stringify(shown).replace(
    /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The message of anything that was thrown, in one line. Never throws, whatever that was. */
export function messageOf(thrown: unknown): string {
  return textOf(thrown).replace(/\s+/g, " ").trim();
}

function textOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    // An object without a prototype, a getter that throws: what cannot be told must not hide that something was thrown.
    return `something that has no text (${typeof thrown})`;
  }
}

/** The known word nearest to `word`, or undefined when none is near enough to be worth naming. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const bound = Math.max(2, Math.floor(word.length / 2));
  let best: string | undefined;
  let bestDistance = bound + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const distance = editDistance(word.slice(0, 64).toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(substitution, previous[j]! + 1, current[j - 1]! + 1));
    }
    previous = current;
  }
  return previous[b.length]!;
}
