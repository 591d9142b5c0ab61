import { Writer } from "../binary/binary.ts";
import { CanonicalNan } from "./canonical-nan.ts";
import type { ExactPlan } from "./exact-plan.ts";
import { type Layout, NO_TYPES } from "./layout.ts";
import type { CoreModule, FunctionType } from "./module.ts";
import { OP } from "./opcodes.ts";
import type { ResolvedOptions } from "./options.ts";
import { MODE, type Plan } from "./plan.ts";
import { POINT } from "./points.ts";
import { tooComplex } from "./refusal.ts";

const I64 = 0x7e;
const NO_RESULT = 0x40;
/** V8's limit: https://webassembly.github.io/spec/js-api/#limits */
const MOST_BODY_BYTES = 7_654_321;

/** Slots that a frame takes besides its locals and operands: return address, frame pointer, instance and what the compiler spills. */
export const FRAME_SLOTS = 8;

/** Writes metered bodies: the bytes between two points are copied, what a point stands for is put in. */
export class BodyWriter {
  private readonly module: CoreModule;
  private readonly plan: Plan;
  private readonly exact: ExactPlan | undefined;
  private readonly layout: Layout;
  private readonly fuel: number;
  private readonly depth: number;
  private readonly nans: CanonicalNan | undefined;
  private readonly countsDepth: boolean;
  private readonly globalShift: number;
  private readonly body = new Writer(4096);
  private readonly blockTypes = new Map<FunctionType, number>();
  /** The index of the local that is the copy of the counter `fuel`. */
  private local = 0;
  /** The index of the local that keeps the depth at entry. */
  private depthLocal = 0;
  /** What the frame takes from the counter `depth`. */
  private slots = 0;
  /** True while there is no local: what is said of it is done to the counter. */
  private isGuarded = false;

  constructor(module: CoreModule, plan: Plan, exact: ExactPlan | undefined, layout: Layout, options: ResolvedOptions) {
    this.module = module;
    this.plan = plan;
    this.exact = exact;
    this.layout = layout;
    this.fuel = layout.globalOf("fuel");
    this.depth = layout.globalOf("depth");
    this.countsDepth = layout.counters.includes("depth");
    this.nans = exact && options.canonicalNan ? new CanonicalNan(module, exact, layout) : undefined;
    this.globalShift = layout.counters.length;
  }

  /** Writes the size and the body of the function at `index` of the code section. */
  write(index: number, into: Writer): void {
    const { bodies } = this.module;
    const { plan, body } = this;
    const mode = plan.modes[index]!;
    const isTested = plan.tested[index] === 1;
    const isCached = mode === MODE.cached;
    this.isGuarded = mode === MODE.guarded;
    this.slots = FRAME_SLOTS + bodies.locals[index]! + (this.exact?.operandSlots[index] ?? 0);
    const isPlaced = isCached || this.isGuarded;
    const hasLocal = isCached || (mode === MODE.direct && isTested);
    this.local = bodies.locals[index]!;
    this.depthLocal = this.local + (hasLocal ? 1 : 0);
    const added = (hasLocal ? 1 : 0) + (this.countsDepth ? 1 : 0);
    const floats = this.nans?.start(index, this.local + added) ?? [];
    body.clear().u32(bodies.groupCounts[index]! + (added === 0 ? 0 : 1) + floats.length);
    body.copy(this.module.bytes, bodies.groups[index]!, bodies.code[index]!);
    if (added > 0) body.byte(added).byte(I64);
    for (const type of floats) body.byte(1).byte(type);
    if (this.countsDepth) this.enterFrame();
    this.nans?.enter(index, body);
    if (mode === MODE.direct) this.chargeAtEntry(plan.totals[index]!, isTested);
    if (isCached) this.load();
    if (isPlaced) body.byte(OP.block).byte(NO_RESULT);
    if (isPlaced || this.countsDepth) this.openReturnBlock(index);
    if (isPlaced && isTested) this.testLocal(1);
    this.writePoints(index, isPlaced);
    if (body.length > MOST_BODY_BYTES) {
      throw tooComplex(
        `metered body of ${body.length} bytes, at most ${MOST_BODY_BYTES},`,
        "bodyBytes",
        bodies.starts[index]!,
      );
    }
    into.u32(body.length).bytes(body.view());
  }

