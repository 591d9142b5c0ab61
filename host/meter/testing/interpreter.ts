import type { Schedule } from "../meter.ts";
import { Operations, TRAP } from "./operations.ts";
import { leafCosts, priceOf } from "./prices.ts";
import { type Catch, type Instruction, type Program, type ProgramFunction, SIGNATURES } from "./program.ts";

/** What the program did, and the exact cost of every instruction that it executed. */
export interface Execution {
  readonly ending: "returned" | "trapped" | "thrown" | "unfinished";
  readonly results: readonly number[];
  readonly cost: number;
  /** For each call of the import: the argument, the cost so far, and the number of frames. */
  readonly notes: readonly { readonly argument: number; readonly cost: number; readonly frames: number }[];
  /** The functions that were running at the end. */
  readonly frames: readonly ProgramFunction[];
}

/** Runs function 1 of the program, one instruction at a time, up to a cost of `mostCost`. Structure must be free. */
export function interpret(
  program: Program,
  parameters: readonly number[],
  schedule: Schedule,
  mostCost: number,
): Execution {
  const machine = new Machine(program, schedule, mostCost);
  const execution = { results: [] as readonly number[], ending: "returned" as Execution["ending"] };
  try {
    execution.results = machine.call(1, parameters);
  } catch (error) {
    if (error !== TRAP && error !== UNFINISHED && !(error instanceof Thrown)) throw error;
    execution.ending = error === TRAP ? "trapped" : error === UNFINISHED ? "unfinished" : "thrown";
  }
  return { ...execution, cost: machine.cost, notes: machine.notes, frames: machine.frames };
}

const UNFINISHED = new Error("unfinished");
/** Stands for a branch to the function's label, whatever the depth. */
const RETURN = 1_000_000;

/** An exception on its way. */
class Thrown {
  readonly tag: number;
  readonly values: readonly number[];
  /** The index of the innermost label that may handle it, after a `delegate`. */
  limit: number | undefined = undefined;

  constructor(tag: number, values: readonly number[]) {
    this.tag = tag;
    this.values = values;
  }
}

class Machine {
  cost = 0;
  readonly notes: { argument: number; cost: number; frames: number }[] = [];
  readonly frames: ProgramFunction[] = [];
  private readonly program: Program;
  private readonly schedule: Schedule;
  private readonly mostCost: number;
  private readonly operations: Operations;
  private readonly leaves: readonly (number | undefined)[];
  /** The labels of the running function, each with the exception that its `catch` handles. */
  private labels: (Thrown | undefined)[] = [];
  /** How many bodies of a `try` of any kind run in the running function. */
  private tries = 0;

  constructor(program: Program, schedule: Schedule, mostCost: number) {
    this.program = program;
    this.schedule = schedule;
    this.mostCost = mostCost;
    this.leaves = leafCosts(program, schedule);
    this.operations = new Operations(schedule, (cost) => this.spend(cost));
  }

  call(index: number, parameters: readonly number[]): number[] {
    const callee = this.program.functions[index - 1]!;
    const { parameters: count, results } = SIGNATURES[callee.signature]!;
    this.frames.push(callee);
    const extra = Math.max(0, count + callee.locals - this.schedule.freeLocals);
    this.spend(extra * this.schedule.extraLocal);
    const locals = [...parameters, ...new Array<number>(callee.locals).fill(0)];
    const stack: number[] = [];
    const { labels, tries } = this;
    this.labels = [undefined];
    this.tries = 0;
    try {
      this.run(callee.body, locals, stack);
    } catch (error) {
      if (!(error instanceof Thrown)) throw error;
      error.limit = undefined;
      this.frames.pop();
      this.labels = labels;
      this.tries = tries;
      throw error;
    }
    this.labels = labels;
    this.tries = tries;
    this.frames.pop();
    return results === 0 ? [] : stack.slice(-results);
  }

