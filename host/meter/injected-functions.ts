import { Writer } from "../binary/binary.ts";
import { REFUSED } from "./counters.ts";
import type { Layout } from "./layout.ts";
import type { CoreModule, Limits } from "./module.ts";
import { BULK, OP } from "./opcodes.ts";
import type { ResolvedOptions } from "./options.ts";
import { INJECTED } from "./plan.ts";

const I32 = 0x7f;
const NO_RESULT = 0x40;
/** Pages of a memory, and elements of a table, that names no maximum. */
const MOST_PAGES = 65_536;
const MOST_ELEMENTS = 0xffff_ffff;

/** The type of an injected function. Charges take the length and give it back; growth answers like the instruction. */
export function injectedType(module: CoreModule, layout: Layout, injected: number): number {
  const length = { count: 1, types: [I32] };
  if (injected < INJECTED.growTable) return layout.types.indexOf(length, length);
  const { element } = module.tables[injected - INJECTED.growTable]!;
  return layout.types.indexOf({ count: 2, types: [...element, I32] }, length);
}

/** Writes the size and the body of an injected function. */
export function writeInjected(
  module: CoreModule,
  layout: Layout,
  options: ResolvedOptions,
  injected: number,
  into: Writer,
): void {
  const body = new Writer(128);
  const { schedule } = options;
  if (injected === INJECTED.chargeBytes) {
    body.byte(0);
    writeCharge(body, layout, schedule.memoryBulk, schedule.memoryBulkByte, 0);
    body.byte(OP.local_get).byte(0);
  } else if (injected === INJECTED.chargeElements) {
    body.byte(0);
    writeCharge(body, layout, schedule.tableBulk, schedule.tableBulkElement, 0);
    body.byte(OP.local_get).byte(0);
  } else {
    body.byte(1).byte(1).byte(I32);
    writeGrowth(body, layout, growthOf(module, options, injected));
  }
  body.byte(OP.end);
  into.u32(body.length).bytes(body.view());
}

/** What a growth function differs in. */
interface Growth {
  readonly base: number;
  readonly each: number;
  /** The counter that bounds it. */
  readonly left: "pages" | "elements";
  readonly refused: number;
  readonly traps: boolean;
  /** Highest size that the module itself allows; a refusal below it is ours. */
  readonly ownMaximum: number;
  /** Highest size that the metered module allows, or undefined where another module or the host decides it. */
  readonly clampedMaximum: number | undefined;
  /** The instruction that pushes the size, and the one that grows, with their immediates. */
  readonly size: readonly number[];
  readonly grow: readonly number[];
  /** Locals that hold the number asked for and the answer. */
  readonly asked: number;
  readonly answer: number;
}

function growthOf(module: CoreModule, options: ResolvedOptions, injected: number): Growth {
  const { schedule, trapOnRefusedGrowth: traps } = options;
  if (injected === INJECTED.growMemory) {
    const memory = module.memories[0]!;
    return {
      base: schedule.memoryGrow,
      each: schedule.memoryGrowPage,
      left: "pages",
      refused: REFUSED.memory,
      traps,
      ...maxima(memory, MOST_PAGES, options.memoryMaxPages),
      size: [OP.memory_size, 0],
      grow: [OP.local_get, 0, OP.memory_grow, 0],
      asked: 0,
      answer: 1,
    };
  }
  const table = injected - INJECTED.growTable;
  const index = [...new Writer(8).u32(table).view()];
  return {
    base: schedule.tableGrow,
    each: schedule.tableGrowElement,
    left: "elements",
    refused: REFUSED.table,
    traps,
    ...maxima(module.tables[table]!, MOST_ELEMENTS, options.tableMaxElements),
    size: [OP.bulk, BULK.table_size, ...index],
    grow: [OP.local_get, 0, OP.local_get, 1, OP.bulk, BULK.table_grow, ...index],
    asked: 1,
    answer: 2,
  };
}

