import { MalformedWasm, Reader } from "../binary/binary.ts";
import type { HostError } from "../errors/errors.ts";
import { isHostError, messageOf } from "../errors/errors.ts";
import { engine, engineAccepts, isEngineFeature } from "./engine.ts";
import { type CoreModule, decodeModule } from "./module.ts";
import {
  BULK,
  F32_IMMEDIATE,
  F64_IMMEDIATE,
  FIRST_RELAXED_SIMD,
  IMMEDIATES,
  LEB_IMMEDIATE,
  MEMORY_IMMEDIATE,
  NAMES_MEMORY,
  OP,
  SIMD_IMMEDIATES,
  SIMD_LANE,
  SIMD_MEMORY_LANE,
  SIMD_SIXTEEN_BYTES,
  UNKNOWN,
} from "./opcodes.ts";
import type { ComplexityCaps } from "./options.ts";
import { FUNCTION_REFERENCES, malformed, missingInEngine, unsupportedInstruction } from "./refusal.ts";
import { noteFeature, readHeapType, readValueType } from "./value-types.ts";

/**
 * Why bytes that `WebAssembly.validate` refused are refused: a feature by name, bytes that do not decode by offset, or
 * else what the engine says. Trusts nothing and takes its time.
 */
export function explainInvalid(bytes: Uint8Array, caps: ComplexityCaps): HostError {
  try {
    const module = decodeModule(bytes, caps);
    walkBodies(module);
    for (const [feature, offset] of module.features) {
      if (isEngineFeature(feature) && !engineAccepts(feature)) return missingInEngine(feature, offset);
    }
  } catch (error) {
    if (isHostError(error)) return error as HostError;
    if (error instanceof MalformedWasm) return malformedAt(error);
    throw error;
  }
  return askEngine(bytes);
}

export function malformedAt(error: MalformedWasm): HostError {
  return malformed(error.message, { offset: error.offset }, error);
}

function askEngine(bytes: Uint8Array): HostError {
  try {
    new engine.Module(bytes);
  } catch (error) {
    return malformed(messageOf(error), {}, error);
  }
  return malformed("the engine does not accept it");
}

/** Reads every instruction, for the features that some engines lack. */
function walkBodies(module: CoreModule): void {
  const { bodies } = module;
  for (let index = 0; index < bodies.count; index++) {
    const reader = new Reader(module.bytes, bodies.code[index]!, bodies.ends[index]!);
    while (!reader.atEnd) {
      const at = reader.position;
      const opcode = reader.byte();
      const feature = FEATURES.get(opcode);
      if (feature !== undefined) noteFeature(module, feature, at);
      skipImmediate(module, reader, at, opcode);
    }
  }
}

const FEATURES: ReadonlyMap<number, string> = new Map([
  ...[OP.return_call, OP.return_call_indirect].map((opcode) => [opcode, "tail calls"] as const),
  ...[OP.try_table, OP.throw_ref].map((opcode) => [opcode, "exception references"] as const),
  ...[OP.call_ref, OP.return_call_ref, OP.ref_as_non_null, OP.br_on_null, OP.br_on_non_null].map(
    (opcode) => [opcode, FUNCTION_REFERENCES] as const,
  ),
]);

function skipImmediate(module: CoreModule, reader: Reader, at: number, opcode: number): void {
  switch (IMMEDIATES[opcode]) {
    case LEB_IMMEDIATE:
      skipLeb(reader);
      return;
    case MEMORY_IMMEDIATE:
      skipMemoryImmediate(reader);
      return;
    case F32_IMMEDIATE:
      reader.skip(4);
      return;
    case F64_IMMEDIATE:
      reader.skip(8);
      return;
    case UNKNOWN:
      throw unsupportedInstruction(at, opcode, opcode >= 0xfb && opcode <= 0xfe ? reader.u32() : undefined);
    default:
      skipSpecial(module, reader, at, opcode);
  }
}

function skipSpecial(module: CoreModule, reader: Reader, at: number, opcode: number): void {
  switch (opcode) {
    case OP.block:
    case OP.loop:
    case OP.if:
    case OP.try:
      skipBlockType(module, reader);
      break;
    case OP.try_table:
      skipBlockType(module, reader);
      skipClauses(reader);
      break;
    case OP.br:
    case OP.br_if:
    case OP.br_on_null:
    case OP.br_on_non_null:
    case OP.call_ref:
    case OP.return_call_ref:
    case OP.catch:
    case OP.throw:
    case OP.rethrow:
    case OP.delegate:
    case OP.call:
    case OP.return_call:
    case OP.global_get:
    case OP.global_set:
    case OP.memory_grow:
      reader.u32();
      break;
    case OP.call_indirect:
    case OP.return_call_indirect:
      reader.u32();
      reader.u32();
      break;
    case OP.br_table:
      for (let left = reader.count() + 1; left > 0; left--) reader.u32();
      break;
    case OP.select_typed:
      for (let left = reader.count(); left > 0; left--) readValueType(module, reader);
      break;
    case OP.ref_null:
      readHeapType(module, reader);
      break;
    case OP.bulk:
      skipBulk(reader, at);
      break;
    case OP.simd:
      skipVector(reader, at);
      break;
  }
}

function skipBulk(reader: Reader, at: number): void {
  const opcode = reader.u32();
  if (opcode > BULK.table_fill) throw unsupportedInstruction(at, OP.bulk, opcode);
  if (opcode < BULK.memory_init) return;
  reader.u32();
  const { memory_init, memory_copy, table_init, table_copy } = BULK;
  const pairs: readonly number[] = [memory_init, memory_copy, table_init, table_copy];
  if (pairs.includes(opcode)) reader.u32();
}

function skipVector(reader: Reader, at: number): void {
  const opcode = reader.u32();
  const immediate = opcode < FIRST_RELAXED_SIMD ? SIMD_IMMEDIATES[opcode]! : UNKNOWN;
  if (immediate === UNKNOWN) throw unsupportedInstruction(at, OP.simd, opcode);
  if (immediate === MEMORY_IMMEDIATE || immediate === SIMD_MEMORY_LANE) skipMemoryImmediate(reader);
  if (immediate === SIMD_LANE || immediate === SIMD_MEMORY_LANE) reader.skip(1);
  if (immediate === SIMD_SIXTEEN_BYTES) reader.skip(16);
}

function skipMemoryImmediate(reader: Reader): void {
  if ((reader.u32() & NAMES_MEMORY) !== 0) reader.u32();
  skipLeb(reader);
}

function skipClauses(reader: Reader): void {
  for (let left = reader.count(2); left > 0; left--) {
    // Kinds 0 and 1 name a tag.
    if (reader.byte() <= 1) reader.u32();
    reader.u32();
  }
}

function skipBlockType(module: CoreModule, reader: Reader): void {
  const first = reader.bytes[reader.position]!;
  if (first === 0x40) reader.skip(1);
  else if (first > 0x40 && first < 0x80) readValueType(module, reader);
  else skipLeb(reader);
}

function skipLeb(reader: Reader): void {
  while (reader.byte() >= 0x80);
}
