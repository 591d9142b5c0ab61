import { MalformedWasm, Reader, type Section, Writer } from "../binary/binary.ts";

/** https://webassembly.github.io/spec/core/appendix/custom.html#name-section, and the extended-name-section proposal. */
const FUNCTION_NAMES = 1;
const LABEL_NAMES = 3;
const GLOBAL_NAMES = 7;

/**
 * The content of a name section with the module's own globals renumbered. Names of labels are left out: the blocks that
 * are added would shift them. Undefined when the section does not decode, which engines ignore as well.
 */
export function renumberNames(content: Uint8Array, importedGlobals: number, shift: number): Writer | undefined {
  const reader = new Reader(content);
  const writer = new Writer(content.length + 64);
  try {
    writer.name(reader.name());
    while (!reader.atEnd) {
      const id = reader.byte();
      const names = reader.span();
      if (id === GLOBAL_NAMES) {
        writer.section(id, (inner) => renumberGlobals(new Reader(names), inner, importedGlobals, shift));
      } else if (id !== LABEL_NAMES) writer.byte(id).u32(names.length).bytes(names);
    }
    return writer;
  } catch (error) {
    if (error instanceof MalformedWasm) return undefined;
    throw error;
  }
}

function renumberGlobals(names: Reader, into: Writer, importedGlobals: number, shift: number): void {
  const count = names.count(2);
  into.u32(count);
  for (let left = count; left > 0; left--) {
    const index = names.u32();
    const name = names.span();
    into
      .u32(index >= importedGlobals ? index + shift : index)
      .u32(name.length)
      .bytes(name);
  }
}

const CUSTOM = 0;

/** Names of functions by index, from the first name section. Empty where there is none, or none that decodes. */
export function functionNames(bytes: Uint8Array, sections: readonly Section[]): ReadonlyMap<number, string> {
  for (const { id, start, end } of sections) {
    const reader = new Reader(bytes, start, end);
    if (id !== CUSTOM || reader.name() !== "name") continue;
    try {
      return readFunctionNames(reader);
    } catch (error) {
      if (error instanceof MalformedWasm) return new Map();
      throw error;
    }
  }
  return new Map();
}

function readFunctionNames(section: Reader): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  while (!section.atEnd) {
    const id = section.byte();
    const names = new Reader(section.span());
    if (id !== FUNCTION_NAMES) continue;
    for (let left = names.count(2); left > 0; left--) found.set(names.u32(), names.name());
  }
  return found;
}
