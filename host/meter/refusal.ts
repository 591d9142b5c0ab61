import { HostError, type HostErrorCode, quote } from "../errors/errors.ts";

/** `details` of every error the meter throws; offsets count from the first byte of the module. */
export interface MeterErrorDetails {
  readonly offset?: number;
  /** What is not supported, in words that stay the same. */
  readonly feature?: string;
  /** The instruction's name in the text format, or its bytes when it has none that is known here. */
  readonly instruction?: string;
  /** True when the meter knows the feature and this engine does not. */
  readonly missingInEngine?: boolean;
  readonly name?: string;
  readonly cap?: string;
}

export function malformed(what: string, details: MeterErrorDetails = {}, cause?: unknown): HostError {
  return refusal("AIRLOCK_METER_MALFORMED", `Cannot meter core module: ${what}`, details, cause);
}

export function reservedName(what: string, name: string, offset: number): HostError {
  const text = `Cannot meter core module: ${what} ${quote(name)} at offset ${offset} begins with the reserved "$airlock"`;
  return refusal("AIRLOCK_METER_RESERVED_NAME", text, { name, offset });
}

export function tooComplex(what: string, cap: string, offset?: number): HostError {
  const at = offset === undefined ? "" : ` at offset ${offset}`;
  const details = offset === undefined ? { cap } : { cap, offset };
  return refusal("AIRLOCK_METER_TOO_COMPLEX", `Cannot meter core module: ${what}${at}`, details);
}

/** Something that decodes and is not metered: a type, a section, a flag. */
export function unsupported(what: string, feature: string, offset: number): HostError {
  const text = `Cannot meter core module: ${what} at offset ${offset}: ${feature} is not supported`;
  return refusal("AIRLOCK_METER_UNSUPPORTED", text, { feature, offset });
}

/** An access that names a memory, at the offset of its immediate. */
export function secondMemory(offset: number): HostError {
  return unsupported("memory index of an access", "more than one memory", offset);
}

/** A feature that is metered and that this engine does not accept. */
export function missingInEngine(feature: string, offset: number): HostError {
  const text = `Cannot meter core module: ${feature} at offset ${offset}: this version of Node does not accept them`;
  return refusal("AIRLOCK_METER_UNSUPPORTED", text, { feature, offset, missingInEngine: true });
}

/** An opcode that is not metered; `second` is the opcode behind a prefix. */
export function unsupportedInstruction(offset: number, opcode: number, second?: number): HostError {
  const [feature, name] = describe(opcode, second);
  const bytes = second === undefined ? hex(opcode) : `${hex(opcode)} ${hex(second)}`;
  const instruction = name ?? bytes;
  const shown = name === undefined ? bytes : `${name} (${bytes})`;
  const text = `Cannot meter core module: instruction ${shown} at offset ${offset}: ${feature} is not supported`;
  return refusal("AIRLOCK_METER_UNSUPPORTED", text, { feature, offset, instruction });
}

/** Throws unless `byte` begins a value type of the features that are metered. */
export function checkValueType(byte: number, offset: number): void {
  if ((byte >= 0x7b && byte <= 0x7f) || byte === 0x70 || byte === 0x6f) return;
  const feature = VALUE_TYPE_FEATURES[byte] ?? "an unknown value type";
  throw unsupported(`value type ${hex(byte)}`, feature, offset);
}

function refusal(code: HostErrorCode, text: string, details: MeterErrorDetails, cause?: unknown): HostError {
  return new HostError(code, text, { details, cause });
}

function describe(opcode: number, second: number | undefined): readonly [feature: string, name?: string] {
  if (opcode === 0xfd) return second! >= 0x100 && second! < 0x120 ? ["relaxed SIMD"] : ["an unknown instruction"];
  if (opcode === 0xfc) return second === 18 ? ["memory control"] : ["an unknown instruction"];
  return INSTRUCTIONS[opcode] ?? ["an unknown instruction"];
}

function hex(value: number): string {
  return `0x${value.toString(16).padStart(2, "0")}`;
}

const EXCEPTIONS = "exception handling";
const FUNCTION_REFERENCES = "typed function references";
const GC = "garbage collection";

const INSTRUCTIONS: Readonly<Record<number, readonly [feature: string, name?: string]>> = {
  6: [EXCEPTIONS, "try"],
  7: [EXCEPTIONS, "catch"],
  8: [EXCEPTIONS, "throw"],
  9: [EXCEPTIONS, "rethrow"],
  10: [EXCEPTIONS, "throw_ref"],
  20: [FUNCTION_REFERENCES, "call_ref"],
  21: [FUNCTION_REFERENCES, "return_call_ref"],
  24: [EXCEPTIONS, "delegate"],
  25: [EXCEPTIONS, "catch_all"],
  31: [EXCEPTIONS, "try_table"],
  211: [GC, "ref.eq"],
  212: [FUNCTION_REFERENCES, "ref.as_non_null"],
  213: [FUNCTION_REFERENCES, "br_on_null"],
  214: [FUNCTION_REFERENCES, "br_on_non_null"],
  224: ["stack switching"],
  225: ["stack switching"],
  226: ["stack switching"],
  251: [GC],
  254: ["threads and atomics"],
};

const VALUE_TYPE_FEATURES: Readonly<Record<number, string>> = {
  99: FUNCTION_REFERENCES,
  100: FUNCTION_REFERENCES,
  105: EXCEPTIONS,
  116: EXCEPTIONS,
  ...Object.fromEntries([0x65, 0x66, 0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x71, 0x72, 0x73].map((byte) => [byte, GC])),
};
