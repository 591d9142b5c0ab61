import type { Reader } from "../binary/binary.ts";
import { readSort } from "./extern.ts";
import type { Scope } from "./scope.ts";

/** Reads an alias and gives what it names an index. Never copies: an alias of an alias costs as much as the first. */
export function readAlias(reader: Reader, scope: Scope): void {
  const start = reader.position;
  const sort = readSort(reader);
  const target = reader.byte();
  switch (target) {
    case 0x00: {
      const instance = scope.instance(reader, reader.u32());
      const name = scope.findings.name(reader, "component-link", scope.path);
      if (sort === "core") reader.fail("A core definition out of a component instance", start);
      const entity = instance.exports.get(name);
      if (entity?.sort !== sort) reader.fail(`The instance has no such ${sort}`, start);
      scope.add(entity);
      return;
    }
    case 0x01:
      reader.u32();
      scope.findings.name(reader, "core-link", scope.path);
      if (sort !== "core") reader.fail("A core alias of a component's sort", start);
      return;
    case 0x02: {
      let outer: Scope | null = scope;
      for (let count = reader.u32(); count > 0 && outer !== null; count--) outer = outer.parent;
      const index = reader.u32();
      if (outer === null) reader.fail("An outer alias past the outermost component", start);
      if (sort !== "core") scope.add(outer.at(reader, sort, index));
      return;
    }
    default:
      reader.fail("Alias of an unknown form", start);
  }
}
