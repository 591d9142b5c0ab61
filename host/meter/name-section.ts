import { MalformedWasm, Reader, Writer } from "../binary/binary.ts";

/** https://webassembly.github.io/spec/core/appendix/custom.html#name-section, and the extended-name-section proposal. */
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
