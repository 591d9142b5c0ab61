import type { Reader } from "../binary/binary.ts";
import { COUNTER_MODULE } from "./counters.ts";
import type { CoreModule, Limits, Table } from "./module.ts";
import type { ComplexityCaps } from "./options.ts";
import { checkValueType, reservedName, tooComplex, unsupported } from "./refusal.ts";
import { decodeConstant } from "./segments.ts";

const FUNCREF = 0x70;

export function decodeTypes(module: CoreModule, reader: Reader, caps: ComplexityCaps): void {
  for (let left = reader.count(); left > 0; left--) {
    const at = reader.position;
    const form = reader.byte();
    if (form !== 0x60) throw unsupported(`type form 0x${form.toString(16)}`, typeFeature(form), at);
    const parameters = decodeValueTypes(module, reader);
    const results = decodeValueTypes(module, reader);
    if (results > caps.results) throw tooComplex(`type of ${results} results, at most ${caps.results},`, "results", at);
    module.types.push({ parameters, results, resultsEnd: reader.position });
  }
}

export function decodeImports(module: CoreModule, reader: Reader): void {
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
      module.tables.push(decodeTable(reader, true));
      module.tablesReachHost = true;
    } else if (kind === 2) addMemory(module, reader, true);
    else if (kind === 3) {
      if (decodeGlobalType(reader) === FUNCREF) module.tablesReachHost = true;
      module.importedGlobals++;
    } else if (kind === 4) throw unsupported("import of a tag", "exception handling", kindAt);
    else reader.fail(`Unknown kind ${kind} of import`, kindAt);
  }
}

export function decodeTables(module: CoreModule, reader: Reader): void {
  for (let left = reader.count(3); left > 0; left--) {
    if (reader.bytes[reader.position] === 0x40) {
      throw unsupported("table with an initialiser", "typed function references", reader.position);
    }
    module.tables.push(decodeTable(reader, false));
  }
}

export function decodeMemories(module: CoreModule, reader: Reader): void {
  for (let left = reader.count(2); left > 0; left--) addMemory(module, reader, false);
}

export function decodeGlobals(module: CoreModule, reader: Reader): void {
  for (let left = reader.count(3); left > 0; left--) {
    decodeGlobalType(reader);
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
    if (kind === 4) throw unsupported("export of a tag", "exception handling", kindAt);
    if (kind > 4) reader.fail(`Unknown kind ${kind} of export`, kindAt);
    const indexAt = reader.position;
    const index = reader.u32();
    if (kind === 3 && index >= module.importedGlobals) module.globalReferences.push(indexAt);
    if (kind === 1 || (kind === 0 && index < module.importedFunctions)) module.tablesReachHost = true;
  }
}

function decodeValueTypes(module: CoreModule, reader: Reader): number {
  const count = reader.count();
  for (let left = count; left > 0; left--) if (decodeValueType(reader) === FUNCREF) module.tablesReachHost = true;
  return count;
}

function decodeValueType(reader: Reader): number {
  const at = reader.position;
  const type = reader.byte();
  checkValueType(type, at);
  return type;
}

function decodeGlobalType(reader: Reader): number {
  const type = decodeValueType(reader);
  const at = reader.position;
  const flags = reader.byte();
  if ((flags & 2) !== 0) throw unsupported("shared global", "threads and atomics", at);
  if (flags > 1) reader.fail("Unknown flags of a global", at);
  return type;
}

function decodeTable(reader: Reader, imported: boolean): Table {
  const element = decodeValueType(reader);
  return { ...decodeLimits(reader, imported), element };
}

function addMemory(module: CoreModule, reader: Reader, imported: boolean): void {
  const at = reader.position;
  module.memories.push(decodeLimits(reader, imported));
  if (module.memories.length > 1) throw unsupported("second memory", "more than one memory", at);
}

function decodeLimits(reader: Reader, imported: boolean): Limits {
  const at = reader.position;
  const flags = reader.byte();
  if ((flags & 2) !== 0) throw unsupported("shared memory or table", "threads and atomics", at);
  if ((flags & 4) !== 0) throw unsupported("64-bit memory or table", "64-bit addresses", at);
  if ((flags & 8) !== 0) throw unsupported("memory with a page size", "custom page sizes", at);
  if (flags > 1) reader.fail("Unknown flags of a memory or table", at);
  const minimum = reader.u32();
  return { imported, minimum, maximum: flags === 1 ? reader.u32() : null };
}

function typeFeature(form: number): string {
  if (form === 0x5d) return "stack switching";
  return form >= 0x4d && form <= 0x5f ? "garbage collection" : "an unknown type form";
}
