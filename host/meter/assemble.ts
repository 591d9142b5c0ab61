import { Reader, type Section, Writer } from "../binary/binary.ts";
import { BodyWriter } from "./body-writer.ts";
import { COUNTER_MODULE, COUNTER_TYPES, MEMORY_IMPORT } from "./counters.ts";
import type { ExactPlan } from "./exact-plan.ts";
import { injectedType, writeInjected } from "./injected-functions.ts";
import type { Layout } from "./layout.ts";
import { type CoreModule, type Limits, SECTION } from "./module.ts";
import { renumberNames } from "./name-section.ts";
import type { ResolvedOptions } from "./options.ts";
import type { Plan } from "./plan.ts";
import { missingSections, PROFILE_IMPORTS, PROFILE_TYPES, writeHookElements, writeHookTable } from "./profile-hooks.ts";
import { tooComplex } from "./refusal.ts";
import { globalExport } from "./resettable.ts";

/** Writes the metered module, section by section in the order they stand. */
export function assemble(
  module: CoreModule,
  plan: Plan,
  exact: ExactPlan | undefined,
  layout: Layout,
  options: ResolvedOptions,
): Uint8Array {
  // Bodies first: they decide which types are added.
  const bodies = new BodyWriter(module, plan, exact, layout, options);
  const code = writeCode(module, bodies, layout, options);
  // All but the content of the code section, which is copied once: into the result.
  const output = new Writer(module.bytes.length - module.bodies.bytes + 4096);
  let codeAt: number | undefined;
  output.copy(module.bytes, 0, 8);
  const needsImports = layout.addedGlobals.length > 0 || layout.importsMemory;
  const missing = missingSections(module.sections, needsImports, layout.profiles);
  for (const section of module.sections) {
    while (missing[0] !== undefined && comesAfter(section.id, missing[0])) {
      writeMissing(module, missing.shift()!, layout, options, output);
    }
    writeSection(module, section, layout, options, code.length, output);
    if (section.id === SECTION.code) codeAt = output.length;
  }
  return codeAt === undefined ? output.view().slice() : inserted(output.view(), codeAt, code.view());
}

/** Whether a section stands behind the place of an import, table or element section; custom ones stand anywhere. */
function comesAfter(id: number, missing: number): boolean {
  // The section of tags has a high id and a place between memories and globals.
  return id > missing && !(id === SECTION.tag && missing === SECTION.element);
}

function writeMissing(module: CoreModule, id: number, layout: Layout, options: ResolvedOptions, output: Writer): void {
  output.section(id, (inner) => {
    if (id === SECTION.import) writeImports(module, layout, options, undefined, inner);
    else if (id === SECTION.table) writeTables(module, layout, options, inner);
    else {
      inner.u32(1);
      writeHookElements(module, layout, inner);
    }
  });
}

/** The limits of a memory or table in the metered module; throws when it starts past the clamp. */
export function clampLimits(limits: Limits, clamp: number, what: "memory" | "table"): Limits {
  if (limits.imported) return limits;
  if (limits.minimum > clamp) {
    const cap = what === "memory" ? "memoryMaxPages" : "tableMaxElements";
    throw tooComplex(`${what} starts with ${limits.minimum}, at most ${clamp}`, cap);
  }
  return { ...limits, maximum: Math.min(limits.maximum ?? clamp, clamp) };
}

function writeCode(module: CoreModule, bodies: BodyWriter, layout: Layout, options: ResolvedOptions): Writer {
  const { count } = module.bodies;
  const code = new Writer(Math.floor(module.bodies.bytes * 1.6) + 1024);
  code.u32(count + layout.injected.length);
  for (let index = 0; index < count; index++) bodies.write(index, code);
  for (const injected of layout.injected) writeInjected(module, layout, options, injected, code);
  return code;
}