  /** Answers undefined, or how many labels the branch that ended it has still to leave. */
  private run(body: readonly Instruction[], locals: number[], stack: number[]): number | undefined {
    for (const instruction of body) {
      this.spend(priceOf(instruction, this.schedule));
      if (instruction.op === "throw" || instruction.op === "rethrow") this.passHandlers();
      const branch = this.step(instruction, locals, stack);
      if (branch !== undefined) return branch;
    }
    return undefined;
  }

  private step(instruction: Instruction, locals: number[], stack: number[]): number | undefined {
    switch (instruction.op) {
      case "block":
        return this.block(instruction.body, instruction.results, locals, stack);
      case "loop":
        for (;;) {
          const height = stack.length;
          const branch = this.within(undefined, instruction.body, locals, stack);
          if (branch === undefined) return undefined;
          if (branch !== 0) return branch === RETURN ? RETURN : branch - 1;
          stack.length = height;
        }
      case "if": {
        const arm = stack.pop() !== 0 ? instruction.body : instruction.otherwise;
        return arm === undefined ? undefined : this.block(arm, instruction.results, locals, stack);
      }
      case "throw":
        throw new Thrown(instruction.tag, instruction.tag === 1 ? [stack.pop()!] : []);
      case "rethrow":
        throw this.labels.at(-1 - instruction.depth)!;
      case "try":
        return this.tryCatch(instruction.body, instruction.catches, locals, stack);
      case "try_delegate":
        return this.tryDelegate(instruction.body, instruction.depth, locals, stack);
      case "try_table":
        return this.tryTable(instruction, locals, stack);
      case "try_ref":
        return this.tryReference(instruction, locals, stack);
      case "br":
        return instruction.depth;
      case "br_if":
        return stack.pop() === 0 ? undefined : instruction.depth;
      case "br_table": {
        const { depths } = instruction;
        return depths[Math.min(stack.pop()! >>> 0, depths.length - 1)]!;
      }
      case "return":
        return RETURN;
      case "unreachable":
        throw TRAP;
      case "call": {
        const { callee } = instruction;
        const leafCost = callee === 0 ? undefined : this.leaves[callee - 1];
        if (leafCost !== undefined) this.callWith(callee, stack, leafCost);
        else if (callee === 0) this.holding(() => stack.push(this.note(stack.pop()!)));
        else this.holding(() => this.callWith(callee, stack, undefined));
        return undefined;
      }
      case "call_indirect": {
        const callee = (stack.pop()! >>> 0) + 1;
        if (this.program.functions[callee - 1]?.signature !== instruction.signature) throw TRAP;
        this.holding(() => this.callWith(callee, stack, 0));
        return undefined;
      }
      default:
        this.operations.run(instruction, locals, stack);
        return undefined;
    }
  }

  private block(body: readonly Instruction[], results: number, locals: number[], stack: number[]): number | undefined {
    return this.leave(stack.length, this.within(undefined, body, locals, stack), results, stack);
  }

  /** Runs code within one more label. */
  private within(
    handled: Thrown | undefined,
    body: readonly Instruction[],
    locals: number[],
    stack: number[],
  ): number | undefined {
    const { length } = this.labels;
    this.labels.push(handled);
    try {
      return this.run(body, locals, stack);
    } finally {
      this.labels.length = length;
    }
  }

  private leave(height: number, branch: number | undefined, results: number, stack: number[]): number | undefined {
    if (branch === undefined) return undefined;
    if (branch !== 0) return branch === RETURN ? RETURN : branch - 1;
    const values = results === 0 ? [] : stack.slice(-results);
    stack.length = height;
    stack.push(...values);
    return undefined;
  }

  /** Runs the body of a `try` of any kind; answers the exception that arrives at its handlers. */
  private guarded(body: readonly Instruction[], locals: number[], stack: number[]): Thrown | { branch?: number } {
    const height = stack.length;
    const index = this.labels.length;
    const { tries } = this;
    this.tries = tries + 1;
    try {
      const branch = this.within(undefined, body, locals, stack);
      return branch === undefined ? {} : { branch };
    } catch (error) {
      if (!(error instanceof Thrown) || (error.limit !== undefined && index > error.limit)) throw error;
      stack.length = height;
      return error;
    } finally {
      this.tries = tries;
    }
  }

