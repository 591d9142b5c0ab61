import { Writer } from "../binary/binary.ts";
import { writeCanonicalResults } from "./canonical-nan.ts";
import { REFUSED } from "./counters.ts";
import type { Layout, TypeList } from "./layout.ts";
import type { CoreModule, Limits } from "./module.ts";
import { BULK, OP } from "./opcodes.ts";
import type { ResolvedOptions } from "./options.ts";
import { canonicalType, grownBy, INJECTED } from "./plan.ts";
import { firstBytes } from "./value-types.ts";

const I32 = 0x7f;
const I64 = 0x7e;
const NO_RESULT = 0x40;
/** Pages of a memory, and elements of a table, that names no maximum; by whether its addresses are i64. */
const MOST_PAGES = [65_536, 2 ** 48] as const;
const MOST_ELEMENTS = [0xffff_ffff, 2 ** 53] as const;

/** More than any size, and any length asked for on top of it. */
const NO_MAXIMUM = 2 ** 53;

/**
 * A length of 64 bits counts as at most this: no memory or table is as large, so the operation fails whatever it is,
 * and the highest price times it is far from overflow.
 */
const MOST_LENGTH = 2 ** 40;

/**
 * The type of an injected function. Charges take the length and give it back; growth answers like the instruction; what
 * makes results canonical takes and gives them.
 */
export function injectedType(module: CoreModule, layout: Layout, injected: number): number {
  const canonical = canonicalType(injected);
  if (canonical !== undefined) {
    const results = resultsOf(module, canonical);
    return layout.types.indexOf(results, results);
  }
  const length = { count: 1, types: [isWide(module, injected) ? I64 : I32] };
  const grown = grownBy(injected);
  if (grown?.what !== "table") return layout.types.indexOf(length, length);
  const { element } = module.tables[grown.index]!;
  return layout.types.indexOf({ count: 2, types: [...element, ...length.types] }, length);
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
  const canonical = canonicalType(injected);
  if (canonical !== undefined) {
    const { resultsStart, results } = module.types[canonical]!;
    body.byte(0);
    writeCanonicalResults(body, firstBytes(module.bytes, resultsStart, results));
    body.byte(OP.end);
    into.u32(body.length).bytes(body.view());
    return;
  }
  const is64 = isWide(module, injected);
  const grown = grownBy(injected);
  if (grown !== undefined) {
    body
      .byte(1)
      .byte(1)
      .byte(is64 ? I64 : I32);
    writeGrowth(body, layout, growthOf(module, options, grown));
  } else {
    body.byte(0);
    const isBytes = injected === INJECTED.chargeBytes || injected === INJECTED.chargeBytes64;
    if (isBytes) writeCharge(body, layout, schedule.memoryBulk, schedule.memoryBulkByte, { local: 0, is64 });
    else writeCharge(body, layout, schedule.tableBulk, schedule.tableBulkElement, { local: 0, is64 });
    body.byte(OP.local_get).byte(0);
  }
  body.byte(OP.end);
  into.u32(body.length).bytes(body.view());
}

function resultsOf({ bytes, types }: CoreModule, type: number): TypeList {
  const { results, resultsStart, resultsEnd } = types[type]!;
  return { count: results, types: bytes.subarray(resultsStart, resultsEnd) };
}

/** Whether the length that an injected function takes has 64 bits. */
function isWide(module: CoreModule, injected: number): boolean {
  const grown = grownBy(injected);
  if (grown === undefined) return injected >= INJECTED.chargeBytes64;
  return (grown.what === "memory" ? module.memories : module.tables)[grown.index]!.is64;
}

/** A length in a local. */
interface Length {
  readonly local: number;
  readonly is64: boolean;
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
  readonly asked: Length;
  /** The local that holds the answer. */
  readonly answer: number;
}

function growthOf(
  module: CoreModule,
  options: ResolvedOptions,
  grown: NonNullable<ReturnType<typeof grownBy>>,
): Growth {
  const { schedule, trapOnRefusedGrowth: traps } = options;
  const index = [...new Writer(8).u32(grown.index).view()];
  if (grown.what === "memory") {
    const memory = module.memories[grown.index]!;
    return {
      base: schedule.memoryGrow,
      each: schedule.memoryGrowPage,
      left: "pages",
      refused: REFUSED.memory,
      traps,
      ...maxima(memory, MOST_PAGES, options.memoryMaxPages, traps),
      size: [OP.memory_size, ...index],
      grow: [OP.local_get, 0, OP.memory_grow, ...index],
      asked: { local: 0, is64: memory.is64 },
      answer: 1,
    };
  }
  const table = module.tables[grown.index]!;
  return {
    base: schedule.tableGrow,
    each: schedule.tableGrowElement,
    left: "elements",
    refused: REFUSED.table,
    traps,
    ...maxima(table, MOST_ELEMENTS, options.tableMaxElements, traps),
    size: [OP.bulk, BULK.table_size, ...index],
    grow: [OP.local_get, 0, OP.local_get, 1, OP.bulk, BULK.table_grow, ...index],
    asked: { local: 1, is64: table.is64 },
    answer: 2,
  };
}

