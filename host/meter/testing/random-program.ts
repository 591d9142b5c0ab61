import fc from "fast-check";
import {
  BINARY_OPERATIONS,
  GLOBALS,
  type Instruction,
  type Program,
  type ProgramFunction,
  SIGNATURES,
} from "./program.ts";
import { type Exceptions, exceptionStatement } from "./random-exceptions.ts";

/** Valid programs that end: calls go to later functions, and each loop counts down at its head. */
export const programs = programsWith("none");

export function programsWith(exceptions: Exceptions): fc.Arbitrary<Program> {
  return fc.gen().map((draw) => programOf(draw, exceptions));
}

function programOf(draw: fc.GeneratorValue, exceptions: Exceptions): Program {
  const pick = (count: number): number => draw(fc.nat, { max: count - 1 });
  const count = 1 + pick(4);
  const signatures = Array.from({ length: count }, (_, index) => (index === 0 ? 0 : pick(SIGNATURES.length)));
  const functions = signatures.map((_, index) => new FunctionMaker(pick, signatures, index, exceptions).make());
  return { hasTags: exceptions !== "none", functions };
}

const LOOP_DEPTH = 3;
const FREE_LOCALS = 2;

/** A label that code may branch to, innermost last. */
interface Target {
  /** -1: none may aim at it. */
  readonly results: number;
  readonly isCatch: boolean;
}

class FunctionMaker {
  readonly pick: (count: number) => number;
  readonly targets: Target[] = [];
  private readonly exceptions: Exceptions;
  private readonly signatures: readonly number[];
  private readonly index: number;
  private readonly parameters: number;
  private loopDepth = 0;
  private budget: number;

  constructor(pick: (count: number) => number, signatures: readonly number[], index: number, exceptions: Exceptions) {
    this.exceptions = exceptions;
    this.pick = pick;
    this.signatures = signatures;
    this.index = index;
    this.parameters = SIGNATURES[signatures[index]!]!.parameters;
    // Small ones, so that some are leaves.
    this.budget = index > 0 && pick(2) === 0 ? 8 : 60;
  }

  make(): ProgramFunction {
    const signature = this.signatures[this.index]!;
    const { results } = SIGNATURES[signature]!;
    this.targets.push({ results, isCatch: false });
    const body = [...this.statements(4), ...this.values(results)];
    // Now and then more locals than are free.
    return { signature, locals: FREE_LOCALS + LOOP_DEPTH + (this.pick(5) === 0 ? 60 : 0), body };
  }

  statements(most: number): Instruction[] {
    return Array.from({ length: this.pick(most + 1) }, () => this.statement()).flat();
  }

  private statement(): Instruction[] {
    if (this.budget-- <= 0) return [{ op: "nop" }];
    if (this.exceptions !== "none" && this.pick(3) === 0) return exceptionStatement(this, this.exceptions);
    switch (this.pick(16)) {
      case 0:
      case 1:
        return [...this.value(), { op: "set", index: this.local() }];
      case 2:
        return [...this.value(), { op: "global.set", index: this.pick(GLOBALS) }];
      case 3:
        return [...this.value(), ...this.value(), { op: "store8" }];
      case 4:
      case 5: {
        const condition = this.value();
        return [...condition, this.choice(0, (most) => this.statements(most))];
      }
      case 6:
        return [{ op: "block", results: 0, body: this.within(0, () => this.statements(4)) }];
      case 7:
      case 8:
        return this.loop();
      case 9:
      case 10:
        return this.branchIf();
      case 11:
        return this.branch();
      case 12:
        return this.branchTable();
      case 13:
        return this.pick(4) === 0 ? [{ op: "unreachable" }] : [...this.value(), { op: "drop" }];
      case 14: {
        const length: Instruction[] = [...this.value(), { op: "const", value: 255 }, { op: "and" }];
        return [{ op: "const", value: this.pick(65_400) }, ...this.value(), ...length, { op: "memory.fill" }];
      }
      default:
        return this.callStatement();
    }
  }

  private values(count: number): Instruction[] {
    return Array.from({ length: count }, () => this.value()).flat();
  }

  value(): Instruction[] {
    if (this.budget-- <= 0) return [{ op: "const", value: this.pick(10) }];
    switch (this.pick(14)) {
      case 0:
      case 1:
        return [{ op: "const", value: this.pick(2) === 0 ? this.pick(8) : this.pick(2 ** 31) - 2 ** 30 }];
      case 2:
      case 3:
        return [{ op: "get", index: this.local() }];
      case 4:
        return [{ op: "global.get", index: this.pick(GLOBALS) }];
      case 5:
      case 6:
        return [...this.value(), ...this.value(), { op: BINARY_OPERATIONS[this.pick(BINARY_OPERATIONS.length)]! }];
      case 7:
        return [...this.value(), { op: "const", value: 0xffff }, { op: "and" }, { op: "load8_u" }];
      case 8:
        return [...this.values(3), { op: "select" }];
      case 9: {
        const condition = this.value();
        return [...condition, this.choice(1, () => [...this.statements(2), ...this.value()])];
      }
      case 10: {
        const body = this.within(1, () => [...this.statements(3), ...this.value()]);
        return [{ op: "block", results: 1, body }];
      }
      case 11:
        return [...this.value(), { op: "tee", index: this.local() }];
      case 12:
        return this.pick(8) === 0
          ? [{ op: "const", value: this.pick(3) }, { op: "memory.grow" }]
          : [...this.value(), { op: "call", callee: 0 }];
      default:
        return this.callValue();
    }
  }

