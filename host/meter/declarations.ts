import type { Reader } from "../binary/binary.ts";
import { COUNTER_MODULE } from "./counters.ts";
import type { CoreModule, Limits, Table } from "./module.ts";
import type { ComplexityCaps } from "./options.ts";
import { FUNCTION_REFERENCES, reservedName, tooComplex, unsupported } from "./refusal.ts";
import { decodeConstant } from "./segments.ts";
import { noteFeature, readValueType } from "./value-types.ts";

/** Begins a table that has an initial value; a byte that is zero follows. */
const INITIALISED = 0x40;

export function decodeTypes(module: CoreModule, reader: Reader, caps: ComplexityCaps): void {
  for (let left = reader.count(); left > 0; left--) {
    const at = reader.position;
    const form = reader.byte();
    if (form !== 0x60) throw unsupported(`type form 0x${form.toString(16)}`, typeFeature(form), at);
    const parameters = reader.count();
    const parametersStart = reader.position;
    skipValueTypes(module, reader, parameters);
    const results = reader.count();
    const resultsStart = reader.position;
    skipValueTypes(module, reader, results);
    if (results > caps.results) throw tooComplex(`type of ${results} results, at most ${caps.results},`, "results", at);
    module.types.push({ parameters, parametersStart, results, resultsStart, resultsEnd: reader.position });
  }
}

export function decodeImports(module: CoreModule, reader: Reader, caps: ComplexityCaps): void {
  module.imports = reader.count(4);
  for (let left = module.imports; left > 0; left--) {
    const at = reader.position;
    const from = reader.name();
    if (from.startsWith(COUNTER_MODULE)) throw reservedName("import module", from, at);
    reader.name();
    const kindAt = reader.position;
    const kind = reader.byte();
    if (kind === 0) {
      module.functionTypes.push(reader.u32());
      module.importedFunctions++;
    } else if (kind === 1) {
      module.tables.push(decodeTable(module, reader, true));
      module.tablesReachHost = true;
    } else if (kind === 2) addMemory(module, reader, true);
    else if (kind === 3) {
      if (decodeGlobalType(module, reader)) module.tablesReachHost = true;
      module.importedGlobals++;
    } else if (kind === 4) decodeTag(module, reader, caps);
    else reader.fail(`Unknown kind ${kind} of import`, kindAt);
  }
}

export function decodeTables(module: CoreModule, reader: Reader): void {
  for (let left = reader.count(3); left > 0; left--) {
    const at = reader.position;
    const isInitialised = reader.bytes[at] === INITIALISED;
    if (isInitialised) {
      noteFeature(module, FUNCTION_REFERENCES, at);
      reader.skip(2);
    }
    const table = decodeTable(module, reader, false);
    const initialStart = reader.position;
    if (isInitialised) decodeConstant(module, reader);
    module.tables.push({ ...table, initialStart, initialEnd: reader.position });
  }
}

export function decodeMemories(module: CoreModule, reader: Reader, caps: ComplexityCaps): void {
  const at = reader.position;
  const count = module.memories.length + reader.count(2);
  if (count > caps.memories) throw tooComplex(`${count} memories, at most ${caps.memories},`, "memories", at);
  reader.position = at;
  for (let left = reader.count(2); left > 0; left--) addMemory(module, reader, false);
}

export function decodeTags(module: CoreModule, reader: Reader, caps: ComplexityCaps): void {
  for (let left = reader.count(2); left > 0; left--) decodeTag(module, reader, caps);
}

export function decodeGlobals(module: CoreModule, reader: Reader): void {
  for (let left = reader.count(3); left > 0; left--) {
    const at = reader.position;
    decodeGlobalType(module, reader);
    module.globals.push({ type: reader.bytes[at]!, isMutable: reader.bytes[reader.position - 1] === 1 });
    decodeConstant(module, reader);
  }
}

export function decodeExports(module: CoreModule, reader: Reader): void {
  for (let left = reader.count(3); left > 0; left--) {
    const at = reader.position;
    const name = reader.name();
    if (name.startsWith(COUNTER_MODULE)) throw reservedName("export", name, at);
    const kindAt = reader.position;
    const kind = reader.byte();
    if (kind > 4) reader.fail(`Unknown kind ${kind} of export`, kindAt);
    const indexAt = reader.position;
    const index = reader.u32();
    if (kind === 3 && index >= module.importedGlobals) module.globalReferences.push(indexAt);
    if (kind === 1 || (kind === 0 && index < module.importedFunctions)) module.tablesReachHost = true;
  }
}

/** Functions of the host may be handed in wherever a type of a function says so. */
function skipValueTypes(module: CoreModule, reader: Reader, count: number): void {
  for (let left = count; left > 0; left--) if (readValueType(module, reader)) module.tablesReachHost = true;
}

function decodeTag(module: CoreModule, reader: Reader, caps: ComplexityCaps): void {
  const at = reader.position;
  if (reader.byte() !== 0) reader.fail("Unknown kind of tag", at);
  const type = reader.u32();
  const values = module.types[type]?.parameters ?? 0;
  if (values > caps.results) {
    throw tooComplex(`tag of ${values} values, at most ${caps.results},`, "results", at);
  }
  module.tags.push(type);
  module.hasTags = true;
}

/** Answers whether the global can hold a function. */
function decodeGlobalType(module: CoreModule, reader: Reader): boolean {
  const holdsFunctions = readValueType(module, reader);
  const at = reader.position;
  const flags = reader.byte();
  if ((flags & 2) !== 0) throw unsupported("shared global", "threads and atomics", at);
  if (flags > 1) reader.fail("Unknown flags of a global", at);
  return holdsFunctions;
}

function decodeTable(module: CoreModule, reader: Reader, imported: boolean): Table {
  const start = reader.position;
  readValueType(module, reader);
  const element = reader.bytes.slice(start, reader.position);
  return { ...decodeLimits(module, reader, imported, "64-bit tables"), element, initialStart: 0, initialEnd: 0 };
}

function addMemory(module: CoreModule, reader: Reader, imported: boolean): void {
  const at = reader.position;
  module.memories.push(decodeLimits(module, reader, imported, "64-bit memories"));
  if (module.memories.length > 1) noteFeature(module, "more than one memory", at);
}

function decodeLimits(module: CoreModule, reader: Reader, imported: boolean, wide: string): Limits {
  const at = reader.position;
  const flags = reader.byte();
  if ((flags & 2) !== 0) throw unsupported("shared memory or table", "threads and atomics", at);
  if ((flags & 8) !== 0) throw unsupported("memory with a page size", "custom page sizes", at);
  if (flags > 7) reader.fail("Unknown flags of a memory or table", at);
  const is64 = (flags & 4) !== 0;
  if (is64) noteFeature(module, wide, at);
  const minimum = is64 ? decodeU64(reader) : reader.u32();
  if ((flags & 1) === 0) return { imported, is64, minimum, maximum: null };
  return { imported, is64, minimum, maximum: is64 ? decodeU64(reader) : reader.u32() };
}

/** Exact up to 2^53, far past every clamp. */
function decodeU64(reader: Reader): number {
  const start = reader.position;
  let result = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = reader.byte();
    if (shift === 63 && byte > 1) reader.fail("Over-long u64", start);
    result += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return result;
  }
}

function typeFeature(form: number): string {
  if (form === 0x5d) return "stack switching";
  return form >= 0x4d && form <= 0x5f ? "garbage collection" : "an unknown type form";
}
