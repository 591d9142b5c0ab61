import { BranchTargets } from "./branch-targets.ts";
import { BulkOperations } from "./bulk-operations.ts";
import { CallSites } from "./call-sites.ts";
import { ChargePath, OWED_AT_CALL } from "./charge-path.ts";
import type { Costs } from "./costs.ts";
import { Cursor } from "./cursor.ts";
import { Handlers } from "./handlers.ts";
import { LABEL } from "./labels.ts";
import type { CoreModule } from "./module.ts";
import { FIRST_RELAXED_SIMD, OP, SIMD_IMMEDIATES, UNKNOWN } from "./opcodes.ts";
import type { ComplexityCaps } from "./options.ts";
import { skipPlain } from "./plain-instructions.ts";
import { POINT, type Points } from "./points.ts";
import { malformed, tooComplex, unsupportedInstruction } from "./refusal.ts";

/** Finds the points of one function after another; what it found is in its fields until the next one. */
export class BodyScan {
  readonly path: ChargePath;
  readonly targets = new BranchTargets();
  readonly calls: CallSites;
  readonly handlers: Handlers;
  readonly bulk: BulkOperations;
  private readonly module: CoreModule;
  private readonly costs: Costs;
  private readonly caps: ComplexityCaps;
  private readonly points: Points;
  private readonly cursor: Cursor;

  constructor(
    module: CoreModule,
    costs: Costs,
    caps: ComplexityCaps,
    points: Points,
    unwinds: boolean,
    leaves: Int32Array,
  ) {
    this.module = module;
    this.costs = costs;
    this.caps = caps;
    this.points = points;
    this.path = new ChargePath(points, caps.nesting);
    this.cursor = new Cursor(module.bytes);
    this.calls = new CallSites(this.path, costs.schedule, module, unwinds, leaves);
    this.handlers = new Handlers(this.path, costs.schedule, this.targets, this.cursor);
    this.bulk = new BulkOperations(this.path, costs.schedule, module, this.cursor);
  }

  /** One pass over a body: plain instructions are skipped by table, the rest goes to `special`. */
  walk(index: number, isSecondScan: boolean): void {
    const { path, cursor, targets } = this;
    const { plain, schedule } = this.costs;
    const { bodies } = this.module;
    const end = bodies.ends[index]!;
    this.calls.start();
    this.handlers.start();
    targets.start(isSecondScan);
    const extraLocals = Math.max(0, bodies.locals[index]! - schedule.freeLocals);
    path.enter(extraLocals * schedule.extraLocal, targets.isForced(targets.next()));
    cursor.position = bodies.code[index]!;
    while (cursor.position < end) {
      const opcode = skipPlain(cursor, path, plain, end);
      if (opcode !== undefined) this.special(opcode, cursor.position - 1);
      if (path.pend <= path.due) continue;
      path.pay(cursor.position, 0);
      path.test(cursor.position);
    }
    if (cursor.position !== end) throw malformed(`function body does not end at offset ${end}`, { offset: end });
  }

  private special(opcode: number, at: number): void {
    const { path, cursor } = this;
    path.pend += this.costs.plain[opcode]!;
    switch (opcode) {
      case OP.unreachable:
        if (!path.isDead) path.trap(at);
        return;
      case OP.block:
      case OP.loop:
      case OP.if:
        this.open(opcode === OP.block ? LABEL.block : opcode === OP.loop ? LABEL.loop : LABEL.if, at);
        return;
      case OP.else:
        path.alternate(at, this.targets.isForced(path.labels.ordinal[path.top]!));
        return;
      case OP.end:
        if (path.top === 0) this.leaveFunction(at);
        else this.handlers.close(at);
        return;
      case OP.try:
        this.handlers.guard();
        this.open(LABEL.try, at);
        return;
      case OP.try_table: {
        this.handlers.guard();
        const parameters = cursor.blockType();
        this.handlers.clauses();
        this.openLabel(LABEL.try, at, parameters);
        return;
      }
      case OP.catch:
        cursor.u32();
        this.handlers.handle(at);
        return;
      case OP.catch_all:
        this.handlers.handle(at);
        return;
      case OP.delegate:
        cursor.u32();
        this.handlers.close(at);
        return;
      case OP.throw:
      case OP.rethrow:
        cursor.u32();
        this.handlers.throw(at);
        return;
      case OP.throw_ref:
        this.handlers.throw(at);
        return;
      case OP.br:
      case OP.br_if:
      case OP.br_on_null:
      case OP.br_on_non_null: {
        const depth = cursor.u32();
        if (path.isDead) return;
        path.reach(path.top - depth, at);
        if (opcode === OP.br) path.die();
        return;
      }
      case OP.br_table:
        this.branchTable(at);
        return;
      case OP.return:
        if (path.isDead) return;
        path.reach(0, at);
        this.points.add(at, POINT.return, path.top);
        path.die();
        return;
      case OP.call: {
        const callee = cursor.u32();
        this.calls.direct(at, cursor.position, callee);
        break;
      }
      case OP.call_indirect:
        cursor.u32();
        cursor.u32();
        this.calls.indirect(at, cursor.position);
        break;
      case OP.call_ref:
        cursor.u32();
        this.calls.indirect(at, cursor.position);
        break;
      case OP.return_call:
        this.calls.tail(at, cursor.u32());
        break;
      case OP.return_call_indirect:
        cursor.u32();
        cursor.u32();
        this.calls.tail(at, undefined);
        break;
      case OP.return_call_ref:
        cursor.u32();
        this.calls.tail(at, undefined);
        break;
      case OP.select_typed:
        for (let left = cursor.u32(); left > 0; left--) cursor.valueType();
        return;
      case OP.global_get:
      case OP.global_set:
        this.global();
        return;
      case OP.table_set:
        cursor.u32();
        this.bulk.lasting ??= "table.set";
        return;
      case OP.ref_null:
        cursor.heapType();
        return;
      case OP.memory_grow:
        this.bulk.growMemory(at);
        return;
      case OP.bulk:
        this.bulk.operation(at);
        return;
      case OP.simd:
        this.vector(at);
        return;
      default:
        throw unsupportedInstruction(at, opcode, opcode >= 0xfb ? this.cursor.u32() : undefined);
    }
  }

