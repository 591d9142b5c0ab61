import type { Reader } from "../binary/binary.ts";
import type { CoreKind } from "./component-info.ts";
import { readCoreSort } from "./extern.ts";
import { unsupported } from "./findings.ts";
import type { Scope } from "./scope.ts";

const CORE_KINDS: readonly CoreKind[] = ["func", "table", "memory", "global", "tag"];
const FUNC = 0x60;
const MODULE = 0x50;

/** Reads a core type of a component: a function or a module type. The types of the GC proposal are not supported. */
export function readCoreType(reader: Reader, scope: Scope): void {
  const opcode = reader.byte();
  if (opcode === FUNC) readCoreFuncType(reader);
  else if (opcode === MODULE) readModuleType(reader, scope);
  else unsupported(`Core type 0x${opcode.toString(16)}`, reader.position - 1);
}

/** Reads the kind that leads an import or an export of a core module. */
export function readCoreKind(reader: Reader): CoreKind {
  const byte = reader.byte();
  return CORE_KINDS[byte] ?? unsupported(`Core import or export of kind 0x${byte.toString(16)}`, reader.position - 1);
}

/** Reads the type of a core import, after its kind. */
export function readCoreExternType(reader: Reader, kind: CoreKind): void {
  switch (kind) {
    case "func":
      reader.u32();
      return;
    case "table":
      readCoreValueType(reader);
      readLimits(reader);
      return;
    case "memory":
      readLimits(reader);
      return;
    case "global":
      readCoreValueType(reader);
      reader.byte();
      return;
    case "tag":
      reader.byte();
      reader.u32();
  }
}

export function readCoreValueType(reader: Reader): void {
  const byte = reader.byte();
  // 0x63 and 0x64 are references with a heap type of their own; all others are one byte.
  if (byte === 0x63 || byte === 0x64) reader.s33();
  else if (byte < 0x69 || byte > 0x7f) unsupported(`Core value type 0x${byte.toString(16)}`, reader.position - 1);
}

function readLimits(reader: Reader): void {
  const flags = reader.byte();
  // 1 is a maximum, 2 is shared; 64-bit memories and custom page sizes are not supported.
  if (flags > 3) unsupported(`Limits of the form 0x${flags.toString(16)}`, reader.position - 1);
  reader.u32();
  if (flags & 1) reader.u32();
}

function readCoreFuncType(reader: Reader): void {
  for (let list = 0; list < 2; list++) {
    for (let count = reader.count(); count > 0; count--) readCoreValueType(reader);
  }
}

function readModuleType(reader: Reader, scope: Scope): void {
  const { findings, path } = scope;
  for (let count = reader.count(2); count > 0; count--) {
    findings.spend(reader);
    const form = reader.byte();
    switch (form) {
      case 0x00:
        findings.name(reader, "core-link", path);
        findings.name(reader, "core-link", path);
        readCoreExternType(reader, readCoreKind(reader));
        break;
      case 0x01:
        if (reader.byte() !== FUNC) unsupported("A core type in a module type", reader.position - 1);
        readCoreFuncType(reader);
        break;
      case 0x02:
        readCoreSort(reader);
        if (reader.byte() !== 0x01) reader.fail("An alias in a module type that is not outer", reader.position - 1);
        reader.u32();
        reader.u32();
        break;
      case 0x03:
        findings.name(reader, "core-link", path);
        readCoreExternType(reader, readCoreKind(reader));
        break;
      default:
        reader.fail("Declaration of an unknown form", reader.position - 1);
    }
  }
}
