import { Reader, type Section, splitSections, Writer } from "../binary/binary.ts";
import { callSites } from "./call-sites.ts";

/** A function that takes the place of an imported one. Types and body are Wasm's own bytes; it has no locals. */
export interface Replacement {
  readonly module: RegExp;
  readonly name: string;
  readonly params: readonly number[];
  readonly results: readonly number[];
  readonly body: readonly number[];
}

const SECTION = { type: 1, import: 2, function: 3, code: 10 } as const;

/**
 * The core module with every call of the imports going to new functions at its end instead. The imports stay, unused,
 * so that no index changes. Throws when an import is missing or has another type, or when the code does not decode.
 */
export function redirectImports(bytes: Uint8Array, replacements: readonly Replacement[]): Buffer {
  const sections = splitSections(bytes);
  const imports = importedFunctions(bytes, find(sections, SECTION.import));
  const types = functionTypes(bytes, find(sections, SECTION.type));
  const defined = new Reader(bytes, find(sections, SECTION.function).start).u32();

  const redirected = new Map<number, number>();
  const added = replacements.map((replacement, position) => {
    const index = imports.findIndex(({ module, name }) => replacement.module.test(module) && replacement.name === name);
    const type = imports[index]?.type;
    if (type === undefined || types[type] !== `${replacement.params}>${replacement.results}`) {
      throw new Error(`The engine has no import ${replacement.name} of the known type`);
    }
    redirected.set(index, imports.length + defined + position);
    return { type, body: replacement.body };
  });

  const output = new Writer(bytes.length + 1024).bytes(bytes.subarray(0, 8));
  for (const section of sections) {
    if (section.id === SECTION.function) {
      output.section(section.id, (inner) => {
        inner.u32(defined + added.length).copy(bytes, afterCount(bytes, section), section.end);
        for (const { type } of added) inner.u32(type);
      });
    } else if (section.id === SECTION.code) {
      output.section(section.id, (inner) => {
        inner.u32(defined + added.length);
        const reader = new Reader(bytes, section.start, section.end);
        for (let rest = reader.u32(); rest > 0; rest--) writeBody(inner, reader.span(), redirected);
        for (const { body } of added)
          inner
            .u32(body.length + 1)
            .u32(0)
            .bytes(body);
      });
    } else {
      output.copy(bytes, section.header, section.end);
    }
  }
  return Buffer.from(output.view());
}

function writeBody(output: Writer, body: Uint8Array, redirected: ReadonlyMap<number, number>): void {
  const changed = new Writer(body.length + 16);
  let copied = 0;
  for (const { start, end, target } of callSites(body)) {
    const replacement = redirected.get(target);
    if (replacement === undefined) continue;
    changed.copy(body, copied, start).u32(replacement);
    copied = end;
  }
  changed.copy(body, copied, body.length);
  output.u32(changed.length).bytes(changed.view());
}

function find(sections: readonly Section[], id: number): Section {
  const section = sections.find((candidate) => candidate.id === id);
  if (section === undefined) throw new Error(`The engine has no section ${id}`);
  return section;
}

function afterCount(bytes: Uint8Array, section: Section): number {
  const reader = new Reader(bytes, section.start, section.end);
  reader.u32();
  return reader.position;
}

function functionTypes(bytes: Uint8Array, section: Section): readonly string[] {
  const reader = new Reader(bytes, section.start, section.end);
  const types: string[] = [];
  for (let rest = reader.u32(); rest > 0; rest--) {
    if (reader.byte() !== 0x60) reader.fail("Not a function type");
    types.push(`${[...reader.span()]}>${[...reader.span()]}`);
  }
  return types;
}

function importedFunctions(
  bytes: Uint8Array,
  section: Section,
): readonly { readonly module: string; readonly name: string; readonly type: number }[] {
  const reader = new Reader(bytes, section.start, section.end);
  const functions: { module: string; name: string; type: number }[] = [];
  for (let rest = reader.u32(); rest > 0; rest--) {
    const module = reader.name();
    const name = reader.name();
    const kind = reader.byte();
    if (kind === 0) functions.push({ module, name, type: reader.u32() });
    else skipImported(reader, kind);
  }
  return functions;
}

function skipImported(reader: Reader, kind: number): void {
  if (kind === 3) {
    reader.skip(2); // a global: its type and whether it is mutable
    return;
  }
  if (kind === 1)
    reader.skip(1); // a table: its element type, then its limits
  else if (kind !== 2) reader.fail("Unknown kind of import");
  const flags = reader.byte();
  reader.u32();
  if ((flags & 1) !== 0) reader.u32();
}