  private writePoints(index: number, isPlaced: boolean): void {
    const { body } = this;
    const { bytes } = this.module;
    const { positions, kinds, values } = this.plan.points;
    const end = this.plan.firstPoints[index + 1]!;
    const isWrapped = isPlaced || this.countsDepth;
    let copied = this.module.bodies.code[index]!;
    for (let point = this.plan.firstPoints[index]!; point < end; point++) {
      const position = positions[point]!;
      const value = values[point]!;
      this.copy(copied, position);
      copied = position;
      switch (kinds[point]) {
        case POINT.pay:
          if (isPlaced) point += this.pay(point, end);
          break;
        case POINT.test:
          if (isPlaced) this.testLocal(value);
          break;
        case POINT.store:
          if (isPlaced) this.store();
          break;
        case POINT.load:
          if (isPlaced) this.load();
          break;
        case POINT.trap:
          if (isPlaced) this.subtract(value).byte(OP.global_set).u32(this.fuel);
          break;
        case POINT.return:
          if (isWrapped) {
            body.byte(OP.br).u32(value);
            copied = position + 1;
          }
          break;
        case POINT.leave:
          if (this.countsDepth) this.leaveFrame();
          break;
        case POINT.charge:
          this.callInjected(value, isPlaced);
          break;
        case POINT.growMemory:
          this.callInjected(value, isPlaced);
          copied = afterLebs(bytes, position + 1, 1);
          break;
        case POINT.growTable:
          this.callInjected(value, isPlaced);
          copied = afterLebs(bytes, position + 1, 2);
          break;
        case POINT.global:
          body.u32(value + this.globalShift);
          copied = afterLebs(bytes, position, 1);
          break;
        default:
          if (isWrapped) this.closeReturnBlock(index, isPlaced, value === 1);
      }
    }
    this.copy(copied, this.module.bodies.ends[index]!);
  }

  private copy(from: number, to: number): void {
    if (this.nans === undefined) this.body.copy(this.module.bytes, from, to);
    else this.nans.copy(this.body, from, to);
  }

  /** Charges and tests before the body runs, so nothing has to be undone where it traps. */
  private chargeAtEntry(cost: number, isTested: boolean): void {
    const { body, fuel, local } = this;
    body.byte(OP.global_get).u32(fuel).byte(OP.i64_const).s32(cost).byte(OP.i64_sub);
    if (!isTested) {
      body.byte(OP.global_set).u32(fuel);
      return;
    }
    body.byte(OP.local_tee).u32(local).byte(OP.global_set).u32(fuel).byte(OP.local_get).u32(local);
    body.byte(OP.i64_const).byte(0);
    this.trapIfLess();
  }

  /** The label of this block stands where the function's label stood, so no branch of the body is renumbered. */
  private openReturnBlock(index: number): void {
    const { module, body } = this;
    const type = module.types[module.functionTypes[module.importedFunctions + index]!]!;
    body.byte(OP.block);
    const { results, resultsStart, resultsEnd } = type;
    if (results === 0) body.byte(NO_RESULT);
    else if (results === 1) body.copy(module.bytes, resultsStart, resultsEnd);
    else body.s32(this.blockTypeOf(type));
  }

  private blockTypeOf(type: FunctionType): number {
    const known = this.blockTypes.get(type);
    if (known !== undefined) return known;
    const types = this.module.bytes.subarray(type.resultsStart, type.resultsEnd);
    const index = this.layout.types.indexOf(NO_TYPES, { count: type.results, types });
    this.blockTypes.set(type, index);
    return index;
  }

  /** The last `end` of the body is left to close the innermost block that is still open. */
  private closeReturnBlock(index: number, isPlaced: boolean, isLanding: boolean): void {
    const { body, fuel } = this;
    const owed = this.plan.owed[index]!;
    body.byte(OP.end);
    if (isLanding) this.testLocal(0);
    if (owed === -1) body.byte(OP.unreachable);
    else {
      if (this.countsDepth) this.leaveFrame();
      if (isPlaced) {
        this.subtract(owed).byte(OP.global_set).u32(fuel);
        body.byte(OP.return);
      }
    }
    if (!isPlaced) return;
    body.byte(OP.end);
    this.store().byte(OP.unreachable);
  }

