/** Ends a switch over a tagged union: compiles only while every kind has its case. */
export function assertNever(value: never): never {
  throw new Error(`Unreachable: unexpected value ${JSON.stringify(value)}`);
}
