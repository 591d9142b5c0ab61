import { type ChargePath, OWED_AT_CALL, UNTESTED_COST } from "./charge-path.ts";
import type { CoreModule } from "./module.ts";
import { POINT } from "./points.ts";
import { heldPrice, type Schedule } from "./schedule.ts";

/** What calls add to a path: their price, payment and test where it is due, the counter stored before and loaded after. */
export class CallSites {
  /** Whether the function makes a call that can run. */
  made = false;
  /** How many of its calls may reach the host. */
  hostCalls = 0;
  /** How many of its calls must find the counter exact, and the cost of the path at each of them. */
  private exactCalls = 0;
  private exactTotal = 0;
  private readonly unwinds: boolean;
  /** Most that is owed at a call of a function of the module. */
  private readonly owedAtCall: number;
  private readonly path: ChargePath;
  private readonly schedule: Schedule;
  private readonly importedFunctions: number;
  private readonly tablesReachHost: boolean;
  private readonly leaves: Int32Array;

  /**
   * Where exceptions may unwind a frame, nothing is owed at any call, for the frame would never pay it; and what it costs to
   * unwind the callee's is paid until that returns.
   */
  constructor(path: ChargePath, schedule: Schedule, module: CoreModule, unwinds: boolean, leaves: Int32Array) {
    this.unwinds = unwinds;
    this.owedAtCall = unwinds ? 0 : OWED_AT_CALL;
    this.path = path;
    this.schedule = schedule;
    this.importedFunctions = module.importedFunctions;
    this.tablesReachHost = module.tablesReachHost;
    this.leaves = leaves;
  }

  /** Starts a function. */
  start(): void {
    this.made = false;
    this.hostCalls = 0;
    this.exactCalls = 0;
    this.exactTotal = 0;
  }

  /** Whether charging `total` at entry is exact at each call that must find it so: nothing behind them costs anything. */
  areExactAt(total: number): boolean {
    return this.exactCalls === 0 || this.exactTotal === total;
  }

  /** A `call` from `at` to `after`. */
  direct(at: number, after: number, callee: number): void {
    const price = this.priceOf(callee);
    if (callee < this.importedFunctions) this.toHost(at, after, price);
    // A leaf neither reads the counter nor runs anything that does.
    else if (this.leafCost(callee) >= 0) this.path.pend += price;
    else this.toDefined(at, after, price);
  }

  /** A `call_indirect` from `at` to `after`. */
  indirect(at: number, after: number): void {
    const price = this.priceOf(undefined);
    if (this.tablesReachHost) this.toHost(at, after, price);
    else this.toDefined(at, after, price);
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
    path.store(at);
    path.points.add(at, POINT.leave, 0);
    path.die();
  }

  /** The host reads and charges the counter: nothing of this frame is owed, and it is never called on an empty tank. */
  private toHost(at: number, after: number, price: number): void {
    const { path } = this;
    path.pend += price;
    if (path.isDead) return;
    this.hostCalls++;
    this.noteExact();
    path.pay(at, 0, this.held);
    path.test(at);
    this.around(at, after);
  }

  private toDefined(at: number, after: number, price: number): void {
    const { path } = this;
    path.pend += price;
    if (path.isDead) return;
    if (this.owedAtCall === 0) this.noteExact();
    if (path.pend + this.held > this.owedAtCall) path.pay(at, 0, this.held);
    this.around(at, after);
    path.comeBack(UNTESTED_COST);
  }

  private noteExact(): void {
    const { path } = this;
    if (this.exactCalls++ === 0) this.exactTotal = path.total;
    else if (this.exactTotal !== path.total) path.isUniform = false;
  }

  private around(at: number, after: number): void {
    this.made = true;
    this.path.store(at);
    this.path.load(after);
    const { held } = this;
    if (held > 0) this.path.refund(after, held);
  }

  /** What a call that an exception may leave takes here until it returns. */
  private get held(): number {
    return this.unwinds ? heldPrice(this.schedule, this.path.tries) : 0;
  }

  private priceOf(callee: number | undefined): number {
    const { schedule } = this;
    if (callee === undefined) return schedule.indirectCall + schedule.leaf;
    if (callee < this.importedFunctions) return schedule.importedCall;
    return schedule.call + Math.max(0, this.leafCost(callee));
  }

  /** -1: it is not a leaf. */
  private leafCost(callee: number): number {
    return this.leaves[callee - this.importedFunctions]!;
  }
}
