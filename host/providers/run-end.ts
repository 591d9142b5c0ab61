import type { RunResult } from "./outcome.ts";

/** Thrown inside a native provider where its run cannot go on; whoever carries the run out returns the result. */
export class RunEnd extends Error {
  readonly result: RunResult;

  constructor(result: RunResult) {
    super("message" in result ? result.message : result.kind);
    this.name = "RunEnd";
    this.result = result;
  }

  /** The server did what its protocol does not allow, or answered with an error. */
  static failed(message: string, status?: number): RunEnd {
    return new RunEnd({ kind: "provider-failed", message, ...(status === undefined ? {} : { status }) });
  }

  /** The connection could not be made, or broke off. */
  static disconnected(message: string): RunEnd {
    return new RunEnd({ kind: "disconnected", message });
  }
}
