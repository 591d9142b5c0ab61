import { Reader, Writer } from "../../binary/binary.ts";
import { unfoldCosts } from "../costs.ts";
import { InstructionPrices } from "../instruction-prices.ts";
import { instructionsOf, type PlacedInstruction } from "../instructions.ts";
import { findLeaves } from "../leaves.ts";
import { SCHEDULE } from "../meter.ts";
import { type CoreModule, decodeModule, SECTION } from "../module.ts";
import { OP } from "../opcodes.ts";
import { CAPS } from "../options.ts";

/** The export that is the fuel left. */
export const NAIVE_FUEL = "$naive";

const I32 = 0x7f;
const I64 = 0x7e;
const NO_RESULT = 0x40;

/**
 * The module with each instruction charged where it stands, to a global of its own: slow, and too simple to be wrong in
 * the way the meter may be. Tests where a function is entered and after each `loop`, so that it ends as well. Undefined
 * for modules with 64-bit memories or tables. `bytes` are ones that the meter accepts, and `unwinds` what it reports.
 */
export function meterNaively(bytes: Uint8Array, fuel: number, unwinds: boolean): Uint8Array | undefined {
  const module = decodeModule(bytes, CAPS);
  if ([...module.memories, ...module.tables].some(({ is64 }) => is64)) return undefined;
  const naive = new NaiveMeter(module, unwinds);
  return naive.write(fuel);
}

class NaiveMeter {
  private readonly module: CoreModule;
  private readonly leaves: Int32Array;
  private readonly prices: InstructionPrices;
  private readonly global: number;

  private readonly unwinds: boolean;

  constructor(module: CoreModule, unwinds: boolean) {
    this.module = module;
    this.unwinds = unwinds;
    const costs = unfoldCosts(SCHEDULE);
    this.leaves = findLeaves(module, costs);
    this.prices = new InstructionPrices(module, costs, this.leaves);
    this.global = module.importedGlobals + definedGlobals(module);
  }

  write(fuel: number): Uint8Array {
    const output = new Writer(this.module.bytes.length * 8);
    output.copy(this.module.bytes, 0, 8);
    const added = new Map([
      [SECTION.global, (into: Writer) => into.byte(I64).byte(1).byte(OP.i64_const).s32(fuel).byte(OP.end)],
      [SECTION.export, (into: Writer) => into.name(NAIVE_FUEL).byte(3).u32(this.global)],
    ] as const);
    const wanted = [...added.keys()];
    for (const section of this.module.sections) {
      // A tag section stands before the globals though its number is higher.
      const isBefore = section.id === SECTION.custom || section.id === SECTION.tag;
      while (!isBefore && wanted.length > 0 && wanted[0]! < section.id) this.addSection(wanted.shift()!, added, output);
      if (section.id === wanted[0]) wanted.shift();
      const item = added.get(section.id as 6 | 7);
      if (item !== undefined) {
        output.section(section.id, (inner) => item(copyRaised(this.module.bytes, section.start, section.end, inner)));
      } else if (section.id === SECTION.code) output.section(section.id, (inner) => this.writeCode(inner));
      else output.copy(this.module.bytes, section.header, section.end);
    }
    while (wanted.length > 0) this.addSection(wanted.shift()!, added, output);
    return output.view().slice();
  }

  private addSection(id: 6 | 7, added: ReadonlyMap<6 | 7, (into: Writer) => Writer>, output: Writer): void {
    output.section(id, (inner) => added.get(id)!(inner.u32(1)));
  }

  private writeCode(into: Writer): void {
    const { bodies } = this.module;
    into.u32(bodies.count);
    for (let index = 0; index < bodies.count; index++) {
      const body = new Writer(1024);
      if (this.leaves[index]! >= 0) body.copy(this.module.bytes, bodies.starts[index]!, bodies.ends[index]!);
      else this.writeBody(index, body);
      into.u32(body.length).bytes(body.view());
    }
  }

  private writeBody(index: number, body: Writer): void {
    const { bytes, bodies } = this.module;
    const locals = bodies.locals[index]!;
    body.u32(bodies.groupCounts[index]! + 2).copy(bytes, bodies.groups[index]!, bodies.code[index]!);
    body.byte(1).byte(I32).byte(1).byte(I64);
    this.charge(this.prices.atEntry(index), body);
    this.test(body);
    for (const instruction of instructionsOf(this.module, index)) {
      const perUnit = this.prices.perUnit(instruction);
      if (perUnit > 0) this.chargeLength(perUnit, locals, body);
      const held = this.heldBy(instruction);
      this.charge(this.prices.flat(instruction) + held, body);
      // What takes long does not begin on an empty tank.
      if (perUnit > 0) this.test(body);
      body.copy(bytes, instruction.at, instruction.end);
      this.charge(-held, body);
      if (instruction.opcode === OP.loop) this.test(body);
    }
  }

  /** What a call gives back when it returns. */
  private heldBy({ opcode, operand, tries }: PlacedInstruction): number {
    if (!this.unwinds || (opcode !== OP.call && opcode !== OP.call_indirect && opcode !== OP.call_ref)) return 0;
    const isLeaf = opcode === OP.call && this.leaves[operand - this.module.importedFunctions]! >= 0;
    return isLeaf ? 0 : Math.max(1, tries) * SCHEDULE.unwind;
  }

  private charge(cost: number, body: Writer): void {
    if (cost === 0) return;
    body.byte(OP.global_get).u32(this.global).byte(OP.i64_const).s32(cost).byte(OP.i64_sub);
    body.byte(OP.global_set).u32(this.global);
  }

  private chargeLength(perUnit: number, locals: number, body: Writer): void {
    body.byte(OP.local_tee).u32(locals).byte(OP.local_get).u32(locals).byte(OP.i64_extend_i32_u);
    body
      .byte(OP.i64_const)
      .s32(perUnit)
      .byte(OP.i64_mul)
      .byte(OP.local_set)
      .u32(locals + 1);
    body
      .byte(OP.global_get)
      .u32(this.global)
      .byte(OP.local_get)
      .u32(locals + 1)
      .byte(OP.i64_sub);
    body.byte(OP.global_set).u32(this.global);
  }

  private test(body: Writer): void {
    body.byte(OP.global_get).u32(this.global).byte(OP.i64_const).byte(0).byte(OP.i64_lt_s);
    body.byte(OP.if).byte(NO_RESULT).byte(OP.unreachable).byte(OP.end);
  }
}

function definedGlobals({ bytes, sections }: CoreModule): number {
  const section = sections.find(({ id }) => id === SECTION.global);
  return section === undefined ? 0 : new Reader(bytes, section.start, section.end).u32();
}

/** A vector whose count is one higher; the item that is added follows. */
function copyRaised(bytes: Uint8Array, start: number, end: number, into: Writer): Writer {
  const reader = new Reader(bytes, start, end);
  return into.u32(reader.u32() + 1).copy(bytes, reader.position, end);
}
