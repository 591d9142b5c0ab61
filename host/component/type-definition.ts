import type { Reader } from "../binary/binary.ts";
import { readAlias } from "./alias.ts";
import { readCoreType } from "./core-type.ts";
import { putExport, readExternDesc, readExternName } from "./extern.ts";
import { MAX_NESTING, unsupported } from "./findings.ts";
import { Instance, Scope, type TypeEntity } from "./scope.ts";
import { readDefinedType, readFuncType } from "./value-type.ts";

/** Reads one type definition and gives it an index. */
export function readTypeDefinition(reader: Reader, scope: Scope): void {
  scope.findings.spend(reader);
  scope.add({ sort: "type", type: readType(reader, scope) });
}

function readType(reader: Reader, scope: Scope): TypeEntity {
  const opcode = reader.byte();
  switch (opcode) {
    case 0x3f:
      return readResourceType(reader, scope);
    case 0x40:
    case 0x43:
      return { kind: "func", type: readFuncType(reader, scope, opcode) };
    case 0x41:
      return { kind: "component", exports: readDeclarations(reader, scope, true) };
    case 0x42:
      return { kind: "instance", instance: new Instance(readDeclarations(reader, scope, false)) };
    default: {
      const type = readDefinedType(reader, scope, opcode);
      if (type === undefined) unsupported(`Type 0x${opcode.toString(16)}`, reader.position - 1);
      return { kind: "value", type };
    }
  }
}

function readResourceType(reader: Reader, scope: Scope): TypeEntity {
  const representation = reader.byte();
  if (representation !== 0x7f) unsupported("A resource that is not an i32", reader.position - 1);
  const form = reader.byte();
  if (form > 1) unsupported("Destructor of an unknown form", reader.position - 1);
  const resource = { name: "" };
  scope.note({ kind: "resource", resource, destructor: form === 1 ? reader.u32() : null });
  return { kind: "resource", resource };
}

function readDeclarations(reader: Reader, parent: Scope, isComponent: boolean): Scope["exports"] {
  const scope = new Scope(parent, parent.findings, parent.path, null);
  if (scope.depth > MAX_NESTING) unsupported(`Nesting deeper than ${MAX_NESTING}`, reader.position);
  for (let count = reader.count(2); count > 0; count--) {
    scope.findings.spend(reader);
    const form = reader.byte();
    if (form === 0x00) readCoreType(reader, scope);
    else if (form === 0x01) readTypeDefinition(reader, scope);
    else if (form === 0x02) readAlias(reader, scope);
    else if (form === 0x03 && isComponent) declare(reader, scope);
    else if (form === 0x04) putExport(reader, scope.exports, ...declare(reader, scope));
    else reader.fail("Declaration of an unknown form", reader.position - 1);
  }
  return scope.exports;
}

/** Reads a name with its description and gives it an index. */
function declare(reader: Reader, scope: Scope): [name: string, entity: ReturnType<typeof readExternDesc>] {
  const name = readExternName(reader, scope, "component-link");
  const entity = readExternDesc(reader, scope, name);
  scope.add(entity);
  return [name, entity];
}