/** `bytes` with `more` put in at `at`. */
function inserted(bytes: Uint8Array, at: number, more: Uint8Array): Uint8Array {
  const result = new Uint8Array(bytes.length + more.length);
  result.set(bytes.subarray(0, at));
  result.set(more, at);
  result.set(bytes.subarray(at), at + more.length);
  return result;
}

function writeSection(
  module: CoreModule,
  section: Section,
  layout: Layout,
  options: ResolvedOptions,
  codeBytes: number,
  output: Writer,
): void {
  switch (section.id) {
    case SECTION.custom:
      writeCustom(module, section, layout, output);
      break;
    case SECTION.type:
      output.section(section.id, (inner) => writeTypes(module, layout, section, inner));
      break;
    case SECTION.import:
      output.section(section.id, (inner) => writeImports(module, layout, options, section, inner));
      break;
    case SECTION.function:
      output.section(section.id, (inner) => writeFunctions(module, layout, section, inner));
      break;
    case SECTION.table:
      output.section(section.id, (inner) => writeTables(module, layout, options, inner));
      break;
    case SECTION.memory:
      if (!layout.importsMemory) output.section(section.id, (inner) => writeMemories(module, options, inner));
      break;
    case SECTION.element:
      if (layout.profiles) output.section(section.id, (inner) => writeElements(module, layout, section, inner));
      else writeRenumbered(module, section, layout, output);
      break;
    case SECTION.export:
      if (layout.exportedGlobals.length === 0) writeRenumbered(module, section, layout, output);
      else output.section(section.id, (inner) => writeExports(module, layout, section, inner));
      break;
    case SECTION.code:
      output.byte(section.id).u32(codeBytes);
      break;
    default:
      writeRenumbered(module, section, layout, output);
  }
}

function writeTypes(module: CoreModule, layout: Layout, section: Section, inner: Writer): void {
  // A function type is made when it is asked for, so ask before the count is written.
  for (const injected of layout.injected) injectedType(module, layout, injected);
  const { encoded } = layout.types;
  copyVector(module, section, encoded.length, inner);
  for (const type of encoded) inner.bytes(type);
}

function writeFunctions(module: CoreModule, layout: Layout, section: Section, inner: Writer): void {
  copyVector(module, section, layout.injected.length, inner);
  for (const injected of layout.injected) inner.u32(injectedType(module, layout, injected));
}

function writeImports(
  module: CoreModule,
  layout: Layout,
  options: ResolvedOptions,
  section: Section | undefined,
  inner: Writer,
): void {
  const more = layout.addedGlobals.length + (layout.importsMemory ? 1 : 0);
  if (section === undefined) inner.u32(more);
  else copyVector(module, section, more, inner);
  for (const counter of layout.counters) {
    inner
      .name(COUNTER_MODULE)
      .name(counter)
      .byte(3)
      .byte(COUNTER_TYPES[counter] === "i32" ? 0x7f : 0x7e)
      .byte(1);
  }
  for (const added of layout.profiles ? PROFILE_IMPORTS : []) {
    inner
      .name(COUNTER_MODULE)
      .name(added)
      .byte(3)
      .byte(PROFILE_TYPES[added] === "i32" ? 0x7f : 0x70)
      .byte(0);
  }
  if (!layout.importsMemory) return;
  inner.name(COUNTER_MODULE).name(MEMORY_IMPORT).byte(2);
  writeLimits(clampLimits(module.memories[0]!, options.memoryMaxPages, "memory"), inner);
}

function writeTables(module: CoreModule, layout: Layout, options: ResolvedOptions, inner: Writer): void {
  const defined = module.tables.filter((table) => !table.imported);
  inner.u32(defined.length + (layout.profiles ? 1 : 0));
  for (const table of defined) {
    const isInitialised = table.initialEnd > table.initialStart;
    if (isInitialised) inner.byte(0x40).byte(0);
    inner.bytes(table.element);
    writeLimits(clampLimits(table, options.tableMaxElements, "table"), inner);
    copyRenumbered(module, layout, table.initialStart, table.initialEnd, inner);
  }
  if (layout.profiles) writeHookTable(inner);
}

