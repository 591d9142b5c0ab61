/** Colours text, or leaves it as it is. */
export interface Paint {
  good(text: string): string;
  bad(text: string): string;
  warn(text: string): string;
  faint(text: string): string;
  strong(text: string): string;
}

/** Colours by the 16 codes that every terminal knows; without `enabled` all text stays as it is. */
export function paint(enabled: boolean): Paint {
  const wrap = (open: number, close: number) => (text: string) =>
    enabled ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  return {
    good: wrap(32, 39),
    bad: wrap(31, 39),
    warn: wrap(33, 39),
    faint: wrap(2, 22),
    strong: wrap(1, 22),
  };
}
