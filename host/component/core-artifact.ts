import { MalformedWasm, Reader, type Section } from "../binary/binary.ts";
import { HostError, isHostError } from "../errors/errors.ts";
import type { ComponentInfo } from "./component-info.ts";
import { readCoreModule } from "./core-module.ts";
import { readCoreExternType, readCoreKind } from "./core-type.ts";
import { Findings, unsupported } from "./findings.ts";
import { sectionsOf } from "./sections.ts";

/** Where the one module of the core profile stands, in messages. */
const PATH = "core module";
/** The engine's own bound on types and on functions of a module. */
const MOST_TYPES = 1_000_000;
const MOST_FUNCTIONS = 1_000_000;
const FUNC = 0x60;
const VALUE_TYPES: Readonly<Record<number, string>> = {
  127: "i32",
  126: "i64",
  125: "f32",
  124: "f64",
  123: "v128",
  112: "funcref",
  111: "externref",
};

/** A core module that stands by itself, and the types of the functions by which it meets the host. */
export interface CoreArtifact {
  /** As of a component that holds the module and nothing else, so that every check of components holds for it. */
  readonly info: ComponentInfo;
  /** The type of each import, such as `(i32, i32) -> i32`; null for what is no function, or of a form that the host does not know. */
  readonly importTypes: readonly (string | null)[];
  /** The same of each export. */
  readonly exportTypes: readonly (string | null)[];
}

/**
 * Reads what a core module is, bounded as `decodeComponent` is. Throws AIRLOCK_COMPONENT_MALFORMED for bytes that do not decode
 * and AIRLOCK_COMPONENT_UNSUPPORTED for a feature that it does not know or a cap that is passed; both with `{ offset }`.
 */
export function decodeCoreModule(bytes: Uint8Array): CoreArtifact {
  try {
    const findings = new Findings();
    const module = readCoreModule(bytes, 0, bytes.length, findings, PATH);
    findings.coreModules.push(module);
    const none = { imports: [], exports: [], componentImports: [], valueImports: [] };
    return { info: { ...none, instances: 1, ...findings.summary() }, ...readTypes(bytes) };
  } catch (error) {
    if (isHostError(error)) {
      const message = error.message.replace(/^Decode component/, "Decode core module");
      throw new HostError(error.code, message, { details: error.details, cause: error });
    }
    if (!(error instanceof MalformedWasm)) throw error;
    throw new HostError("AIRLOCK_COMPONENT_MALFORMED", `Decode core module: ${error.message}`, {
      details: { offset: error.offset },
      cause: error,
    });
  }
}

function readTypes(bytes: Uint8Array): Pick<CoreArtifact, "importTypes" | "exportTypes"> {
  const sections = new Map<number, Section>();
  // An engine refuses a second section of a kind; until it has been asked, the first one counts.
  for (const section of sectionsOf(bytes, 0, bytes.length, new Findings())) {
    if (!sections.has(section.id)) sections.set(section.id, section);
  }
  const readerOf = (id: number): Reader => {
    const { start, end } = sections.get(id) ?? { start: 0, end: 0 };
    return new Reader(bytes, start, end);
  };
  checkMemories(readerOf(5));
  const types = typePositions(readerOf(1));
  // Once for each type: a hundred thousand exports can share one of a thousand parameters.
  const texts = new Map<number, string>();
  const textOf = (index: number | null): string | null => {
    const position = index === null ? undefined : types[index];
    if (position === undefined) return null;
    const text = texts.get(position) ?? textAt(bytes, position);
    texts.set(position, text);
    return text;
  };
  const imported = importedTypes(readerOf(2));
  const functions = [...imported.filter((index) => index !== null), ...definedTypes(readerOf(3))];
  return {
    importTypes: imported.map(textOf),
    exportTypes: exportedFunctions(readerOf(7)).map((index) =>
      textOf(index === null ? null : (functions[index] ?? null)),
    ),
  };
}

/** The host makes the module's memory itself, with addresses of 32 bits and for one thread. */
function checkMemories(reader: Reader): void {
  if (reader.atEnd) return;
  for (let count = reader.count(2); count > 0; count--) {
    const flags = reader.byte();
    if (flags > 1) unsupported(`Memory of the form 0x${flags.toString(16)}`, reader.position - 1);
    reader.u32();
    if (flags === 1) reader.u32();
  }
}

/** Where each function type stands; from the first type of another form on, nothing is known. */
function typePositions(reader: Reader): readonly number[] {
  const positions: number[] = [];
  if (reader.atEnd) return positions;
  for (let count = Math.min(reader.count(), MOST_TYPES); count > 0; count--) {
    const at = reader.position;
    if (reader.byte() !== FUNC) break;
    for (let list = 0; list < 2; list++) {
      for (let values = reader.count(); values > 0; values--) skipValueType(reader);
    }
    positions.push(at);
  }
  return positions;
}

function skipValueType(reader: Reader): void {
  const byte = reader.byte();
  // References with a heap type of their own; all others are one byte.
  if (byte === 0x63 || byte === 0x64) reader.s33();
}

/** The index of the type of each import, null for what is no function. */
function importedTypes(reader: Reader): readonly (number | null)[] {
  const types: (number | null)[] = [];
  if (reader.atEnd) return types;
  for (let count = reader.count(4); count > 0; count--) {
    reader.span();
    reader.span();
    const kind = readCoreKind(reader);
    if (kind === "func") types.push(reader.u32());
    else {
      readCoreExternType(reader, kind);
      types.push(null);
    }
  }
  return types;
}

function definedTypes(reader: Reader): readonly number[] {
  const types: number[] = [];
  if (reader.atEnd) return types;
  for (let count = Math.min(reader.count(), MOST_FUNCTIONS); count > 0; count--) types.push(reader.u32());
  return types;
}

/** The index of each exported function, null for what is none. */
function exportedFunctions(reader: Reader): readonly (number | null)[] {
  const indices: (number | null)[] = [];
  if (reader.atEnd) return indices;
  for (let count = reader.count(3); count > 0; count--) {
    reader.span();
    const kind = readCoreKind(reader);
    const index = reader.u32();
    indices.push(kind === "func" ? index : null);
  }
  return indices;
}

function textAt(bytes: Uint8Array, position: number): string {
  const reader = new Reader(bytes, position + 1);
  const list = (): string[] => {
    const names: string[] = [];
    for (let count = reader.count(); count > 0; count--) {
      names.push(VALUE_TYPES[reader.bytes[reader.position]!] ?? "ref");
      skipValueType(reader);
    }
    return names;
  };
  const parameters = list();
  const results = list();
  const result = results.length === 1 ? results[0] : `(${results.join(", ")})`;
  return `(${parameters.join(", ")}) -> ${result}`;
}
