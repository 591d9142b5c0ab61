import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { BRIDGE_FIELDS, type BridgeAnswer, type BridgeMessage } from "./protocol.ts";

/** A question as the asker knows it; the bridge adds epoch and ordinal. */
type Question<T = BridgeMessage> = T extends { ordinal: number } ? Omit<T, "epoch" | "ordinal"> : never;

/** The thread's end of the bridge: says things to the main thread, and asks and waits. */
export class WorkerBridge {
  readonly #port: MessagePort;
  readonly #fields: Int32Array;
  #epoch = 0;
  #ordinal = 0;
  #said = false;

  constructor(port: MessagePort, shared: SharedArrayBuffer) {
    this.#port = port;
    this.#fields = new Int32Array(shared);
  }

  /** From here on everything is said for this run. */
  begin(epoch: number): void {
    this.#epoch = epoch;
    this.#ordinal = 0;
    this.#said = false;
  }

  /** Whether the run has said anything that wants no answer: the main thread must hear it before it believes the reply. */
  get said(): boolean {
    return this.#said;
  }

  get epoch(): number {
    return this.#epoch;
  }

  say(message: Exclude<BridgeMessage, { ordinal: number }>): void {
    this.#said = true;
    this.#port.postMessage(message);
  }

  /**
   * Asks and blocks until the answer is there, at most `timeoutMs`; undefined after that. The main thread ends the whole
   * thread at the run's deadline, so the time-out here is only the last resort against a main thread that is gone.
   */
  ask(question: Question, timeoutMs: number): BridgeAnswer | undefined {
    const ordinal = ++this.#ordinal;
    const deadline = performance.now() + timeoutMs;
    this.#port.postMessage({ ...question, epoch: this.#epoch, ordinal });
    for (;;) {
      // The counter is read before the port: an answer posted after the read changes it, so the wait cannot miss it.
      const seen = Atomics.load(this.#fields, BRIDGE_FIELDS.answers);
      for (let received = receiveMessageOnPort(this.#port); received; received = receiveMessageOnPort(this.#port)) {
        const answer = received.message as BridgeAnswer;
        // A late answer to an earlier run, or to an earlier question, never reaches this one.
        if (answer.epoch === this.#epoch && answer.ordinal === ordinal) return answer;
      }
      const left = deadline - performance.now();
      if (left <= 0) return undefined;
      Atomics.wait(this.#fields, BRIDGE_FIELDS.answers, seen, left);
    }
  }
}
