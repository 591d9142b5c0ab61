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

/** Throws unless `byte` is a value type of the features that are metered. */
export function checkValueType(byte: number, offset: number): void {
  if ((byte >= 0x7b && byte <= 0x7f) || HEAP_TYPES.includes(byte)) return;
  const feature = VALUE_TYPE_FEATURES[byte] ?? "an unknown value type";
  throw unsupported(`value type ${hex(byte)}`, feature, offset);
}

/** The same for a heap type that is not an index. */
export function checkHeapType(byte: number, offset: number): void {
  if (HEAP_TYPES.includes(byte)) return;
  throw unsupported(`heap type ${hex(byte)}`, VALUE_TYPE_FEATURES[byte] ?? "an unknown heap type", offset);
}

function refusal(code: HostErrorCode, text: string, details: MeterErrorDetails, cause?: unknown): HostError {
  return new HostError(code, text, { details, cause });
}

function describe(opcode: number, second: number | undefined): readonly [feature: string, name?: string] {
  if (opcode === 0xfd) return second! >= 0x100 && second! < 0x120 ? ["relaxed SIMD"] : ["an unknown instruction"];
  if (opcode === 0xfc) {
    if (second === 18) return ["memory control"];
    return second! >= 19 && second! <= 22 ? ["wide arithmetic"] : ["an unknown instruction"];
  }
  if (opcode === 0xfb && second! >= 0x80 && second! <= 0xbf) return [STRINGS];
  return INSTRUCTIONS[opcode] ?? ["an unknown instruction"];
}

function hex(value: number): string {
  return `0x${value.toString(16).padStart(2, "0")}`;
}

/** func, extern, exn, and the null of the last. */
const HEAP_TYPES: readonly number[] = [0x70, 0x6f, 0x69, 0x74];

export const FUNCTION_REFERENCES = "typed function references";
const GC = "garbage collection";
const STACK_SWITCHING = "stack switching";
const STRINGS = "string references";

const INSTRUCTIONS: Readonly<Record<number, readonly [feature: string, name?: string]>> = {
  211: [GC, "ref.eq"],
  ...Object.fromEntries([0xe0, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5].map((opcode) => [opcode, [STACK_SWITCHING]])),
  251: [GC],
  254: ["threads and atomics"],
};

const VALUE_TYPE_FEATURES: Readonly<Record<number, string>> = {
  ...Object.fromEntries([0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x71, 0x72, 0x73].map((byte) => [byte, GC])),
  101: "threads and atomics",
  98: "custom descriptors",
  102: STRINGS,
  103: STRINGS,
  97: STRINGS,
  104: STACK_SWITCHING,
  117: STACK_SWITCHING,
};
