import { MalformedWasm, Reader, type Section } from "../binary/binary.ts";
import { HostError, quote } from "../errors/errors.ts";
import { readAlias } from "./alias.ts";
import { readCanon } from "./canon.ts";
import type { ComponentInfo, ExternInfo } from "./component-info.ts";
import { readCoreModule } from "./core-module.ts";
import { readCoreType } from "./core-type.ts";
import { named, putExport, readExternDesc, readExternName, readSortIndex } from "./extern.ts";
import { Findings, MAX_NESTING, unsupported } from "./findings.ts";
import { readCoreInstance, readInstance } from "./instances.ts";
import { kindOf } from "./kind.ts";
import { type Entity, type NamedEntity, Scope } from "./scope.ts";
import { expectEnd, sectionsOf } from "./sections.ts";
import type { Definition } from "./structure.ts";
import { readTypeDefinition } from "./type-definition.ts";

/** WASI of the async generation; its release candidates too. */
const WASI_0_3 = /^wasi:[^@]*@0\.3\./;

/**
 * Reads what a component is out of its bytes. Time and memory grow with the bytes and end at a cap; it decodes, and
 * leaves validation to the transpiler. Throws AIRLOCK_COMPONENT_MALFORMED for bytes that do not decode and
 * AIRLOCK_COMPONENT_UNSUPPORTED for a feature that it does not know or a cap that is passed; both with `{ offset }`.
 */
export function decodeComponent(bytes: Uint8Array): ComponentInfo {
  return describe(decode(bytes, null));
}

/** Reads of what definitions a component consists, at all depths, bounded as decodeComponent() is. Throws what it throws. */
export function decodeStructure(bytes: Uint8Array): readonly Definition[] {
  const definitions: Definition[] = [];
  decode(bytes, definitions);
  return definitions;
}

function decode(bytes: Uint8Array, definitions: Definition[] | null): Scope {
  try {
    const scope = new Scope(null, new Findings(), "component", definitions);
    readComponent(bytes, 0, bytes.length, scope);
    return scope;
  } catch (error) {
    if (!(error instanceof MalformedWasm)) throw error;
    throw new HostError("AIRLOCK_COMPONENT_MALFORMED", `Decode component: ${error.message}`, {
      details: { offset: error.offset },
      cause: error,
    });
  }
}

function readComponent(bytes: Uint8Array, start: number, end: number, scope: Scope): void {
  if (kindOf(bytes.subarray(start, end)) !== "component") new Reader(bytes, start, end).fail("Not a component");
  scope.findings.depth = Math.max(scope.findings.depth, scope.depth);
  for (const section of sectionsOf(bytes, start, end, scope.findings)) {
    if (section.id === 0) {
      scope.findings.name(new Reader(bytes, section.start, section.end), "custom-section", scope.path);
    } else if (section.id === 1) {
      const path = nestedPath(scope, "core module", scope.coreModules);
      scope.findings.coreModules.push(readCoreModule(bytes, section.start, section.end, scope.findings, path));
      scope.add({ sort: "module" });
      scope.note({ kind: "core-module", start: section.start, end: section.end });
    } else if (section.id === 4) {
      readNestedComponent(bytes, section, scope);
    } else {
      const reader = new Reader(bytes, section.start, section.end);
      readDefinitions(reader, section, scope);
      expectEnd(reader, section);
    }
  }
}

function readNestedComponent(bytes: Uint8Array, section: Section, scope: Scope): void {
  const definitions = scope.nestedDefinitions();
  const path = nestedPath(scope, "component", scope.componentCount);
  const nested = new Scope(scope, scope.findings, path, definitions);
  if (nested.depth > MAX_NESTING) unsupported(`Nesting deeper than ${MAX_NESTING}`, section.header);
  scope.findings.nestedComponents.push(nested.path);
  readComponent(bytes, section.start, section.end, nested);
  scope.findings.instancesOf.set(nested.exports, nested.instances);
  scope.add({ sort: "component", exports: nested.exports });
  if (definitions !== null) scope.note({ kind: "component", definitions });
}

