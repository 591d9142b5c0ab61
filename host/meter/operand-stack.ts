import { malformed } from "./refusal.ts";
import { FLOAT } from "./stack-effects.ts";

/** Which places of NaNs a function has, ascending, and which of them are needed. */
export interface NanSites {
  readonly positions: readonly number[];
  readonly kinds: readonly number[];
  readonly needed: readonly boolean[];
}

const NUMBER = -1;

/** How many operands stand at each place of a body, and which of them may be a NaN of bits that nobody chose. */
export class OperandStack {
  /** The highest height so far. */
  highest = 0;
  /** Whether no path leads here; what such code does to operands is not followed. */
  isDead = false;
  private height = 0;
  /** One more than the site of the operand at each height, as long as nothing looked at it; 0 or `NUMBER` without one. */
  private readonly open: number[] = [];
  private positions: number[] = [];
  private kinds: number[] = [];
  private needed: boolean[] = [];
  private label = -1;
  private readonly bases: number[] = [];
  private readonly parameters: number[] = [];
  private readonly results: number[] = [];
  private readonly deadBefore: boolean[] = [];
  /** The height below which every operand of a label has been looked at, so that none is looked at by each branch anew. */
  private readonly seen: number[] = [];

  get sites(): NanSites {
    const { positions, kinds, needed } = this;
    return { positions, kinds, needed };
  }

  /** Starts a function. */
  start(results: number): void {
    this.highest = 0;
    this.isDead = false;
    this.height = 0;
    this.positions = [];
    this.kinds = [];
    this.needed = [];
    this.label = -1;
    this.openLabel(0, results);
  }

  /** Takes operands off for what is blind to NaNs of the shape `blindTo` and looks at all others. */
  pop(count: number, blindTo: number): void {
    if (this.isDead) return;
    for (let left = count; left > 0; left--) {
      const site = this.open[--this.height]! - 1;
      if (site >= 0 && blindTo !== FLOAT.any && blindTo !== this.kinds[site]) this.needed[site] = true;
    }
    this.seen[this.label] = Math.min(this.seen[this.label]!, this.height);
  }

  /** Puts one operand on that was made just before `at` and may be a NaN if `makes` is a shape. */
  push(makes: number, at: number): void {
    if (this.isDead) return;
    const isNan = makes !== FLOAT.none && makes !== FLOAT.number;
    this.open[this.height++] = isNan ? this.addSite(makes, at, false) + 1 : makes === FLOAT.none ? 0 : NUMBER;
    if (this.height > this.highest) this.highest = this.height;
  }

  /** What the operand on top may be. */
  get top(): number {
    const open = this.open[this.height - 1]!;
    return open === 0 ? FLOAT.none : open === NUMBER ? FLOAT.number : this.kinds[open - 1]!;
  }

  /** Puts operands on that hold no NaN but known ones. */
  pushKnown(count: number): void {
    for (let left = count; left > 0; left--) this.push(FLOAT.none, 0);
  }

  addSite(kind: number, at: number, isNeeded: boolean): number {
    this.kinds.push(kind);
    this.needed.push(isNeeded);
    return this.positions.push(at) - 1;
  }

  /** Operands of the innermost label may go where they are looked at. */
  needAll(): void {
    if (this.isDead) return;
    for (let height = this.seen[this.label]!; height < this.height; height++) {
      const site = this.open[height]! - 1;
      if (site >= 0) this.needed[site] = true;
      this.open[height] = 0;
    }
    this.seen[this.label] = this.height;
  }

  /** The path ends here. */
  die(): void {
    this.needAll();
    this.isDead = true;
  }

  openLabel(parameters: number, results: number): void {
    if (parameters > 0) this.needAll();
    const label = ++this.label;
    this.parameters[label] = parameters;
    this.results[label] = results;
    this.bases[label] = this.height - parameters;
    this.seen[label] = this.bases[label]!;
    this.deadBefore[label] = this.isDead;
  }

  /** Another path begins within the innermost label, with so many operands: its parameters if none are named. */
  alternate(operands: number = this.parameters[this.label]!): void {
    this.needAll();
    this.isDead = this.deadBefore[this.label]!;
    if (this.isDead) return;
    this.height = this.bases[this.label]!;
    this.seen[this.label] = this.height;
    this.pushKnown(operands);
  }

  /** The innermost label ends just before `at`. */
  close(at: number): void {
    const { label } = this;
    const height = this.bases[label]! + this.results[label]!;
    this.needAll();
    if (!this.isDead && this.height !== height) {
      throw malformed(`${this.height} operands at an end, wanted ${height}`, { offset: at });
    }
    this.isDead = this.deadBefore[label]!;
    this.label--;
    if (this.isDead) return;
    this.height = this.bases[label]!;
    this.seen[this.label] = Math.min(this.seen[this.label]!, this.height);
    this.pushKnown(this.results[label]!);
  }
}
