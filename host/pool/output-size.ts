/** What one element of a list costs the host when it becomes a JSON value. */
const BYTES_PER_ELEMENT = 16;

/**
 * Bytes that a value of plain WIT types takes as JSON, at most about. A list of numbers that the guest holds in a byte each
 * is many times larger in the host, so it is this size that `outputBytes` bounds.
 */
export function outputSize(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (value instanceof Uint8Array) return Math.ceil(value.length / 3) * 4;
  if (ArrayBuffer.isView(value)) return (value as Int8Array).length * BYTES_PER_ELEMENT;
  if (typeof value !== "object" || value === null) return BYTES_PER_ELEMENT;
  let sum = 0;
  for (const [key, child] of Object.entries(value)) sum += key.length + outputSize(child);
  return sum;
}
