import type { Schedule } from "../meter.ts";
import { GLOBALS, type Instruction, type Program, type ProgramFunction, SIGNATURES } from "./program.ts";

/** What the program did, and the exact cost of every instruction that it executed. */
export interface Execution {
  readonly ending: "returned" | "trapped" | "unfinished";
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
    if (error !== TRAP && error !== UNFINISHED) throw error;
    execution.ending = error === TRAP ? "trapped" : "unfinished";
  }
  return { ...execution, cost: machine.cost, notes: machine.notes, frames: machine.frames };
}

/** The cost of every instruction of a body, executed or not. */
export function staticCost(body: readonly Instruction[], schedule: Schedule): number {
  let cost = 0;
  for (const instruction of body) {
    cost += priceOf(instruction, schedule);
    if ("body" in instruction) cost += staticCost(instruction.body, schedule);
    if ("otherwise" in instruction && instruction.otherwise !== undefined)
      cost += staticCost(instruction.otherwise, schedule);
  }
  return cost;
}

const TRAP = new Error("trap");
const UNFINISHED = new Error("unfinished");
/** Stands for a branch to the function's label, whatever the depth. */
const RETURN = 1_000_000;
const PAGE = 65_536;
const MOST_PAGES = 4;

function priceOf(instruction: Instruction, schedule: Schedule): number {
  switch (instruction.op) {
    case "block":
    case "loop":
    case "nop":
    case "drop":
    case "unreachable":
      return schedule.structural;
    case "load8_u":
    case "store8":
      return schedule.access;
    case "div_u":
    case "rem_s":
      return schedule.division;
    case "call":
      return instruction.callee === 0 ? schedule.importedCall : schedule.call;
    case "call_indirect":
      return schedule.indirectCall;
    case "memory.fill":
      return schedule.memoryBulk;
    case "memory.grow":
      return schedule.memoryGrow;
    default:
      return schedule.plain;
  }
}

class Machine {
  cost = 0;
  readonly notes: { argument: number; cost: number; frames: number }[] = [];
  readonly frames: ProgramFunction[] = [];
  private readonly program: Program;
  private readonly schedule: Schedule;
  private readonly mostCost: number;
  private readonly globals = Array.from({ length: GLOBALS }, (_, index) => index * 7);
  private readonly memory = new Uint8Array(PAGE * MOST_PAGES);
  private pages = 1;

  constructor(program: Program, schedule: Schedule, mostCost: number) {
    this.program = program;
    this.schedule = schedule;
    this.mostCost = mostCost;
  }

  call(index: number, parameters: readonly number[]): number[] {
    const callee = this.program.functions[index - 1]!;
    const { parameters: count, results } = SIGNATURES[callee.signature]!;
    this.frames.push(callee);
    const extra = Math.max(0, count + callee.locals - this.schedule.freeLocals);
    this.spend(extra * this.schedule.extraLocal);
    const locals = [...parameters, ...new Array<number>(callee.locals).fill(0)];
    const stack: number[] = [];
    this.run(callee.body, locals, stack);
    this.frames.pop();
    return results === 0 ? [] : stack.slice(-results);
  }

