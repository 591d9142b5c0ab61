import type { BranchTargets } from "./branch-targets.ts";
import type { ChargePath } from "./charge-path.ts";
import type { Cursor } from "./cursor.ts";
import { type Schedule, throwPrice } from "./schedule.ts";

/** Kinds of catch clauses of `try_table`; the other two name no tag. */
const CATCH_REF = 1;

/**
 * What exceptions add to a path. Wherever one may come from, all is paid and stored; so a handler starts with nothing
 * owed, whatever threw. Each place where one may go on tests the counter: neither a guest out of fuel nor one that the
 * host stopped by an exception goes on in a handler. Traps need no care: V8 lets no handler catch them.
 */
export class Handlers {
  /** Whether the function catches anything: the counter may then change without a call that returns. */
  catches = false;
  /** Whether an instruction for exceptions was met in any function. */
  found = false;
  private readonly path: ChargePath;
  private readonly schedule: Schedule;
  private readonly targets: BranchTargets;
  private readonly cursor: Cursor;

  constructor(path: ChargePath, schedule: Schedule, targets: BranchTargets, cursor: Cursor) {
    this.path = path;
    this.schedule = schedule;
    this.targets = targets;
    this.cursor = cursor;
  }

  /** Starts a function. */
  start(): void {
    this.catches = false;
  }

  /** A `try` or `try_table` begins. */
  guard(): void {
    this.found = true;
    this.catches = true;
    this.path.isUniform = false;
  }

  /** The clauses of a `try_table` at the cursor, whose labels are those around it. */
  clauses(): void {
    const { path, cursor, targets } = this;
    for (let left = cursor.u32(); left > 0; left--) {
      const kind = cursor.byte();
      if (kind <= CATCH_REF) cursor.u32();
      const label = path.top - cursor.u32();
      if (path.isDead) continue;
      targets.aimAt(path.labels.ordinal[label]!);
      if (!path.mayCatchAt(label)) targets.hasConflict = true;
    }
  }

  /** A `catch` or `catch_all` at `at`, its immediate read. */
  handle(at: number): void {
    const { path } = this;
    path.leaveTry();
    if (path.labels.isDead[path.top] === 1) return;
    path.handle(at);
    path.test(this.cursor.position);
  }

  /** The `end` or `delegate` at `at` of a label within the function. */
  close(at: number): void {
    const { path } = this;
    const isLanding = path.isLanding();
    path.pop(at);
    if (isLanding) path.test(this.cursor.position);
  }

  /** A `throw`, `rethrow` or `throw_ref` at `at`. */
  throw(at: number): void {
    const { path } = this;
    this.found = true;
    path.pend += throwPrice(this.schedule, path.tries);
    if (path.isDead) return;
    path.isUniform = false;
    path.pay(at, 0);
    path.test(at);
    path.store(at);
    path.die();
  }
}