  /** Writes a payment and a store or test right behind it, which needs no detour by the local; answers how many such. */
  private pay(point: number, end: number): number {
    const { body, fuel, local } = this;
    const { positions, kinds, values } = this.plan.points;
    this.subtract(values[point]!);
    if (this.isGuarded) {
      body.byte(OP.global_set).u32(fuel);
      return 0;
    }
    const next = point + 1 < end && positions[point + 1] === positions[point] ? kinds[point + 1] : POINT.pay;
    if (next === POINT.store) body.byte(OP.global_set).u32(fuel);
    else if (next === POINT.test) {
      body.byte(OP.local_tee).u32(local);
      this.leaveIfNegative(values[point + 1]!);
    } else {
      body.byte(OP.local_set).u32(local);
      return 0;
    }
    return 1;
  }

  /** Pushes the local. */
  private pushLocal(): Writer {
    const { body, isGuarded, fuel, local } = this;
    return isGuarded ? body.byte(OP.global_get).u32(fuel) : body.byte(OP.local_get).u32(local);
  }

  /** Pushes the local less `amount`. */
  private subtract(amount: number): Writer {
    const body = this.pushLocal();
    return amount === 0 ? body : body.byte(OP.i64_const).s32(amount).byte(OP.i64_sub);
  }

  /** Branches to the trap, which is the block that label `depth` ends. */
  private testLocal(depth: number): void {
    if (this.isGuarded && this.countsDepth) this.restoreDepth();
    this.pushLocal();
    this.leaveIfNegative(depth);
  }

  private leaveIfNegative(depth: number): void {
    this.body.byte(OP.i64_const).byte(0).byte(OP.i64_lt_s).byte(OP.br_if).u32(depth);
  }

  private store(): Writer {
    if (this.isGuarded) return this.body;
    return this.body.byte(OP.local_get).u32(this.local).byte(OP.global_set).u32(this.fuel);
  }

  private load(): Writer {
    if (this.isGuarded) return this.body;
    return this.body.byte(OP.global_get).u32(this.fuel).byte(OP.local_set).u32(this.local);
  }

  private callInjected(injected: number, isPlaced: boolean): void {
    if (isPlaced) this.store();
    this.body.byte(OP.call).u32(this.layout.functionOf(injected));
    if (isPlaced) this.load();
  }

  /** Traps with the counter negative. What it was before is kept in a local, so that leaving the frame reads nothing. */
  private enterFrame(): void {
    const { body, depth, depthLocal, slots } = this;
    body.byte(OP.global_get).u32(depth).byte(OP.local_tee).u32(depthLocal);
    body.byte(OP.i64_const).s32(slots).byte(OP.i64_sub).byte(OP.global_set).u32(depth);
    body.byte(OP.local_get).u32(depthLocal).byte(OP.i64_const).s32(slots);
    this.trapIfLess();
  }

  /** An exception may have unwound frames, which give nothing back. */
  private restoreDepth(): void {
    const { body, depth, depthLocal, slots } = this;
    body.byte(OP.local_get).u32(depthLocal).byte(OP.i64_const).s32(slots).byte(OP.i64_sub);
    body.byte(OP.global_set).u32(depth);
  }

  private leaveFrame(): void {
    this.body.byte(OP.local_get).u32(this.depthLocal).byte(OP.global_set).u32(this.depth);
  }

  /** Traps if the first of two values on the stack is less than the second. */
  private trapIfLess(): void {
    this.body.byte(OP.i64_lt_s).byte(OP.if).byte(NO_RESULT).byte(OP.unreachable).byte(OP.end);
  }
}

/** Behind `count` LEB128 that start at `position`. */
function afterLebs(bytes: Uint8Array, position: number, count: number): number {
  let at = position;
  for (let left = count; left > 0; left--) while (bytes[at++]! >= 0x80);
  return at;
}
