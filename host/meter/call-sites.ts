import { type ChargePath, OWED_AT_CALL, UNTESTED_COST } from "./charge-path.ts";
import { POINT } from "./points.ts";
import type { Schedule } from "./schedule.ts";

/** What calls add to a path: their price, payment and test where it is due, the counter stored before and loaded after. */
export class CallSites {
  /** Whether the function makes a call that can run. */
  made = false;
  private readonly path: ChargePath;
  private readonly schedule: Schedule;
  private readonly importedFunctions: number;

  constructor(path: ChargePath, schedule: Schedule, importedFunctions: number) {
    this.path = path;
    this.schedule = schedule;
    this.importedFunctions = importedFunctions;
  }

  /** A `call` from `at` to `after`. */
  direct(at: number, after: number, callee: number): void {
    if (callee >= this.importedFunctions) {
      this.defined(at, after, this.schedule.call);
      return;
    }
    const { path } = this;
    path.pend += this.schedule.importedCall;
    if (path.isDead) return;
    // The host reads and charges the counter: nothing of this frame is owed, and it is never called on an empty tank.
    path.pay(at, 0);
    path.test(at);
    this.around(at, after);
  }

  /** A `call_indirect` from `at` to `after`. */
  indirect(at: number, after: number): void {
    this.defined(at, after, this.schedule.indirectCall);
  }

  /**
   * A tail call at `at`; no `callee` means an indirect one. A cycle of them has neither a loop nor a stack that
   * grows, so each one pays and tests.
   */
  tail(at: number, callee: number | undefined): void {
    const { path } = this;
    path.pend += this.priceOf(callee);
    if (path.isDead) return;
    this.made = true;
    path.reach(0, at);
    path.pay(at, 0);
    path.test(at);
    path.points.add(at, POINT.store, 0);
    path.points.add(at, POINT.leave, 0);
    path.die();
  }

  private defined(at: number, after: number, price: number): void {
    const { path } = this;
    path.pend += price;
    if (path.isDead) return;
    if (path.pend > OWED_AT_CALL) path.pay(at, 0);
    this.around(at, after);
    path.runUntested(UNTESTED_COST);
  }

  private around(at: number, after: number): void {
    this.made = true;
    this.path.points.add(at, POINT.store, 0);
    this.path.points.add(after, POINT.load, 0);
  }

  private priceOf(callee: number | undefined): number {
    if (callee === undefined) return this.schedule.indirectCall;
    return callee < this.importedFunctions ? this.schedule.importedCall : this.schedule.call;
  }
}
