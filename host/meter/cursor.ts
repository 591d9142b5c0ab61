import { MEMORY_IMMEDIATE, NAMES_MEMORY, SIMD_LANE, SIMD_MEMORY_LANE, SIMD_SIXTEEN_BYTES } from "./opcodes.ts";
import { checkHeapType, checkValueType } from "./refusal.ts";
import { isTypedReference } from "./value-types.ts";

/** A place in a body that `WebAssembly.validate` accepted, so nothing is checked but value types. */
export class Cursor {
  readonly bytes: Uint8Array;
  position = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  skipLeb(): void {
    while (this.byte() >= 0x80);
  }

  byte(): number {
    return this.bytes[this.position++]!;
  }

  u32(): number {
    const { bytes } = this;
    let byte = bytes[this.position++]!;
    if (byte < 0x80) return byte;
    let result = byte & 0x7f;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      byte = bytes[this.position++]!;
      result |= (byte & 0x7f) << shift;
    }
    return result >>> 0;
  }

  /** A type index, or undefined for what has no parameters: a value type, or 0x40 for none. */
  blockType(): number | undefined {
    const first = this.bytes[this.position]!;
    if (first < 0x40 || first >= 0x80) return this.u32();
    if (first === 0x40) this.position++;
    else this.valueType();
    return undefined;
  }

  valueType(): void {
    const first = this.bytes[this.position]!;
    if (!isTypedReference(first)) checkValueType(first, this.position);
    this.position++;
    if (isTypedReference(first)) this.heapType();
  }

  heapType(): void {
    const first = this.bytes[this.position]!;
    if (first >= 0x40 && first < 0x80) checkHeapType(first, this.position);
    this.u32();
  }

  /** What follows a SIMD opcode, by its entry in `SIMD_IMMEDIATES`. */
  skipVectorImmediate(immediate: number): void {
    if (immediate === MEMORY_IMMEDIATE || immediate === SIMD_MEMORY_LANE) {
      const alignment = this.u32();
      if ((alignment & NAMES_MEMORY) !== 0) this.u32();
      this.skipLeb();
    }
    if (immediate === SIMD_LANE || immediate === SIMD_MEMORY_LANE) this.position++;
    if (immediate === SIMD_SIXTEEN_BYTES) this.position += 16;
  }
}
