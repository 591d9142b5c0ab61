import { DATE, INTEGER, type Kind, kindOf, MISSING, NUMBER } from "./kind.ts";

/** A value of a column that is counted. */
export interface Tracked {
  readonly text: string;
  readonly kind: Kind;
  count: number;
}

/**
 * What is known of a column while it is read. A value that was seen before costs one look-up; only new ones are looked
 * at closely, and past `maxDistinct` of them a value is no longer remembered but still counted.
 */
export class Column {
  readonly tracked = new Map<string, Tracked>();
  /** Cells by kind. */
  readonly counts: number[] = [0, 0, 0, 0, 0, 0];
  /** Numbers that are not in `tracked`. */
  readonly untracked: number[] = [];
  /** The least and greatest date that is not in `tracked`. */
  dates: { first: string; last: string } | null = null;
  /** Lengths of the cells that are not in `tracked`. */
  lengths = { min: Number.POSITIVE_INFINITY, max: 0 };
  /** A few cells of each kind, in the order in which they came. */
  readonly examples: string[][] = [[], [], [], [], [], []];
  readonly #maxDistinct: number;

  constructor(maxDistinct: number) {
    this.#maxDistinct = maxDistinct;
  }

  add(cell: string): void {
    const seen = this.tracked.get(cell);
    if (seen !== undefined) {
      seen.count++;
      return;
    }
    const text = trimmed(cell);
    const kind = kindOf(text);
    if (this.examples[kind]!.length < 3) this.examples[kind]!.push(text);
    if (this.tracked.size < this.#maxDistinct) {
      this.tracked.set(cell, { text, kind, count: 1 });
      return;
    }
    this.counts[kind]!++;
    if (kind === MISSING) return;
    if (kind === INTEGER || kind === NUMBER) this.untracked.push(+text);
    else if (kind === DATE) this.#widenDates(text);
    if (text.length < this.lengths.min) this.lengths.min = text.length;
    if (text.length > this.lengths.max) this.lengths.max = text.length;
  }

  /** A cell that its row does not have. */
  addMissing(): void {
    this.counts[MISSING]!++;
  }

  /** True when `tracked` holds every value. */
  get complete(): boolean {
    return this.tracked.size < this.#maxDistinct;
  }

  #widenDates(text: string): void {
    if (this.dates === null) this.dates = { first: text, last: text };
    else if (text < this.dates.first) this.dates.first = text;
    else if (text > this.dates.last) this.dates.last = text;
  }
}

function trimmed(cell: string): string {
  if (cell.length === 0) return cell;
  return cell.charCodeAt(0) <= 0x20 || cell.charCodeAt(cell.length - 1) <= 0x20 ? cell.trim() : cell;
}
