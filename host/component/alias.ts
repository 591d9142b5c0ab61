import type { Reader } from "../binary/binary.ts";
import { isCore, readSort } from "./extern.ts";
import type { Scope } from "./scope.ts";

/** Reads an alias and gives what it names an index. Never copies: an alias of an alias costs as much as the first. */
export function readAlias(reader: Reader, scope: Scope): void {
  const start = reader.position;
  const sort = readSort(reader);
  const target = reader.byte();
  switch (target) {
    case 0x00: {
      const index = reader.u32();
      const instance = scope.instance(reader, index);
      const name = scope.findings.name(reader, "component-link", scope.path);
      if (isCore(sort)) reader.fail("A core definition out of a component instance", start);
      const entity = instance.exports.get(name);
      if (entity?.sort !== sort) reader.fail(`The instance has no such ${sort}`, start);
      scope.add(entity);
      scope.note({ kind: "alias", sort, instance: index, name });
      return;
    }
    case 0x01: {
      const instance = reader.u32();
      const name = scope.findings.name(reader, "core-link", scope.path);
      if (!isCore(sort)) reader.fail("A core alias of a component's sort", start);
      scope.note({ kind: "core-alias", sort, instance, name });
      return;
    }
    case 0x02: {
      let outer: Scope | null = scope;
      const count = reader.u32();
      for (let up = count; up > 0 && outer !== null; up--) outer = outer.parent;
      const index = reader.u32();
      if (outer === null) reader.fail("An outer alias past the outermost component", start);
      if (!isCore(sort)) scope.add(outer.at(reader, sort, index));
      scope.note({ kind: "outer", sort, count, index });
      return;
    }
    default:
      reader.fail("Alias of an unknown form", start);
  }
}