function nestedPath(scope: Scope, what: string, index: number): string {
  return scope.parent === null ? `${what} ${index}` : `${scope.path} > ${what} ${index}`;
}

type ReadDefinition = (reader: Reader, scope: Scope) => void;

/** The sections that are a vector of definitions. */
const DEFINITIONS: ReadonlyMap<number, ReadDefinition> = new Map([
  [2, readCoreInstance],
  [3, readCoreType],
  [5, readInstance],
  [6, readAlias],
  [7, readTypeDefinition],
  [8, readCanon],
  [10, readImport],
  [11, readExport],
]);

function readDefinitions(reader: Reader, section: Section, scope: Scope): void {
  if (section.id === 9) {
    readStart(reader, scope);
    return;
  }
  if (section.id === 12) unsupported("A section of values", section.header);
  const read = DEFINITIONS.get(section.id);
  if (read === undefined) reader.fail(`Unknown section ${section.id}`, section.header);
  for (let count = reader.count(); count > 0; count--) {
    scope.findings.spend(reader);
    read(reader, scope);
  }
}

function readStart(reader: Reader, scope: Scope): void {
  scope.findings.hasComponentStart = true;
  scope.at(reader, "func", reader.u32());
  for (let count = reader.count(); count > 0; count--) reader.u32();
  const results = reader.u32();
  if (results > 1) unsupported("A start function with several results", reader.position);
  scope.values += results;
  scope.note({ kind: "start" });
}

function readImport(reader: Reader, scope: Scope): void {
  const name = readExternName(reader, scope, "component-import");
  const entity = readExternDesc(reader, scope, name);
  scope.add(entity);
  scope.imports.push({ name, entity });
  scope.note({ kind: "import", name, entity });
  if (WASI_0_3.test(name)) scope.findings.asyncReasons.add(`import ${quote(name)}`);
}

function readExport(reader: Reader, scope: Scope): void {
  const name = readExternName(reader, scope, "component-export");
  const { sort, index, entity } = readSortIndex(reader, scope, name);
  if (entity === undefined) reader.fail("An export of a core definition");
  const ascribed = reader.byte();
  if (ascribed > 1) reader.fail("Neither absent nor present", reader.position - 1);
  const exported = ascribed === 1 ? ascribe(reader, scope, name, entity) : rename(name, entity);
  scope.add(exported);
  scope.note({ kind: "export", name, sort, index });
  putExport(reader, scope.exports, name, exported);
  if (WASI_0_3.test(name)) scope.findings.asyncReasons.add(`export ${quote(name)}`);
}

function ascribe(reader: Reader, scope: Scope, name: string, entity: Entity): Entity {
  const ascribed = readExternDesc(reader, scope, name);
  if (ascribed.sort !== entity.sort) reader.fail("An export whose type is of another sort");
  // Exported as an abstract resource, a type is that resource still: types made before name it.
  if (ascribed.sort === "type") rename(name, entity);
  return ascribed;
}

function rename(name: string, entity: Entity): Entity {
  return entity.sort === "type" ? { sort: "type", type: named(name, entity.type) } : entity;
}

function describe(scope: Scope): ComponentInfo {
  const imports = scope.imports.map(describeExtern);
  const exports = Array.from(scope.exports, ([name, entity]) => describeExtern({ name, entity }));
  const namesOf = (...sorts: readonly ExternInfo["sort"][]): string[] =>
    imports.filter((each) => sorts.includes(each.sort)).map((each) => each.name);
  return {
    imports,
    exports,
    instances: scope.instances,
    ...scope.findings.summary(),
    componentImports: namesOf("module", "component"),
    valueImports: namesOf("value"),
  };
}

function describeExtern({ name, entity }: NamedEntity): ExternInfo {
  switch (entity.sort) {
    case "func":
      return { sort: "func", name, type: entity.type };
    case "instance":
      return { sort: "instance", name, ...entity.instance.info };
    case "type":
      return { sort: "type", name, type: entity.type.kind === "value" ? entity.type.type : null };
    default:
      return { sort: entity.sort, name };
  }
}
