import { Reader, type Section, splitSections } from "../binary/binary.ts";
import { type Bodies, decodeBodies, NO_BODIES } from "./bodies.ts";
import {
  decodeExports,
  decodeGlobals,
  decodeImports,
  decodeMemories,
  decodeTables,
  decodeTags,
  decodeTypes,
} from "./declarations.ts";
import type { ComplexityCaps } from "./options.ts";
import { malformed, unsupported } from "./refusal.ts";
import { decodeData, decodeElements } from "./segments.ts";

/**
 * A type of the type section. Its parameter types stand from `parametersStart` on, its result types from
 * `resultsStart` to `resultsEnd`.
 */
export interface FunctionType {
  readonly parameters: number;
  readonly parametersStart: number;
  readonly results: number;
  readonly resultsStart: number;
  readonly resultsEnd: number;
}

/** Size of a memory in pages, of a table in elements. */
export interface Limits {
  readonly imported: boolean;
  /** Whether its addresses are i64. */
  readonly is64: boolean;
  readonly minimum: number;
  /** Null: none is named. */
  readonly maximum: number | null;
}

export interface Table extends Limits {
  /** The type of its elements. */
  readonly element: Uint8Array;
  /** Where the expression of its initial elements stands, `end` included; empty when it has none. */
  readonly initialStart: number;
  readonly initialEnd: number;
}

export interface DefinedGlobal {
  readonly isMutable: boolean;
  /** First byte of its type. */
  readonly type: number;
}

/** What the meter knows of a core module. Filled section by section; offsets are into `bytes`. */
export interface CoreModule {
  readonly bytes: Uint8Array;
  readonly sections: readonly Section[];
  readonly types: FunctionType[];
  imports: number;
  importedFunctions: number;
  importedGlobals: number;
  /** The globals that the module defines. */
  readonly globals: DefinedGlobal[];
  /** The type of each function, imported ones first. */
  readonly functionTypes: number[];
  readonly memories: Limits[];
  readonly tables: Table[];
  /** Where an index of a global that the module defines stands outside of code, in ascending order. */
  readonly globalReferences: number[];
  /**
   * Whether a table may come to hold an imported function, so that an indirect call may reach the host. A table that is
   * imported or exported may; so may any once the module has a reference to an import or can be handed one.
   */
  tablesReachHost: boolean;
  hasStart: boolean;
  /** Features that some engines lack, each with the offset of its first use. */
  readonly features: Map<string, number>;
  /** Whether it has tags, so that exceptions may pass through its functions. */
  hasTags: boolean;
  /** The type of each tag, imported ones first. */
  readonly tags: number[];
  bodies: Bodies;
}

export const SECTION = {
  custom: 0,
  type: 1,
  import: 2,
  function: 3,
  table: 4,
  memory: 5,
  global: 6,
  export: 7,
  start: 8,
  element: 9,
  code: 10,
  data: 11,
  dataCount: 12,
  tag: 13,
} as const;

/**
 * Decodes everything but the instructions of bodies. Throws a `HostError` for what is refused and a `MalformedWasm` for
 * what does not decode; the order of sections and types are left to `WebAssembly.validate`.
 */
export function decodeModule(bytes: Uint8Array, caps: ComplexityCaps): CoreModule {
  checkPreamble(bytes);
  const module: CoreModule = {
    bytes,
    sections: splitSections(bytes),
    types: [],
    imports: 0,
    importedFunctions: 0,
    importedGlobals: 0,
    globals: [],
    functionTypes: [],
    memories: [],
    tables: [],
    globalReferences: [],
    tablesReachHost: false,
    hasStart: false,
    features: new Map(),
    hasTags: false,
    tags: [],
    bodies: NO_BODIES,
  };
  for (const section of module.sections) decodeSection(module, section, caps);
  const defined = module.functionTypes.length - module.importedFunctions;
  if (defined !== module.bodies.count) {
    throw malformed(`${defined} functions are declared and ${module.bodies.count} have a body`);
  }
  return module;
}

function checkPreamble(bytes: Uint8Array): void {
  const preamble = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
  const at = preamble.findIndex((byte, index) => bytes[index] !== byte);
  if (at === -1) return;
  const isComponent = at === 4 && bytes[4] === 0x0d && bytes[6] === 1;
  throw malformed(isComponent ? "it is a component" : `wrong magic number or version at offset ${at}`, { offset: at });
}

function decodeSection(module: CoreModule, section: Section, caps: ComplexityCaps): void {
  const reader = new Reader(module.bytes, section.start, section.end);
  switch (section.id) {
    case SECTION.custom:
      reader.name();
      return;
    case SECTION.type:
      decodeTypes(module, reader, caps);
      break;
    case SECTION.import:
      decodeImports(module, reader, caps);
      break;
    case SECTION.function:
      for (let left = reader.count(); left > 0; left--) module.functionTypes.push(reader.u32());
      break;
    case SECTION.table:
      decodeTables(module, reader);
      break;
    case SECTION.memory:
      decodeMemories(module, reader, caps);
      break;
    case SECTION.global:
      decodeGlobals(module, reader);
      break;
    case SECTION.export:
      decodeExports(module, reader);
      break;
    case SECTION.start:
      reader.u32();
      module.hasStart = true;
      break;
    case SECTION.element:
      decodeElements(module, reader);
      break;
    case SECTION.code:
      module.bodies = decodeBodies(module, reader, caps);
      break;
    case SECTION.data:
      decodeData(module, reader);
      break;
    case SECTION.dataCount:
      reader.u32();
      break;
    case SECTION.tag:
      decodeTags(module, reader, caps);
      break;
    default:
      throw unsupported(`section ${section.id}`, "an unknown section", section.header);
  }
  if (!reader.atEnd) reader.fail(`Section ${section.id} is longer than its content`);
}
