import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import type { HostAnswer } from "../imports/imports.ts";
import { type PackedAnswer, type PackedCall, type PackedQuestion, unpackAnswer } from "./packed.ts";
import type { HostCall } from "./pool-run.ts";
import { BRIDGE_FIELDS, type BridgeAnswer, type BridgeMessage, type Saying } from "./protocol.ts";

type Answer = PackedAnswer | BridgeAnswer;

/** What is said within this time of what was sent last waits for more: a message for each event costs ten times the event. */
const TOGETHER_MS = 1;
const MOST_TOGETHER = 128;
/** The main thread parses what comes together in one go, and does nothing else meanwhile. */
const LONGEST_TOGETHER = 64 * 1024;
/** How long a thread that asks looks for the answer before it sleeps. */
const AWAKE_MS = 0.1;

/** The thread's end of the bridge: says things to the main thread, and asks and waits. */
export class WorkerBridge {
  readonly #port: MessagePort;
  readonly #fields: Int32Array;
  /** Calls that came while the thread waited for an answer; in their order. */
  readonly #calls: PackedCall[] = [];
  #epoch = 0;
  #ordinal = 0;
  #waiting: Saying[] = [];
  /** The events after all that, as the text of a saying; empty: none. */
  #events = "";
  #count = 0;
  #sentAt = 0;

  constructor(port: MessagePort, shared: SharedArrayBuffer) {
    this.#port = port;
    this.#fields = new Int32Array(shared);
  }

  /** From here on everything is said for this run. */
  begin(epoch: number): void {
    this.#epoch = epoch;
    this.#ordinal = 0;
    this.takeWaiting();
    this.#sentAt = 0;
  }

  /** Says what wants no answer: at once, or, where it comes in a burst, together with what follows. */
  say(saying: Saying): void {
    if (saying.kind === "events") {
      this.#events = this.#events === "" ? saying.json : `${this.#events},${saying.json}`;
    } else {
      this.#closeEvents();
      this.#waiting.push(saying);
    }
    const isFull = ++this.#count >= MOST_TOGETHER || this.#events.length >= LONGEST_TOGETHER;
    if (isFull || performance.now() - this.#sentAt >= TOGETHER_MS) this.#send();
  }

  /** What was said last and has not been sent: it goes with the reply. */
  takeWaiting(): readonly Saying[] {
    this.#closeEvents();
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#count = 0;
    return waiting;
  }

  #closeEvents(): void {
    if (this.#events === "") return;
    this.#waiting.push({ kind: "events", json: this.#events });
    this.#events = "";
  }

  #send(): void {
    if (this.#count === 0) return;
    this.#port.postMessage({
      kind: "sayings",
      epoch: this.#epoch,
      sayings: this.takeWaiting(),
    } satisfies BridgeMessage);
    this.#sentAt = performance.now();
  }

  /** A call that came while nothing was asked; it takes its turn. */
  putAside(call: PackedCall): void {
    this.#calls.push(call);
  }

  /** The next call that is here already. */
  nextCall(): PackedCall | undefined {
    const call = this.#calls.shift();
    if (call !== undefined) return call;
    for (let received = receiveMessageOnPort(this.#port); received; received = receiveMessageOnPort(this.#port)) {
      // An answer that nobody waits for any more is dropped.
      if (isCall(received.message)) return received.message;
    }
    return undefined;
  }

  /** Asks for what the thread must know of a deployment; waits as `ask` does. */
  need(deployment: string, timeoutMs: number): BridgeAnswer["deployment"] | undefined {
    this.#send();
    const ordinal = ++this.#ordinal;
    this.#port.postMessage({ kind: "need", epoch: this.#epoch, ordinal, deployment } satisfies BridgeMessage);
    const answer = this.#await(ordinal, timeoutMs);
    return answer === undefined || isPacked(answer) ? undefined : answer.deployment;
  }

  /**
   * Asks a function of the application and blocks until the answer is there, at most `timeoutMs`; undefined after that. The main
   * thread ends the whole thread at the run's deadline, so the time-out is only the last resort against a main thread that is gone.
   */
  ask({ interfaceName, functionName, args, fuel }: HostCall, timeoutMs: number): HostAnswer | undefined {
    // In the order in which the run did it.
    this.#send();
    const ordinal = ++this.#ordinal;
    const question: PackedQuestion = ["host-call", this.#epoch, ordinal, interfaceName, functionName, args, fuel];
    this.#port.postMessage(question);
    const answer = this.#await(ordinal, timeoutMs);
    return answer === undefined || !isPacked(answer) ? undefined : unpackAnswer(answer);
  }

  #await(ordinal: number, timeoutMs: number): Answer | undefined {
    let now = performance.now();
    const deadline = now + timeoutMs;
    for (;;) {
      // The counter is read before the port: an answer posted after the read changes it, so the wait cannot miss it.
      const seen = Atomics.load(this.#fields, BRIDGE_FIELDS.answers);
      for (let received = receiveMessageOnPort(this.#port); received; received = receiveMessageOnPort(this.#port)) {
        const message = received.message as PackedCall | Answer;
        if (isCall(message)) this.#calls.push(message);
        else if (isPacked(message)) {
          // A late answer to an earlier run, or to an earlier question, never reaches this one.
          if (message[0] === this.#epoch && message[1] === ordinal) return message;
        } else if (message.epoch === this.#epoch && message.ordinal === ordinal) return message;
      }
      if (now >= deadline) return undefined;
      // To be woken takes longer than most answers do: 90 us where a thread sleeps on another core.
      const sleepAt = now + AWAKE_MS;
      while (Atomics.load(this.#fields, BRIDGE_FIELDS.answers) === seen && now < sleepAt) now = performance.now();
      Atomics.wait(this.#fields, BRIDGE_FIELDS.answers, seen, Math.max(0, deadline - now));
      now = performance.now();
    }
  }
}

export function isCall(message: PackedCall | Answer): message is PackedCall {
  return isPacked(message) && typeof message[1] === "string";
}

function isPacked<T extends PackedCall | PackedAnswer>(message: T | BridgeAnswer): message is T {
  return Array.isArray(message);
}
