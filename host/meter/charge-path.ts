import { LABEL, Labels, REACHED } from "./labels.ts";
import { POINT, type Points } from "./points.ts";

/** Most that a frame may owe when it calls a function of the module. Recursion multiplies it by the depth. */
export const OWED_AT_CALL = 64;

/** Most that a function without a test may cost. */
export const UNTESTED_COST = 64;

/**
 * Most that a frame runs between two tests is 10,000 units, callees without a test included. A test is put in as soon as
 * a path passes this value, so an instruction at the default prices cannot pass 10,000.
 */
const TEST_AFTER = 9_000;

/** Most that a frame runs behind a call without a test: frames that return one after another each add this much. */
const TEST_AFTER_CALL = 1_000;

const NEVER = 0x7fff_ffff;

/**
 * The lazy placement of charges along the path that is being scanned. At each place of a body, what was charged plus `pend` is
 * the exact cost of the path so far. Each label has one owed value, given by the first path that reaches it; a path that
 * comes with another `pend` pays the difference just before. So all paths into a label are equal behind it, and what
 * is charged at the exit is the exact sum of what was executed.
 */
export class ChargePath {
  readonly points: Points;
  readonly labels: Labels;
  /** Index of the innermost open label; 0 is the function. */
  top = 0;
  /** Cost of the path that is not charged yet. */
  pend = 0;
  /** The value of `pend` past which a test is due. */
  due = 0;
  isDead = false;
  /** How many bodies of a `try` or `try_table` stand around the path. */
  tries = 0;
  /** False once two paths of different cost met. */
  isUniform = true;
  /** The highest cost between two tests, or between a test and an end, so far. */
  longestRun = 0;
  /** The highest cost of a path to an `unreachable`. */
  trapTotal = 0;
  testsWithin = 0;
  /** Whether the counter surely equals its copy in the local. */
  isStored = true;
  /** Cost of the path that is charged. */
  private paid = 0;
  /** Cost since the last test that is not part of `pend`. */
  private since = 0;

  constructor(points: Points, nesting: number) {
    this.points = points;
    this.labels = new Labels(nesting + 1);
  }

  /** Starts a function; `isForced` makes its label owe nothing. */
  enter(cost: number, isForced: boolean): void {
    this.top = 0;
    this.tries = 0;
    this.isDead = false;
    this.isUniform = true;
    this.longestRun = 0;
    this.trapTotal = 0;
    this.testsWithin = 0;
    this.resume(cost, cost, cost, true);
    this.openLabel(LABEL.function, 0, isForced);
  }

  /** Opens a label within the innermost one, at a place whose `pend` is right for it. */
  push(kind: number, ordinal: number, isForced: boolean): void {
    this.top++;
    this.openLabel(kind, ordinal, isForced);
    if (kind === LABEL.try) this.tries++;
    const { labels, top } = this;
    if (this.isDead || kind === LABEL.block || kind === LABEL.try) return;
    // A loop is entered, and an `if` without `else` left, with what is owed here.
    labels.owed[top] = this.pend;
    if (kind === LABEL.loop) {
      this.isStored = false;
      return;
    }
    labels.reached[top] = REACHED.implicitly;
    labels.ifPend[top] = this.pend;
    labels.ifTotal[top] = this.total;
    labels.ifRun[top] = this.run;
    labels.ifIsStored[top] = this.isStored ? 1 : 0;
    labels.total[top] = labels.ifTotal[top]!;
    labels.run[top] = labels.ifRun[top]!;
    labels.isStored[top] = labels.ifIsStored[top]!;
  }

  /** The place `at` is an `else`: the path ends in the label, the other arm begins. */
  alternate(at: number, isForced: boolean): void {
    const { labels, top } = this;
    if (labels.isDead[top] === 1) return;
    if (labels.reached[top] === REACHED.implicitly) {
      labels.reached[top] = REACHED.not;
      labels.owed[top] = isForced ? 0 : -1;
      labels.run[top] = 0;
      labels.isStored[top] = 1;
    }
    if (!this.isDead) this.reach(top, at);
    labels.kind[top] = LABEL.else;
    this.resume(labels.ifPend[top]!, labels.ifTotal[top]!, labels.ifRun[top]!, labels.ifIsStored[top] === 1);
  }

  /** The place `at` is a `catch`: the path ends in the label, another begins on which all is paid and nothing tested. */
  handle(at: number): void {
    if (!this.isDead) this.reach(this.top, at);
    this.resume(0, 0, 0, false);
  }

  /** The body of the innermost label ends, if that is a `try`: its handlers guard no more. */
  leaveTry(): void {
    const { labels, top } = this;
    if (labels.kind[top] !== LABEL.try) return;
    labels.kind[top] = LABEL.block;
    this.tries--;
  }

