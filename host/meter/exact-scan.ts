import { Cursor } from "./cursor.ts";
import { type ExactPlan, RESULTS } from "./exact-plan.ts";
import { FloatLocals } from "./float-locals.ts";
import { functionEntries } from "./leaves.ts";
import type { CoreModule, FunctionType } from "./module.ts";
import {
  F32_IMMEDIATE,
  F64_IMMEDIATE,
  IMMEDIATES,
  LEB_IMMEDIATE,
  MEMORY_IMMEDIATE,
  NO_IMMEDIATE,
  OP,
  SIMD_IMMEDIATES,
} from "./opcodes.ts";
import { OperandStack } from "./operand-stack.ts";
import { BULK_EFFECTS, BULK_INDICES, FLOAT, PLAIN_EFFECTS, SIMD_EFFECTS, type StackEffects } from "./stack-effects.ts";
import { firstBytes, floatOf } from "./value-types.ts";
import { VectorLocals } from "./vector-locals.ts";

/** Behind `OP.try_table`, the kinds of clauses that name a tag. */
const LAST_TAGGED_CLAUSE = 1;

const NO_RESULT = 0x40;

/**
 * Finds operand heights and places of NaNs in every function of a module that was scanned and so holds nothing unknown.
 *
 * A NaN is made canonical where it is made, not where its bits are looked at: the canonical NaN is always among those
 * that Wasm allows for the result, so what runs is still a run of the original; a NaN that is only moved (loaded,
 * reinterpreted and stored again, as engines that box values in NaNs do) keeps the bits that the guest gave it. Made
 * are NaNs by arithmetic, rounding and conversion between floats, and by whatever comes from the host: results of
 * imports, parameters of exports. A result that only meets instructions blind to which NaN it is needs nothing, by
 * way of locals too.
 */
export function scanExact(module: CoreModule): ExactPlan {
  const scan = new ExactScan(module);
  const plan = scan.run(false);
  // What a function passes on by a tail call is a result of its own, so any call may bring what is the host's.
  return scan.tailsToHost ? scan.run(true) : plan;
}

class ExactScan {
  /** Whether a function may answer with a float of the host. */
  tailsToHost = false;
  private readonly module: CoreModule;
  private readonly cursor: Cursor;
  private readonly stack = new OperandStack();
  private readonly locals = new FloatLocals();
  private readonly vectorLocals: VectorLocals;
  private doubtsCalls = false;
  /** The locals that the function reads. */
  private readonly read = new Set<number>();

  constructor(module: CoreModule) {
    this.module = module;
    this.cursor = new Cursor(module.bytes);
    this.vectorLocals = new VectorLocals(module);
  }

  run(doubtsCalls: boolean): ExactPlan {
    const { module, stack, locals } = this;
    const { count } = module.bodies;
    this.doubtsCalls = doubtsCalls;
    const operandSlots = new Uint32Array(count);
    const firstSites = new Uint32Array(count + 1);
    const positions: number[] = [];
    const kinds: number[] = [];
    const entries = new Set(functionEntries(module));
    const entered = new Map<number, ReadonlySet<number>>();
    for (let index = 0; index < count; index++) {
      firstSites[index] = positions.length;
      const vectorLocals = this.vectorLocals.of(index);
      let hasVectors = vectorLocals > 0;
      this.read.clear();
      locals.start(this.typeOf(module.importedFunctions + index).parameters, module.bodies.locals[index]!);
      while (!locals.isStable) {
        locals.scan();
        hasVectors = this.walk(index) || hasVectors;
      }
      if (entries.has(index)) entered.set(index, new Set(this.read));
      operandSlots[index] = vectorLocals + stack.highest * (hasVectors ? 2 : 1);
      const { sites } = stack;
      for (const [site, isNeeded] of sites.needed.entries()) {
        if (!isNeeded) continue;
        positions.push(sites.positions[site]!);
        kinds.push(sites.kinds[site]!);
      }
    }
    firstSites[count] = positions.length;
    return { operandSlots, positions, kinds, firstSites, entered };
  }

  /** Answers whether there are instructions of vectors. */
  private walk(index: number): boolean {
    const { cursor, module } = this;
    const end = module.bodies.ends[index]!;
    this.stack.start(this.typeOf(index + module.importedFunctions).results);
    cursor.position = module.bodies.code[index]!;
    let hasVectors = false;
    while (cursor.position < end) {
      const opcode = cursor.byte();
      const immediate = IMMEDIATES[opcode]!;
      if (immediate === NO_IMMEDIATE) this.apply(PLAIN_EFFECTS, opcode);
      else if (opcode >= OP.local_get && opcode <= OP.local_tee) this.local(opcode, cursor.u32());
      else if (immediate === LEB_IMMEDIATE) {
        cursor.skipLeb();
        this.apply(PLAIN_EFFECTS, opcode);
      } else if (immediate === MEMORY_IMMEDIATE) {
        cursor.skipVectorImmediate(MEMORY_IMMEDIATE);
        this.apply(PLAIN_EFFECTS, opcode);
      } else if (immediate === F32_IMMEDIATE || immediate === F64_IMMEDIATE) {
        this.constant(immediate === F32_IMMEDIATE ? 4 : 8);
      } else if (opcode === OP.simd) {
        hasVectors = true;
        const second = cursor.u32();
        cursor.skipVectorImmediate(SIMD_IMMEDIATES[second]!);
        this.apply(SIMD_EFFECTS, second);
      } else this.special(opcode);
    }
    return hasVectors;
  }