  /** Answers undefined, or how many labels the branch that ended it has still to leave. */
  private run(body: readonly Instruction[], locals: number[], stack: number[]): number | undefined {
    for (const instruction of body) {
      this.spend(priceOf(instruction, this.schedule));
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
          const branch = this.run(instruction.body, locals, stack);
          if (branch === undefined) return undefined;
          if (branch !== 0) return branch === RETURN ? RETURN : branch - 1;
          stack.length = height;
        }
      case "if": {
        const arm = stack.pop() !== 0 ? instruction.body : instruction.otherwise;
        return arm === undefined ? undefined : this.block(arm, instruction.results, locals, stack);
      }
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
        if (callee === 0) stack.push(this.note(stack.pop()!));
        else this.callWith(callee, stack);
        return undefined;
      }
      case "call_indirect": {
        const callee = (stack.pop()! >>> 0) + 1;
        if (this.program.functions[callee - 1]?.signature !== instruction.signature) throw TRAP;
        this.callWith(callee, stack);
        return undefined;
      }
      default:
        this.plain(instruction, locals, stack);
        return undefined;
    }
  }

  private block(body: readonly Instruction[], results: number, locals: number[], stack: number[]): number | undefined {
    const height = stack.length;
    const branch = this.run(body, locals, stack);
    if (branch === undefined) return undefined;
    if (branch !== 0) return branch === RETURN ? RETURN : branch - 1;
    const values = results === 0 ? [] : stack.slice(-results);
    stack.length = height;
    stack.push(...values);
    return undefined;
  }

  private callWith(callee: number, stack: number[]): void {
    const { parameters } = SIGNATURES[this.program.functions[callee - 1]!.signature]!;
    stack.push(...this.call(callee, stack.splice(stack.length - parameters, parameters)));
  }

  private note(argument: number): number {
    this.notes.push({ argument, cost: this.cost, frames: this.frames.length });
    return (argument + 1) | 0;
  }

  private plain(instruction: Instruction, locals: number[], stack: number[]): void {
    switch (instruction.op) {
      case "const":
        stack.push(instruction.value | 0);
        break;
      case "get":
        stack.push(locals[instruction.index]!);
        break;
      case "set":
        locals[instruction.index] = stack.pop()!;
        break;
      case "tee":
        locals[instruction.index] = stack.at(-1)!;
        break;
      case "global.get":
        stack.push(this.globals[instruction.index]!);
        break;
      case "global.set":
        this.globals[instruction.index] = stack.pop()!;
        break;
      case "drop":
        stack.pop();
        break;
      case "eqz":
        stack.push(stack.pop() === 0 ? 1 : 0);
        break;
      case "select": {
        const [first, second, condition] = stack.splice(-3) as [number, number, number];
        stack.push(condition !== 0 ? first : second);
        break;
      }
      case "load8_u":
        stack.push(this.memory[this.address(stack.pop()!, 1)]!);
        break;
      case "store8": {
        const value = stack.pop()!;
        this.memory[this.address(stack.pop()!, 1)] = value;
        break;
      }
      case "memory.fill": {
        const [to, value, length] = stack.splice(-3) as [number, number, number];
        this.spend((length >>> 0) * this.schedule.memoryBulkByte);
        const start = this.address(to, length >>> 0);
        this.memory.fill(value, start, start + (length >>> 0));
        break;
      }
      case "memory.grow":
        stack.push(this.grow(stack.pop()! >>> 0));
        break;
      case "nop":
        break;
      default: {
        const [left, right] = stack.splice(-2) as [number, number];
        stack.push(binary(instruction.op, left, right));
      }
    }
  }

  private grow(pages: number): number {
    this.spend(pages * this.schedule.memoryGrowPage);
    if (this.pages + pages > MOST_PAGES) return -1;
    this.pages += pages;
    return this.pages - pages;
  }

  private address(address: number, length: number): number {
    const start = address >>> 0;
    if (start + length > this.pages * PAGE) throw TRAP;
    return start;
  }

  private spend(cost: number): void {
    this.cost += cost;
    if (this.cost > this.mostCost) throw UNFINISHED;
  }
}

function binary(op: Instruction["op"], left: number, right: number): number {
  switch (op) {
    case "add":
      return (left + right) | 0;
    case "sub":
      return (left - right) | 0;
    case "mul":
      return Math.imul(left, right);
    case "and":
      return left & right;
    case "xor":
      return left ^ right;
    case "lt_s":
      return left < right ? 1 : 0;
    case "div_u":
      if (right === 0) throw TRAP;
      return Math.trunc((left >>> 0) / (right >>> 0)) | 0;
    case "rem_s":
      if (right === 0) throw TRAP;
      return (left % right) | 0;
    default:
      throw new Error(`No binary operation: ${op}`);
  }
}
