import type { Reader } from "../binary/binary.ts";
import type { ExternSort, NameWhere } from "./component-info.ts";
import { unsupported } from "./findings.ts";
import { type Entity, Instance, type Scope, type TypeEntity } from "./scope.ts";
import type { CoreSort, NamedIndex, Sort } from "./structure.ts";
import { readValueType } from "./value-type.ts";

const SORTS: readonly (ExternSort | undefined)[] = [undefined, "func", "value", "type", "component", "instance"];
const CORE_SORTS: ReadonlyMap<number, CoreSort | "module"> = new Map([
  [0x00, "core func"],
  [0x01, "core table"],
  [0x02, "core memory"],
  [0x03, "core global"],
  [0x10, "core type"],
  [0x11, "module"],
  [0x12, "core instance"],
]);
const CORE_MODULE = 0x11;

/** Reads the sort that leads an alias, an argument or an export. */
export function readSort(reader: Reader): Sort {
  const byte = reader.byte();
  if (byte === 0) return readCoreSort(reader);
  return SORTS[byte] ?? unsupported(`Sort 0x${byte.toString(16)}`, reader.position - 1);
}

export function readCoreSort(reader: Reader): CoreSort | "module" {
  const byte = reader.byte();
  return CORE_SORTS.get(byte) ?? unsupported(`Core sort 0x${byte.toString(16)}`, reader.position - 1);
}

/** True for a sort whose definitions have no entity: a core one that is no module. */
export function isCore(sort: Sort): sort is CoreSort {
  return sort.startsWith("core ");
}

/** Reads a sort and an index under a name; the entity is `undefined` for a core definition, which is not followed. */
export function readSortIndex(reader: Reader, scope: Scope, name: string): NamedIndex & { entity: Entity | undefined } {
  const sort = readSort(reader);
  const index = reader.u32();
  return { name, sort, index, entity: isCore(sort) ? undefined : scope.at(reader, sort, index) };
}

/** Reads the name of an import or an export. */
export function readExternName(reader: Reader, scope: Scope, where: NameWhere): string {
  const form = reader.byte();
  // 0 and 1 mean the same nowadays; 2 adds options (version suffix, implements, external id) that change what is named.
  if (form > 1) unsupported("A name with options", reader.position - 1);
  return scope.findings.name(reader, where, scope.path);
}

/** Reads the description of an import or an export: its sort and its type. `name` names a fresh resource. */
export function readExternDesc(reader: Reader, scope: Scope, name: string): Entity {
  const start = reader.position;
  const byte = reader.byte();
  switch (byte) {
    case 0x00:
      if (reader.byte() !== CORE_MODULE) reader.fail("A core import that is not a module", start);
      reader.u32();
      return { sort: "module" };
    case 0x01:
      return { sort: "func", type: scope.funcType(reader, reader.u32()) };
    case 0x02:
      readValueType(reader, scope);
      return { sort: "value" };
    case 0x03: {
      const bound = reader.byte();
      if (bound === 0) return { sort: "type", type: named(name, scope.type(reader, reader.u32())) };
      if (bound !== 1) unsupported(`Type bound 0x${bound.toString(16)}`, reader.position - 1);
      return { sort: "type", type: { kind: "resource", resource: { name } } };
    }
    case 0x04: {
      const entity = scope.type(reader, reader.u32());
      if (entity.kind !== "component") reader.fail("Not a component type", start);
      return { sort: "component", exports: entity.exports };
    }
    case 0x05: {
      const entity = scope.type(reader, reader.u32());
      if (entity.kind !== "instance") reader.fail("Not an instance type", start);
      return { sort: "instance", instance: entity.instance };
    }
    default:
      return unsupported(`Import or export of sort 0x${byte.toString(16)}`, start);
  }
}

/**
 * The type under a name: a resource gets it, as exporting one makes a new type; a record, variant, enum or flags keeps
 * the first it is given. Nothing else has a name. wit-component's wrappers import types as `import-type-…` before they
 * export them under their own name, so such a name counts as none.
 */
export function named(name: string, entity: TypeEntity): TypeEntity {
  if (entity.kind === "resource") {
    // A resource that was defined here has no name until now, and types made before refer to it.
    if (entity.resource.name === "") (entity.resource as { name: string }).name = name;
    return { kind: "resource", resource: { name } };
  }
  if (entity.kind === "value" && "name" in entity.type) {
    const type = entity.type as { name: string | null };
    if (type.name?.startsWith("import-type-") ?? true) type.name = name;
  }
  return entity;
}

/** An instance made of the exports that are listed. */
export function instanceOf(exports: ReadonlyMap<string, Entity>): Entity {
  return { sort: "instance", instance: new Instance(exports) };
}

/** Adds an export, whose name must be new. */
export function putExport(reader: Reader, exports: Map<string, Entity>, name: string, entity: Entity): void {
  if (exports.has(name)) reader.fail("Two exports of one name");
  exports.set(name, entity);
}
