import { DATE, INTEGER, type Kind, kindOf, MISSING, NUMBER } from "./kind.ts";

/**
 * What is known of a column while it is read. A value that was seen before costs one look-up; only new ones are looked
 * at closely, and past `maxDistinct` of them a value is no longer remembered but still counted. Cells are taken as they
 * are, with the space around them.
 */
export class Column {
  /** Place of each remembered value in the lists below, which are lists because an object per value is dear. */
  readonly places = new Map<string, number>();
  readonly cells: string[] = [];
  readonly counts: number[] = [];
  readonly kinds: Kind[] = [];
  /** What the engine makes of the cell; means something for integers and numbers only. */
  readonly values: number[] = [];

  /** Cells that are not remembered, by kind. */
  readonly others: number[] = [0, 0, 0, 0, 0, 0];
  /** The numbers among them. */
  readonly otherNumbers: number[] = [];
  /** The least and the greatest date among them. */
  otherDates: { first: string; last: string } | null = null;
  /** The least and the greatest length among them. */
  otherLengths = { min: Number.POSITIVE_INFINITY, max: 0 };

  /** A few cells of each kind, in the order in which they came. */
  readonly examples: string[][] = [[], [], [], [], [], []];
  private readonly maxDistinct: number;
  private lastKind: Kind = MISSING;

  constructor(maxDistinct: number) {
    this.maxDistinct = maxDistinct;
  }

  add(cell: string): void {
    const place = this.places.get(cell);
    if (place !== undefined) {
      this.counts[place]!++;
      return;
    }
    const value = +cell;
    const kind = kindOf(cell, value);
    if (kind !== this.lastKind) {
      this.lastKind = kind;
      if (this.examples[kind]!.length < 3) this.examples[kind]!.push(cell.trim());
    }
    const next = this.counts.length;
    if (next < this.maxDistinct) {
      this.places.set(cell, next);
      this.cells[next] = cell;
      this.values[next] = value;
      this.counts[next] = 1;
      this.kinds[next] = kind;
    } else {
      this.addOther(cell, kind, value);
    }
  }

  /** A cell that its row does not have. */
  addMissing(): void {
    this.others[MISSING]!++;
  }

  /** False when some values were not remembered, as far as can be known. */
  get complete(): boolean {
    return this.counts.length < this.maxDistinct;
  }

  private addOther(cell: string, kind: Kind, value: number): void {
    this.others[kind]!++;
    if (kind === INTEGER || kind === NUMBER) {
      this.otherNumbers[this.otherNumbers.length] = value;
      return;
    }
    if (kind === MISSING) return;
    const { otherDates, otherLengths } = this;
    if (kind === DATE) {
      if (otherDates === null) this.otherDates = { first: cell, last: cell };
      else if (cell < otherDates.first) otherDates.first = cell;
      else if (cell > otherDates.last) otherDates.last = cell;
    }
    if (cell.length < otherLengths.min) otherLengths.min = cell.length;
    if (cell.length > otherLengths.max) otherLengths.max = cell.length;
  }
}