function maxima(
  limits: Limits,
  most: readonly [number, number],
  clamp: number,
  traps: boolean,
): Pick<Growth, "ownMaximum" | "clampedMaximum"> {
  // Where it traps, a module without a maximum of its own has met ours, however much it asked for.
  const highest = traps ? NO_MAXIMUM : most[limits.is64 ? 1 : 0];
  const ownMaximum = Math.min(limits.maximum ?? highest, highest);
  return { ownMaximum, clampedMaximum: limits.imported ? undefined : Math.min(ownMaximum, clamp) };
}

/** fuel -= base + each * length, with the length unsigned; traps when that makes it negative. */
function writeCharge(body: Writer, layout: Layout, base: number, each: number, length: Length): void {
  const fuel = layout.globalOf("fuel");
  body.byte(OP.global_get).u32(fuel);
  body.byte(OP.i64_const).s32(base);
  pushLength(body, length);
  if (each !== 1) body.byte(OP.i64_const).s32(each).byte(OP.i64_mul);
  body.byte(OP.i64_add).byte(OP.i64_sub).byte(OP.global_set).u32(fuel);
  body.byte(OP.global_get).u32(fuel).byte(OP.i64_const).byte(0).byte(OP.i64_lt_s);
  body.byte(OP.if).byte(NO_RESULT).byte(OP.unreachable).byte(OP.end);
}

/** Pushes an unsigned length as an i64 that is not negative. */
function pushLength(body: Writer, { local, is64 }: Length): void {
  body.byte(OP.local_get).byte(local);
  if (!is64) {
    body.byte(OP.i64_extend_i32_u);
    return;
  }
  body.byte(OP.i64_const).signed(MOST_LENGTH);
  body.byte(OP.local_get).byte(local).byte(OP.i64_const).signed(MOST_LENGTH).byte(OP.i64_lt_u).byte(OP.select);
}

function writeGrowth(body: Writer, layout: Layout, growth: Growth): void {
  const { base, each, asked, answer, left, refused, traps } = growth;
  // What will trap is looked at before it is paid for, or a growth by a great deal would be out of fuel first.
  if (!traps) writeCharge(body, layout, base, each, asked);
  // More than is left: refused before the engine is asked.
  pushLength(body, asked);
  body.byte(OP.global_get).u32(layout.globalOf(left)).byte(OP.i64_gt_s);
  body.byte(OP.if).byte(NO_RESULT);
  writeRefusal(body, layout, growth, refused);
  pushRefused(body, asked).byte(OP.return).byte(OP.end);
  if (traps) writeCharge(body, layout, base, each, asked);

  body.bytes(growth.grow).byte(OP.local_tee).byte(answer);
  pushRefused(body, asked).byte(asked.is64 ? OP.i64_eq : OP.i32_eq);
  body.byte(OP.if).byte(NO_RESULT);
  if (growth.clampedMaximum !== undefined) {
    // Within every limit and still refused: the engine could not allocate, which no guest may depend on.
    writeWithin(body, growth, growth.clampedMaximum);
    body.byte(OP.if).byte(NO_RESULT);
    writeFlag(body, layout, REFUSED.engine);
    body.byte(OP.unreachable).byte(OP.end);
    writeRefusal(body, layout, growth, refused);
  } else if (traps) {
    writeFlag(body, layout, REFUSED.own);
    body.byte(OP.unreachable);
  }
  body.byte(OP.else);
  const counter = layout.globalOf(left);
  body.byte(OP.global_get).u32(counter);
  pushLength(body, asked);
  body.byte(OP.i64_sub).byte(OP.global_set).u32(counter).byte(OP.end);
  body.byte(OP.local_get).byte(answer);
}

function pushRefused(body: Writer, { is64 }: Length): Writer {
  return body.byte(is64 ? OP.i64_const : OP.i32_const).s32(-1);
}

/** Flags the refusal as ours unless the module's own maximum forbids the growth anyway, which only a trap has to explain. */
function writeRefusal(body: Writer, layout: Layout, growth: Growth, refused: number): void {
  writeWithin(body, growth, growth.ownMaximum);
  body.byte(OP.if).byte(NO_RESULT);
  writeFlag(body, layout, refused);
  if (growth.traps) {
    body.byte(OP.unreachable).byte(OP.else);
    writeFlag(body, layout, REFUSED.own);
    body.byte(OP.unreachable);
  }
  body.byte(OP.end);
}

/** Pushes whether size + asked <= maximum, all unsigned. */
function writeWithin(body: Writer, growth: Growth, maximum: number): void {
  body.bytes(growth.size);
  if (!growth.asked.is64) body.byte(OP.i64_extend_i32_u);
  pushLength(body, growth.asked);
  body.byte(OP.i64_add);
  body.byte(OP.i64_const).signed(maximum).byte(OP.i64_le_s);
}

function writeFlag(body: Writer, layout: Layout, value: number): void {
  body.byte(OP.i32_const).s32(value).byte(OP.global_set).u32(layout.globalOf("refused"));
}