  private special(opcode: number): void {
    const { cursor } = this;
    switch (opcode) {
      case OP.block:
      case OP.loop:
      case OP.try:
        this.openBlock();
        break;
      case OP.try_table:
        this.openBlock();
        for (let left = cursor.u32(); left > 0; left--) {
          if (cursor.byte() <= LAST_TAGGED_CLAUSE) cursor.u32();
          cursor.u32();
        }
        break;
      case OP.if:
        this.stack.pop(1, FLOAT.none);
        this.openBlock();
        break;
      case OP.else:
        this.stack.alternate();
        break;
      case OP.catch:
        this.stack.alternate(this.module.types[this.module.tags[cursor.u32()]!]!.parameters);
        break;
      case OP.catch_all:
        this.stack.alternate(0);
        break;
      case OP.delegate:
        cursor.u32();
        this.stack.close(cursor.position);
        break;
      case OP.end:
        this.stack.close(cursor.position);
        break;
      case OP.br_if:
      case OP.br_on_non_null:
        cursor.u32();
        this.stack.pop(1, FLOAT.none);
        this.stack.needAll();
        break;
      case OP.br_on_null:
        cursor.u32();
        this.stack.needAll();
        break;
      case OP.br_table:
        for (let left = cursor.u32() + 1; left > 0; left--) cursor.u32();
        this.stack.die();
        break;
      case OP.br:
      case OP.throw:
      case OP.rethrow:
        cursor.u32();
        this.stack.die();
        break;
      case OP.unreachable:
      case OP.throw_ref:
      case OP.return:
        this.stack.die();
        break;
      case OP.call: {
        const callee = cursor.u32();
        this.call(this.module.functionTypes[callee]!, 0, callee < this.module.importedFunctions);
        break;
      }
      case OP.call_indirect: {
        const type = cursor.u32();
        cursor.u32();
        this.call(type, 1, this.module.tablesReachHost);
        break;
      }
      case OP.call_ref:
        this.call(cursor.u32(), 1, this.module.tablesReachHost);
        break;
      case OP.return_call: {
        const callee = cursor.u32();
        this.tailCall(this.typeOf(callee), callee < this.module.importedFunctions);
        break;
      }
      case OP.return_call_indirect: {
        const type = this.module.types[cursor.u32()]!;
        cursor.u32();
        this.tailCall(type, this.module.tablesReachHost);
        break;
      }
      case OP.return_call_ref:
        this.tailCall(this.module.types[cursor.u32()]!, this.module.tablesReachHost);
        break;
      case OP.select_typed:
        for (let left = cursor.u32(); left > 0; left--) cursor.valueType();
        this.apply(PLAIN_EFFECTS, opcode);
        break;
      case OP.ref_null:
        cursor.heapType();
        this.apply(PLAIN_EFFECTS, opcode);
        break;
      case OP.bulk: {
        const second = cursor.u32();
        for (let left = BULK_INDICES[second]!; left > 0; left--) cursor.u32();
        this.apply(BULK_EFFECTS, second);
        break;
      }
      default:
        // Globals and `memory.grow`.
        cursor.u32();
        this.apply(PLAIN_EFFECTS, opcode);
    }
  }

  private constant(size: number): void {
    const { cursor, stack } = this;
    cursor.position += size;
    // The exponent of an infinity or a NaN.
    const high = (cursor.bytes[cursor.position - 1]! << 8) | cursor.bytes[cursor.position - 2]!;
    const isNumber = size === 4 ? (high & 0x7f80) !== 0x7f80 : (high & 0x7ff0) !== 0x7ff0;
    stack.push(isNumber ? FLOAT.number : FLOAT.none, cursor.position);
  }

  private local(opcode: number, local: number): void {
    const { cursor, locals, stack } = this;
    if (stack.isDead) return;
    if (opcode === OP.local_get) {
      this.read.add(local);
      stack.push(locals.shapeOf(local), cursor.position);
      return;
    }
    const mayHold = locals.assign(local, stack.top);
    if (mayHold && opcode === OP.local_tee) return;
    stack.pop(1, mayHold ? FLOAT.any : FLOAT.none);
    if (opcode === OP.local_tee) stack.push(FLOAT.none, cursor.position);
  }

  private apply({ pops, pushes, makes, isBlindTo }: StackEffects, opcode: number): void {
    this.stack.pop(pops[opcode]!, isBlindTo[opcode]!);
    if (pushes[opcode] !== 0) this.stack.push(makes[opcode]!, this.cursor.position);
  }

  private call(index: number, more: number, mayReachHost: boolean): void {
    const { stack, cursor } = this;
    const type = this.module.types[index]!;
    stack.pop(type.parameters + more, FLOAT.none);
    if (!mayReachHost && !this.doubtsCalls) stack.pushKnown(type.results);
    else if (type.results === 1) stack.push(this.floatsOf(type)[0]!, cursor.position);
    else {
      stack.pushKnown(type.results);
      if (!this.hasFloats(type) || stack.isDead) return;
      stack.addSite(RESULTS + index, cursor.position, true);
    }
  }

  private tailCall(type: FunctionType, mayReachHost: boolean): void {
    if (mayReachHost && this.hasFloats(type)) this.tailsToHost = true;
    this.stack.die();
  }

  private openBlock(): void {
    const { cursor, module, stack } = this;
    const first = cursor.bytes[cursor.position]!;
    const type = module.types[cursor.blockType() ?? -1];
    stack.openLabel(type?.parameters ?? 0, type?.results ?? (first === NO_RESULT ? 0 : 1));
  }

  private typeOf(index: number): FunctionType {
    return this.module.types[this.module.functionTypes[index]!]!;
  }

  private hasFloats(type: FunctionType): boolean {
    return this.floatsOf(type).some((float) => float !== FLOAT.none);
  }

  private floatsOf({ resultsStart, results }: FunctionType): number[] {
    return firstBytes(this.module.bytes, resultsStart, results).map(floatOf);
  }
}