  private choice(results: number, arm: (most: number) => Instruction[]): Instruction {
    const body = this.within(results, () => arm(3));
    const hasOther = results > 0 || this.pick(2) === 0;
    return { op: "if", results, body, otherwise: hasOther ? this.within(results, () => arm(3)) : undefined };
  }

  within(results: number, make: () => Instruction[], isCatch = false): Instruction[] {
    this.targets.push({ results, isCatch });
    const made = make();
    this.targets.pop();
    return made;
  }

  /** counter = n; block loop: counter -= 1; counter < 0 -> leave; body; again. */
  private loop(): Instruction[] {
    if (this.loopDepth === LOOP_DEPTH) return [{ op: "nop" }];
    const counter = this.parameters + FREE_LOCALS + this.loopDepth++;
    const head: Instruction[] = [
      { op: "get", index: counter },
      { op: "const", value: 1 },
      { op: "sub" },
      { op: "tee", index: counter },
      { op: "const", value: 0 },
      { op: "lt_s" },
      { op: "br_if", depth: 1 },
    ];
    const inner = this.within(0, () => this.within(0, () => [...head, ...this.statements(4), { op: "br", depth: 0 }]));
    this.loopDepth--;
    const body: Instruction[] = [{ op: "loop", results: 0, body: inner }];
    return [
      { op: "const", value: this.pick(5) },
      { op: "set", index: counter },
      { op: "block", results: 0, body },
    ];
  }

  private branch(): Instruction[] {
    const depth = this.depth();
    const { results } = this.targetAt(depth);
    if (depth === this.targets.length - 1 && this.pick(2) === 0) return [...this.values(results), { op: "return" }];
    return [...this.values(results), { op: "br", depth }];
  }

  private branchIf(): Instruction[] {
    const depth = this.depth();
    const { results } = this.targetAt(depth);
    const drops = Array.from({ length: results }, (): Instruction => ({ op: "drop" }));
    return [...this.values(results), ...this.value(), { op: "br_if", depth }, ...drops];
  }

  private branchTable(): Instruction[] {
    const { results } = this.targetAt(this.depth());
    const alike = this.targets.map((_, depth) => depth).filter((depth) => this.targetAt(depth).results === results);
    const depths = Array.from({ length: 1 + this.pick(4) }, () => alike[this.pick(alike.length)]!);
    return [...this.values(results), ...this.value(), { op: "br_table", depths }];
  }

  private callStatement(): Instruction[] {
    const callee = this.laterFunction();
    if (callee === undefined) return [{ op: "nop" }];
    const drops = Array.from({ length: this.shape(callee).results }, (): Instruction => ({ op: "drop" }));
    return [...this.callTo(callee), ...drops];
  }

  private callValue(): Instruction[] {
    const callee = this.laterFunction();
    if (callee === undefined) return [{ op: "get", index: this.local() }];
    const { results } = this.shape(callee);
    if (results === 0) return [...this.callTo(callee), { op: "const", value: 5 }];
    return results === 1 ? this.callTo(callee) : [...this.callTo(callee), { op: "sub" }];
  }

  private callTo(callee: number): Instruction[] {
    const signature = this.signatures[callee]!;
    const parameters = this.values(this.shape(callee).parameters);
    if (this.pick(3) !== 0) return [...parameters, { op: "call", callee: callee + 1 }];
    return [...parameters, { op: "const", value: callee }, { op: "call_indirect", signature }];
  }

  private laterFunction(): number | undefined {
    const later = this.signatures.length - this.index - 1;
    return later === 0 ? undefined : this.index + 1 + this.pick(later);
  }

  private shape(callee: number): (typeof SIGNATURES)[number] {
    return SIGNATURES[this.signatures[callee]!]!;
  }

  /** The depth of a label that may be aimed at. */
  private depth(): number {
    const depth = this.pick(this.targets.length);
    return this.targetAt(depth).results === -1 ? 0 : depth;
  }

  private targetAt(depth: number): Target {
    return this.targets[this.targets.length - 1 - depth]!;
  }

  /** A parameter or a free local, never a loop's counter. */
  private local(): number {
    return this.pick(this.parameters + FREE_LOCALS);
  }
}
