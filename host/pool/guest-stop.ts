/** Thrown to leave a guest after the host has recorded how its run ends. A guest that swallows it changes nothing. */
export class GuestStop extends Error {
  constructor() {
    super("The run has ended");
    this.name = "GuestStop";
  }
}

/** The guest handed the glue a pointer, a length or bytes that the canonical ABI does not allow. */
export class AbiViolation extends Error {
  constructor(what: string) {
    super(what);
    this.name = "AbiViolation";
  }
}

/** What ended a guest, in one line. */
export function textOfThrown(thrown: unknown): string {
  if (thrown instanceof AbiViolation) return thrown.message;
  // The glue has traps of its own, which say so already.
  if (thrown instanceof WebAssembly.RuntimeError) return `wasm trap: ${thrown.message.replace(/^wasm trap: /, "")}`;
  return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : "the guest threw a value";
}