  private open(kind: number, at: number): void {
    this.openLabel(kind, at, this.cursor.blockType());
  }

  private openLabel(kind: number, at: number, type: number | undefined): void {
    const { path } = this;
    if (type !== undefined && this.module.types[type]!.parameters > this.caps.results) {
      throw tooComplex(`block of more than ${this.caps.results} parameters`, "results", at);
    }
    const ordinal = this.targets.next();
    if (path.top >= this.caps.nesting) {
      throw tooComplex(`blocks nested deeper than ${this.caps.nesting}`, "nesting", at);
    }
    const isForced = this.targets.isForced(ordinal);
    if (!path.isDead && (kind === LABEL.loop || kind === LABEL.if)) {
      // What a loop owes is unseen by its test and owed by each call within.
      if (isForced || (kind === LABEL.loop && path.pend > OWED_AT_CALL)) path.pay(at, 0);
    }
    path.push(kind, ordinal, isForced);
    if (kind !== LABEL.loop || path.isDead) return;
    path.test(this.cursor.position);
  }

  private leaveFunction(at: number): void {
    const { path } = this;
    if (!path.isDead) path.reach(0, at);
    path.die();
    this.points.add(at, POINT.exit, path.labels.catches[0]!);
  }

  /** All targets of a `br_table` must owe the same; where they do not, a second scan makes every such label owe 0. */
  private branchTable(at: number): void {
    const { path } = this;
    const count = this.cursor.u32() + 1;
    if (count - 1 > this.caps.branchTargets) {
      throw tooComplex(`br_table of ${count - 1} targets, at most ${this.caps.branchTargets},`, "branchTargets", at);
    }
    const first = this.cursor.position;
    let owed = -1;
    for (let left = count; left > 0; left--) {
      const label = path.top - this.cursor.u32();
      if (path.isDead) continue;
      this.targets.aimAt(path.labels.ordinal[label]!);
      const theirs = path.labels.owed[label]!;
      if (owed === -1) owed = theirs;
      else if (theirs !== -1 && theirs !== owed) this.targets.hasConflict = true;
    }
    if (path.isDead) return;
    if (owed !== -1) path.pay(at, owed);
    this.cursor.position = first;
    for (let left = count; left > 0; left--) {
      const label = path.top - this.cursor.u32();
      path.note(label);
      path.labels.owed[label] = path.pend;
    }
    path.die();
  }

  private global(): void {
    const at = this.cursor.position;
    const index = this.cursor.u32();
    if (index >= this.module.importedGlobals) this.points.add(at, POINT.global, index);
  }

  private vector(at: number): void {
    const opcode = this.cursor.u32();
    const immediate = opcode < FIRST_RELAXED_SIMD ? SIMD_IMMEDIATES[opcode]! : UNKNOWN;
    if (immediate === UNKNOWN) throw unsupportedInstruction(at, OP.simd, opcode);
    this.path.pend += this.costs.simd[opcode]!;
    this.cursor.skipVectorImmediate(immediate);
  }
}
