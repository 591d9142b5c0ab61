import type { Reader } from "../binary/binary.ts";
import { instanceOf, named, putExport, readCoreSort, readExternName, readSortIndex } from "./extern.ts";
import { unsupported } from "./findings.ts";
import type { Entity, Scope } from "./scope.ts";
import type { NamedIndex } from "./structure.ts";

/** Reads one component instance and gives it an index. An instantiated component's exports are taken as they are. */
export function readInstance(reader: Reader, scope: Scope): void {
  const start = reader.position;
  const form = reader.byte();
  if (form === 0x00) {
    const index = reader.u32();
    const component = scope.at(reader, "component", index);
    const args: NamedIndex[] = [];
    for (let count = reader.count(3); count > 0; count--) {
      const name = scope.findings.name(reader, "component-link", scope.path);
      args.push(readSortIndex(reader, scope, name));
    }
    if (component.sort !== "component") return;
    const inside = scope.findings.instancesOf.get(component.exports);
    // An argument, or an export under a type: how many instances it makes in its turn cannot be seen here.
    if (inside === undefined) unsupported("An instance of a component that is known by its type alone", start);
    scope.instances += 1 + inside;
    scope.add(instanceOf(component.exports));
    scope.note({ kind: "instance", component: index, args });
  } else if (form === 0x01) {
    const items: NamedIndex[] = [];
    scope.add(instanceOf(readInlineExports(reader, scope, items)));
    scope.note({ kind: "exports", items });
  } else {
    reader.fail("Instance of an unknown form", start);
  }
}

function readInlineExports(reader: Reader, scope: Scope, items: NamedIndex[]): Map<string, Entity> {
  const exports = new Map<string, Entity>();
  for (let count = reader.count(4); count > 0; count--) {
    const name = readExternName(reader, scope, "component-link");
    const item = readSortIndex(reader, scope, name);
    const { entity } = item;
    items.push(item);
    if (entity === undefined) reader.fail("A core definition in a component instance");
    const exported: Entity = entity.sort === "type" ? { sort: "type", type: named(name, entity.type) } : entity;
    putExport(reader, exports, name, exported);
  }
  return exports;
}

/** Reads one core instance. What its names stand for is only noted. */
export function readCoreInstance(reader: Reader, scope: Scope): void {
  const start = reader.position;
  const form = reader.byte();
  if (form > 0x01) reader.fail("Core instance of an unknown form", start);
  const module = form === 0x00 ? reader.u32() : null;
  if (module !== null) scope.instances += 1;
  const items: NamedIndex[] = [];
  for (let count = reader.count(3); count > 0; count--) {
    const name = scope.findings.name(reader, "core-link", scope.path);
    const sort = readCoreSort(reader);
    if (module !== null && sort !== "core instance")
      reader.fail("A core argument that is not an instance", reader.position - 1);
    items.push({ name, sort, index: reader.u32() });
  }
  scope.note(module === null ? { kind: "core-exports", items } : { kind: "core-instance", module, args: items });
}
