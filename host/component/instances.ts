import type { Reader } from "../binary/binary.ts";
import { instanceOf, named, putExport, readCoreSort, readExternName, readSortIndex } from "./extern.ts";
import { unsupported } from "./findings.ts";
import type { Entity, Scope } from "./scope.ts";

/** Reads one component instance and gives it an index. An instantiated component's exports are taken as they are. */
export function readInstance(reader: Reader, scope: Scope): void {
  const start = reader.position;
  const form = reader.byte();
  if (form === 0x00) {
    const component = scope.at(reader, "component", reader.u32());
    for (let count = reader.count(3); count > 0; count--) {
      scope.findings.name(reader, "component-link", scope.path);
      readSortIndex(reader, scope);
    }
    if (component.sort !== "component") return;
    const inside = scope.findings.instancesOf.get(component.exports);
    // An argument, or an export under a type: how many instances it makes in its turn cannot be seen here.
    if (inside === undefined) unsupported("An instance of a component that is known by its type alone", start);
    scope.instances += 1 + inside;
    scope.add(instanceOf(component.exports));
  } else if (form === 0x01) {
    scope.add(instanceOf(readInlineExports(reader, scope)));
  } else {
    reader.fail("Instance of an unknown form", start);
  }
}

function readInlineExports(reader: Reader, scope: Scope): Map<string, Entity> {
  const exports = new Map<string, Entity>();
  for (let count = reader.count(4); count > 0; count--) {
    const name = readExternName(reader, scope, "component-link");
    const entity = readSortIndex(reader, scope);
    if (entity === undefined) reader.fail("A core definition in a component instance");
    const exported: Entity = entity.sort === "type" ? { sort: "type", type: named(name, entity.type) } : entity;
    putExport(reader, exports, name, exported);
  }
  return exports;
}

/** Reads one core instance: only its names matter here. */
export function readCoreInstance(reader: Reader, scope: Scope): void {
  const start = reader.position;
  const form = reader.byte();
  if (form === 0x00) {
    reader.u32();
    scope.instances += 1;
  } else if (form !== 0x01) reader.fail("Core instance of an unknown form", start);
  for (let count = reader.count(3); count > 0; count--) {
    scope.findings.name(reader, "core-link", scope.path);
    const sort = readCoreSort(reader);
    if (form === 0x00 && sort !== 0x12) reader.fail("A core argument that is not an instance", reader.position - 1);
    reader.u32();
  }
}