  /** A handler may send exceptions to `label`; false when another owed value than 0 is fixed there already. */
  mayCatchAt(label: number): boolean {
    const { labels } = this;
    this.note(label);
    labels.catches[label] = 1;
    if (labels.owed[label] === -1) labels.owed[label] = 0;
    return labels.owed[label] === 0;
  }

  /** Whether exceptions may arrive behind the `end` of the innermost label; those of a loop arrive before its test. */
  isLanding(): boolean {
    const { labels, top } = this;
    return labels.catches[top] === 1 && labels.kind[top] !== LABEL.loop;
  }

  /** The place `at` is the `end` of the innermost label, which is not the function. */
  pop(at: number): void {
    this.leaveTry();
    const { labels, top } = this;
    if (labels.isDead[top] === 1) this.die();
    else if (labels.kind[top] !== LABEL.loop && labels.reached[top] !== REACHED.not) {
      if (!this.isDead) this.reach(top, at);
      this.resume(labels.owed[top]!, labels.total[top]!, labels.run[top]!, labels.isStored[top] === 1);
    }
    this.top--;
  }

  /** The path goes on at `label`, or may: pays what differs just before `at`. */
  reach(label: number, at: number): void {
    const { labels } = this;
    if (labels.owed[label] === -1) labels.owed[label] = this.pend;
    else this.pay(at, labels.owed[label]!);
    this.note(label);
  }

  /** The path may go on at `label`, for which `pend` is right. */
  note(label: number): void {
    const { labels } = this;
    const { total } = this;
    if (labels.reached[label] === REACHED.not) {
      labels.total[label] = total;
      labels.run[label] = this.run;
    } else {
      if (labels.total[label] !== total) this.isUniform = false;
      if (labels.run[label]! < this.run) labels.run[label] = this.run;
    }
    labels.reached[label] = REACHED.yes;
    if (!this.isStored) labels.isStored[label] = 0;
    this.noteRun();
  }

  /** Charges just before `at` so that `keep` stays owed; `held` besides, which is no cost: `refund` gives it back. */
  pay(at: number, keep: number, held = 0): void {
    const amount = this.pend - keep;
    if (amount + held === 0) return;
    this.points.add(at, POINT.pay, amount + held);
    this.isStored = false;
    this.paid += amount;
    this.pend = keep;
    this.setSince(this.since + amount);
  }

  /** Something that reads the counter follows `at`. */
  store(at: number): void {
    if (!this.isStored) this.points.add(at, POINT.store, 0);
    this.isStored = true;
  }

  /** Something that changed the counter ends at `at`. */
  load(at: number): void {
    this.points.add(at, POINT.load, 0);
    this.isStored = true;
  }

  /** Gives back at `at` what was held. */
  refund(at: number, held: number): void {
    this.points.add(at, POINT.pay, -held);
    this.isStored = false;
    // It can be neither charged once at entry nor left out.
    this.isUniform = false;
  }

  /** Tests the local just before `at`; what is owed stays unseen. */
  test(at: number): void {
    this.points.add(at, POINT.test, this.top + 1);
    this.testsWithin++;
    this.tested();
  }

  /** Something that tests the counter happens here. */
  tested(): void {
    this.noteRun();
    this.setSince(0);
  }

  /** A call of a function of the module comes back here; it may have run `cost` without a test. */
  comeBack(cost: number): void {
    this.setSince(Math.max(this.since + cost, TEST_AFTER - TEST_AFTER_CALL - this.pend));
  }

  /** The path ends here. */
  die(): void {
    this.isDead = true;
    this.due = NEVER;
  }

  trap(at: number): void {
    this.points.add(at, POINT.trap, this.pend);
    this.trapTotal = Math.max(this.trapTotal, this.total);
    this.noteRun();
    this.die();
  }

  /** Cost of the path, charged or not. */
  get total(): number {
    return this.paid + this.pend;
  }

  private get run(): number {
    return this.since + this.pend;
  }

  private noteRun(): void {
    if (this.run > this.longestRun) this.longestRun = this.run;
  }

  private resume(pend: number, total: number, run: number, isStored: boolean): void {
    this.isDead = false;
    this.isStored = isStored;
    this.pend = pend;
    this.paid = total - pend;
    this.setSince(run - pend);
  }

  private setSince(since: number): void {
    this.since = since;
    this.due = TEST_AFTER - since;
  }

  private openLabel(kind: number, ordinal: number, isForced: boolean): void {
    const { labels, top } = this;
    labels.kind[top] = kind;
    labels.isDead[top] = this.isDead ? 1 : 0;
    labels.reached[top] = REACHED.not;
    labels.catches[top] = 0;
    labels.ordinal[top] = ordinal;
    labels.isStored[top] = 1;
    labels.owed[top] = isForced ? 0 : -1;
  }
}
