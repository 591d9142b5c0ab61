import type { Reader } from "../binary/binary.ts";
import type { CoreModule } from "./module.ts";
import type { ComplexityCaps } from "./options.ts";
import { tooComplex } from "./refusal.ts";
import { readValueType } from "./value-types.ts";

/** Where each function that the module defines stands, by its place in the code section. */
export interface Bodies {
  readonly count: number;
  /** Size of the section. */
  readonly bytes: number;
  /** The number of groups of locals stands here. */
  readonly starts: Uint32Array;
  /** The groups themselves. */
  readonly groups: Uint32Array;
  readonly groupCounts: Uint32Array;
  /** The first instruction. */
  readonly code: Uint32Array;
  /** Behind the last `end`. */
  readonly ends: Uint32Array;
  /** Locals, parameters included. */
  readonly locals: Uint32Array;
}

export const NO_BODIES: Bodies = emptyBodies(0, 0);

/** Reads the frame of each body, not its instructions. The sections before have been read. */
export function decodeBodies(module: CoreModule, reader: Reader, caps: ComplexityCaps): Bodies {
  const at = reader.position;
  const count = reader.count(3);
  if (count > caps.functions) throw tooComplex(`${count} functions, at most ${caps.functions}`, "functions", at);
  const bodies = emptyBodies(count, reader.end - reader.position);
  for (let index = 0; index < count; index++) decodeBody(module, reader, caps, bodies, index);
  return bodies;
}

function decodeBody(module: CoreModule, reader: Reader, caps: ComplexityCaps, bodies: Bodies, index: number): void {
  const functionIndex = module.importedFunctions + index;
  const type = module.types[module.functionTypes[functionIndex] ?? -1];
  if (type === undefined) reader.fail(`Function ${functionIndex} has no type`);
  const size = reader.count();
  const start = reader.position;
  if (size > caps.bodyBytes) {
    throw tooComplex(`body of ${size} bytes, at most ${caps.bodyBytes},`, "bodyBytes", start);
  }
  const groupCount = reader.count(2);
  bodies.starts[index] = start;
  bodies.groups[index] = reader.position;
  bodies.groupCounts[index] = groupCount;
  let locals = type.parameters;
  for (let left = groupCount; left > 0; left--) {
    locals += reader.u32();
    readValueType(module, reader);
  }
  if (locals > caps.locals) throw tooComplex(`function of ${locals} locals, at most ${caps.locals},`, "locals", start);
  if (reader.position >= start + size) reader.fail("Function body ends within its locals");
  bodies.code[index] = reader.position;
  bodies.ends[index] = start + size;
  bodies.locals[index] = locals;
  reader.position = start + size;
}

function emptyBodies(count: number, bytes: number): Bodies {
  return {
    count,
    bytes,
    starts: new Uint32Array(count),
    groups: new Uint32Array(count),
    groupCounts: new Uint32Array(count),
    code: new Uint32Array(count),
    ends: new Uint32Array(count),
    locals: new Uint32Array(count),
  };
}
