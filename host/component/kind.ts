export type BinaryKind = "component" | "core-module" | "unknown";

/** The preambles: magic, version, layer. A component's version stays 0x0d until the format is final. */
const CORE_MODULE = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
const COMPONENT = [0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00];

/** What the first eight bytes say. A WIT package is a component too; the bytes after the preamble are not looked at. */
export function kindOf(bytes: Uint8Array, start = 0): BinaryKind {
  const startsWith = (preamble: readonly number[]): boolean =>
    preamble.every((byte, index) => bytes[start + index] === byte);
  if (startsWith(COMPONENT)) return "component";
  return startsWith(CORE_MODULE) ? "core-module" : "unknown";
}