function writeElements(module: CoreModule, layout: Layout, section: Section, inner: Writer): void {
  const reader = new Reader(module.bytes, section.start, section.end);
  inner.u32(reader.u32() + 1);
  copyRenumbered(module, layout, reader.position, section.end, inner);
  writeHookElements(module, layout, inner);
}

function writeMemories(module: CoreModule, options: ResolvedOptions, inner: Writer): void {
  const defined = module.memories.filter((memory) => !memory.imported);
  inner.u32(defined.length);
  for (const memory of defined) writeLimits(clampLimits(memory, options.memoryMaxPages, "memory"), inner);
}

/** The module's exports, and the globals that become exports. A module without a section of them has nobody to reset it. */
function writeExports(module: CoreModule, layout: Layout, section: Section, inner: Writer): void {
  const { exportedGlobals, addedGlobals } = layout;
  const reader = new Reader(module.bytes, section.start, section.end);
  inner.u32(reader.u32() + exportedGlobals.length);
  copyRenumbered(module, layout, reader.position, section.end, inner);
  for (const index of exportedGlobals) {
    inner
      .name(globalExport(index))
      .byte(3)
      .u32(module.importedGlobals + addedGlobals.length + index);
  }
}

function writeLimits(limits: Limits, inner: Writer): void {
  // Clamped, they fit 32 bits.
  const flags = limits.is64 ? 4 : 0;
  if (limits.maximum === null) inner.byte(flags).u32(limits.minimum);
  else
    inner
      .byte(flags | 1)
      .u32(limits.minimum)
      .u32(limits.maximum);
}

/** The vector of a section with its count raised; what is added follows. */
function copyVector(module: CoreModule, section: Section, more: number, inner: Writer): void {
  const reader = new Reader(module.bytes, section.start, section.end);
  inner.u32(reader.u32() + more).copy(module.bytes, reader.position, section.end);
}

/** A section with the indices of the module's own globals shifted; most have none and are copied as they stand. */
function writeRenumbered(module: CoreModule, section: Section, layout: Layout, output: Writer): void {
  const { bytes, globalReferences } = module;
  if (layout.addedGlobals.length === 0 || !globalReferences.some((at) => at >= section.start && at < section.end)) {
    output.copy(bytes, section.header, section.end);
    return;
  }
  output.section(section.id, (inner) => copyRenumbered(module, layout, section.start, section.end, inner));
}

function copyRenumbered(module: CoreModule, layout: Layout, start: number, end: number, inner: Writer): void {
  const { bytes } = module;
  const references = module.globalReferences;
  let copied = start;
  for (let index = firstNotBelow(references, start); index < references.length; index++) {
    const at = references[index]!;
    if (at >= end) break;
    const reader = new Reader(bytes, at, end);
    inner.copy(bytes, copied, at).u32(reader.u32() + layout.addedGlobals.length);
    copied = reader.position;
  }
  inner.copy(bytes, copied, end);
}

/** The first index of ascending `values` whose value is at least `bound`. */
function firstNotBelow(values: readonly number[], bound: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Custom sections that hold offsets into code, or indices that move. */
const STALE =
  /^(?:\.debug_|metadata\.code\.|reloc\.|(?:linking|sourceMappingURL|external_debug_info|compilationHints)$)/;

function writeCustom(module: CoreModule, section: Section, layout: Layout, output: Writer): void {
  const content = module.bytes.subarray(section.start, section.end);
  const name = new Reader(content).name();
  if (STALE.test(name)) return;
  if (name !== "name") {
    output.copy(module.bytes, section.header, section.end);
    return;
  }
  const names = renumberNames(content, module.importedGlobals, layout.addedGlobals.length);
  if (names !== undefined) output.byte(SECTION.custom).u32(names.length).bytes(names.view());
}
