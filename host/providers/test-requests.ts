import type { Outcome, RunResult } from "./outcome.ts";
import type { Emitter, Provider, RunRequest, RunSignal } from "./provider.ts";

/** A request with everything filled in. */
export function requestFor(providerId: string, more: Partial<RunRequest> & { readonly runId: string }): RunRequest {
  return { providerId, operation: "call", input: null, limits: {}, deadline: null, ...more };
}

/** A call that a test ends when it wants. */
export interface HeldCall {
  readonly request: RunRequest;
  readonly emitter: Emitter;
  readonly signal: RunSignal;
  finish(result?: RunResult): void;
  fail(error: unknown): void;
}

/** A provider whose calls a test ends. `onCall` hears of each as it comes. */
export class HeldProvider implements Provider {
  readonly id: string;
  readonly calls: HeldCall[] = [];
  readonly #onCall: (call: HeldCall) => void;

  constructor(id: string, onCall: (call: HeldCall) => void = () => {}) {
    this.id = id;
    this.#onCall = onCall;
  }

  execute(request: RunRequest, emitter: Emitter, signal: RunSignal): Promise<RunResult> {
    return new Promise((resolve, reject) => {
      const call: HeldCall = {
        request,
        emitter,
        signal,
        finish: (result = { kind: "succeeded", output: null }) => resolve(result),
        fail: reject,
      };
      this.calls.push(call);
      this.#onCall(call);
    });
  }
}

/** Turns the event loop until nothing that was settled is left to be told. */
export async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** The kind of an outcome, for short comparisons. */
export function kindOf({ kind }: Outcome): string {
  return kind;
}