  private tryCatch(
    body: readonly Instruction[],
    catches: readonly Catch[],
    locals: number[],
    stack: number[],
  ): number | undefined {
    const height = stack.length;
    const ending = this.guarded(body, locals, stack);
    if (!(ending instanceof Thrown)) return this.leave(height, ending.branch, 0, stack);
    const handler = catches.find(({ tag }) => tag === undefined || tag === ending.tag);
    if (handler === undefined) throw ending;
    ending.limit = undefined;
    if (handler.tag !== undefined) stack.push(...ending.values);
    return this.leave(height, this.within(ending, handler.body, locals, stack), 0, stack);
  }

  private tryDelegate(
    body: readonly Instruction[],
    depth: number,
    locals: number[],
    stack: number[],
  ): number | undefined {
    const height = stack.length;
    const ending = this.guarded(body, locals, stack);
    if (!(ending instanceof Thrown)) return this.leave(height, ending.branch, 0, stack);
    ending.limit = this.labels.length - 1 - depth;
    throw ending;
  }

  private tryTable(
    { body, clauses }: Instruction & { readonly op: "try_table" },
    locals: number[],
    stack: number[],
  ): number | undefined {
    const height = stack.length;
    const ending = this.guarded(body, locals, stack);
    if (!(ending instanceof Thrown)) return this.leave(height, ending.branch, 0, stack);
    const clause = clauses.find(({ tag }) => tag === undefined || tag === ending.tag);
    if (clause === undefined) throw ending;
    if (clause.tag !== undefined) stack.push(...ending.values);
    // The label may be the function's.
    return clause.depth === this.labels.length - 1 ? RETURN : clause.depth;
  }

  private tryReference(
    { body, tag, rethrows }: Instruction & { readonly op: "try_ref" },
    locals: number[],
    stack: number[],
  ): number | undefined {
    const height = stack.length;
    const { length } = this.labels;
    this.labels.push(undefined, undefined);
    try {
      const ending = this.guarded(body, locals, stack);
      if (ending instanceof Thrown) {
        if (tag !== undefined && tag !== ending.tag) throw ending;
        if (rethrows) {
          this.spend(this.schedule.throw);
          this.passHandlers();
          throw ending;
        }
        return undefined;
      }
      if (ending.branch === undefined || ending.branch === 0) {
        this.spend(this.schedule.plain);
        stack.length = height;
        return undefined;
      }
      // Past the labels of the three blocks; a branch to the outermost one ends here.
      if (ending.branch === RETURN) return RETURN;
      return ending.branch === 2 ? this.leave(height, 0, 0, stack) : ending.branch - 3;
    } finally {
      this.labels.length = length;
    }
  }

  /** A throw passes each `try` around it, at worst: the innermost one is in its price. */
  private passHandlers(): void {
    this.spend(Math.max(0, this.tries - 1) * this.schedule.unwind);
  }

  /** A call that an exception may leave: what unwinding costs is given back when it returns. */
  private holding(call: () => void): void {
    const held = this.program.hasTags ? Math.max(1, this.tries) * this.schedule.unwind : 0;
    this.spend(held);
    call();
    this.spend(-held);
  }

  /** A leaf costs what its caller pays for it. */
  private callWith(callee: number, stack: number[], leafCost: number | undefined): void {
    const { cost } = this;
    const { parameters } = SIGNATURES[this.program.functions[callee - 1]!.signature]!;
    stack.push(...this.call(callee, stack.splice(stack.length - parameters, parameters)));
    if (this.leaves[callee - 1] !== undefined) this.cost = cost + leafCost!;
  }

  private note(argument: number): number {
    this.notes.push({ argument, cost: this.cost, frames: this.frames.length });
    return (argument + 1) | 0;
  }

  private spend(cost: number): void {
    this.cost += cost;
    if (this.cost > this.mostCost) throw UNFINISHED;
  }
}
