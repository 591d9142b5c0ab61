import type { Reader } from "../binary/binary.ts";
import type { CoreModule } from "./module.ts";
import { OP } from "./opcodes.ts";
import { unsupportedInstruction } from "./refusal.ts";
import { noteFeature, readHeapType, readValueType } from "./value-types.ts";

export function decodeElements(module: CoreModule, reader: Reader): void {
  for (let left = reader.count(2); left > 0; left--) {
    const at = reader.position;
    // https://webassembly.github.io/spec/core/binary/modules.html#element-section
    const flags = reader.u32();
    if (flags > 7) reader.fail("Unknown kind of element segment", at);
    const isActive = (flags & 1) === 0;
    const hasExpressions = (flags & 4) !== 0;
    if (isActive && (flags & 2) !== 0) reader.u32();
    if (isActive) decodeConstant(module, reader);
    if ((flags & 3) !== 0) decodeElementKind(module, reader, hasExpressions);
    for (let items = reader.count(); items > 0; items--) {
      if (hasExpressions) decodeConstant(module, reader);
      else noteFunction(module, reader.u32());
    }
  }
}

export function decodeData(module: CoreModule, reader: Reader): void {
  for (let left = reader.count(2); left > 0; left--) {
    const at = reader.position;
    const flags = reader.u32();
    if (flags > 2) reader.fail("Unknown kind of data segment", at);
    if (flags === 2) reader.u32();
    if (flags !== 1) decodeConstant(module, reader);
    reader.skip(reader.count());
  }
}

/** A constant expression up to its `end`. Notes indices of globals that the module defines, and extended constants. */
export function decodeConstant(module: CoreModule, reader: Reader): void {
  for (;;) {
    const at = reader.position;
    const opcode = reader.byte();
    if (opcode === OP.end) return;
    if (opcode === OP.global_get) {
      const indexAt = reader.position;
      if (reader.u32() >= module.importedGlobals) module.globalReferences.push(indexAt);
    } else if (opcode === OP.ref_null) {
      readHeapType(module, reader);
    } else if (opcode === OP.ref_func) noteFunction(module, reader.u32());
    else if (opcode === OP.i32_const || opcode === OP.i64_const) skipLeb(reader);
    else if (opcode === OP.f32_const) reader.skip(4);
    else if (opcode === OP.f64_const) reader.skip(8);
    else if (opcode === OP.simd) decodeVectorConstant(reader, at);
    else if (isExtendedConstant(opcode)) noteFeature(module, "extended constant expressions", at);
    else throw unsupportedInstruction(at, opcode, isPrefix(opcode) ? reader.u32() : undefined);
  }
}

/** The module has a reference to this function: bodies may only take one of functions that segments or exports name. */
function noteFunction(module: CoreModule, index: number): void {
  if (index < module.importedFunctions) module.tablesReachHost = true;
}

function decodeElementKind(module: CoreModule, reader: Reader, isType: boolean): void {
  const at = reader.position;
  if (isType) readValueType(module, reader);
  else if (reader.byte() !== 0) reader.fail("Unknown kind of element", at);
}

function decodeVectorConstant(reader: Reader, at: number): void {
  const second = reader.u32();
  if (second !== 12) throw unsupportedInstruction(at, OP.simd, second);
  reader.skip(16);
}

/** i32 and i64 add, sub, mul. */
function isExtendedConstant(opcode: number): boolean {
  return (opcode >= OP.i32_add && opcode <= OP.i32_mul) || (opcode >= OP.i64_add && opcode <= OP.i64_mul);
}

function isPrefix(opcode: number): boolean {
  return opcode >= 0xfb && opcode <= 0xfe;
}

function skipLeb(reader: Reader): void {
  while ((reader.byte() & 0x80) !== 0);
}
