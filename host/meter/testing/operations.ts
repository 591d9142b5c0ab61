import type { Schedule } from "../meter.ts";
import { GLOBALS, type Instruction } from "./program.ts";

export const TRAP = new Error("trap");
const PAGE = 65_536;
const MOST_PAGES = 4;

/** The globals, the memory and the instructions that neither branch nor call. */
export class Operations {
  private readonly schedule: Schedule;
  private readonly spend: (cost: number) => void;
  private readonly globals = Array.from({ length: GLOBALS }, (_, index) => index * 7);
  private readonly memory = new Uint8Array(PAGE * MOST_PAGES);
  private pages = 1;

  constructor(schedule: Schedule, spend: (cost: number) => void) {
    this.schedule = schedule;
    this.spend = spend;
  }

  run(instruction: Instruction, locals: number[], stack: number[]): void {
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