function maxima(limits: Limits, most: number, clamp: number): Pick<Growth, "ownMaximum" | "clampedMaximum"> {
  const ownMaximum = Math.min(limits.maximum ?? most, most);
  return { ownMaximum, clampedMaximum: limits.imported ? undefined : Math.min(ownMaximum, clamp) };
}

/** fuel -= base + each * length, with the length unsigned; traps when that makes it negative. */
function writeCharge(body: Writer, layout: Layout, base: number, each: number, length: number): void {
  const fuel = layout.globalOf("fuel");
  body.byte(OP.global_get).u32(fuel);
  body.byte(OP.i64_const).s32(base).byte(OP.local_get).byte(length).byte(OP.i64_extend_i32_u);
  if (each !== 1) body.byte(OP.i64_const).s32(each).byte(OP.i64_mul);
  body.byte(OP.i64_add).byte(OP.i64_sub).byte(OP.global_set).u32(fuel);
  body.byte(OP.global_get).u32(fuel).byte(OP.i64_const).byte(0).byte(OP.i64_lt_s);
  body.byte(OP.if).byte(NO_RESULT).byte(OP.unreachable).byte(OP.end);
}

function writeGrowth(body: Writer, layout: Layout, growth: Growth): void {
  const { base, each, asked, answer, left, refused } = growth;
  writeCharge(body, layout, base, each, asked);

  // More than is left: refused before the engine is asked.
  body.byte(OP.local_get).byte(asked).byte(OP.i64_extend_i32_u);
  body.byte(OP.global_get).u32(layout.globalOf(left)).byte(OP.i64_gt_s);
  body.byte(OP.if).byte(NO_RESULT);
  writeRefusal(body, layout, growth, refused);
  body.byte(OP.i32_const).s32(-1).byte(OP.return).byte(OP.end);

  body.bytes(growth.grow).byte(OP.local_tee).byte(answer).byte(OP.i32_const).s32(-1).byte(OP.i32_eq);
  body.byte(OP.if).byte(NO_RESULT);
  if (growth.clampedMaximum !== undefined) {
    // Within every limit and still refused: the engine could not allocate, which no guest may depend on.
    writeWithin(body, growth, growth.clampedMaximum);
    body.byte(OP.if).byte(NO_RESULT);
    writeFlag(body, layout, REFUSED.engine);
    body.byte(OP.unreachable).byte(OP.end);
    writeRefusal(body, layout, growth, refused);
  }
  body.byte(OP.else);
  const counter = layout.globalOf(left);
  body.byte(OP.global_get).u32(counter).byte(OP.local_get).byte(asked).byte(OP.i64_extend_i32_u);
  body.byte(OP.i64_sub).byte(OP.global_set).u32(counter).byte(OP.end);
  body.byte(OP.local_get).byte(answer);
}

/** Flags the refusal as ours unless the module's own maximum forbids the growth anyway. */
function writeRefusal(body: Writer, layout: Layout, growth: Growth, refused: number): void {
  writeWithin(body, growth, growth.ownMaximum);
  body.byte(OP.if).byte(NO_RESULT);
  writeFlag(body, layout, refused);
  if (growth.traps) body.byte(OP.unreachable);
  body.byte(OP.end);
}

/** Pushes whether size + asked <= maximum, all unsigned. */
function writeWithin(body: Writer, growth: Growth, maximum: number): void {
  body.bytes(growth.size).byte(OP.i64_extend_i32_u);
  body.byte(OP.local_get).byte(growth.asked).byte(OP.i64_extend_i32_u).byte(OP.i64_add);
  body.byte(OP.i64_const).signed(maximum).byte(OP.i64_le_s);
}

function writeFlag(body: Writer, layout: Layout, value: number): void {
  body.byte(OP.i32_const).s32(value).byte(OP.global_set).u32(layout.globalOf("refused"));
}
