import { type MessagePort, receiveMessageOnPort, type Worker } from "node:worker_threads";
import { messageOf } from "../errors/errors.ts";
import type { HostAnswer } from "../imports/imports.ts";
import { Claims } from "./claims.ts";
import {
  type PackedAnswer,
  type PackedQuestion,
  type PackedReply,
  packAnswer,
  packCall,
  unpackReply,
} from "./packed.ts";
import type { PoolRun } from "./pool-run.ts";
import { BRIDGE_FIELDS, type BridgeAnswer, type BridgeMessage, type Deployment, type Hello } from "./protocol.ts";
import { RunClock, type RunTimes } from "./run-clock.ts";

type ThreadMessage = PackedReply | PackedQuestion | BridgeMessage;

/** What a thread tells its pool, and asks of it. */
export interface ThreadOwner {
  /** Gives what a thread needs, or rejects. */
  deployment(key: string): Promise<Deployment>;
  /** A run has its answer. */
  ended(run: PoolRun, thread: Thread): void;
  /** The thread died by itself. */
  died(thread: Thread): void;
}

/**
 * The main thread's side of one thread: carries calls to it and hears it. It may hold several calls, which it carries out
 * in the order in which they were posted; those that it has not begun can be taken back.
 */
export class Thread {
  /** As Node numbers threads. */
  readonly threadId: number;
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #fields: Int32Array;
  readonly #clock: RunClock;
  readonly #claims: Claims;
  readonly #owner: ThreadOwner;
  /** Posted and not answered, by epoch, in their order. */
  readonly #posted = new Map<number, PoolRun>();
  #epoch = 0;
  #problem = "it exited";

  /** `memories` counts the Wasm memories that all threads of this process hold. */
  constructor(hello: Hello, worker: Worker, memories: Int32Array, owner: ThreadOwner) {
    this.threadId = hello.threadId;
    this.#worker = worker;
    this.#port = hello.port;
    this.#fields = new Int32Array(hello.shared);
    this.#clock = new RunClock(hello.clock);
    this.#claims = new Claims(hello.claims);
    this.#owner = owner;
    worker.once("error", (error) => {
      this.#problem = messageOf(error);
    });
    worker.once("exit", () => {
      // Not before: a thread that is being ended may still make one.
      Atomics.sub(memories, 0, Atomics.exchange(this.#fields, BRIDGE_FIELDS.memories, 0));
      owner.died(this);
    });
    const port = hello.port;
    port.on("message", (message: ThreadMessage) => {
      this.#receive(message);
      this.drain();
    });
    // Whether the process stays alive is the pool's to say.
    port.unref();
  }

  /** Calls that it was given and has not answered. */
  get load(): number {
    return this.#posted.size;
  }

  /** Whether it can be given one more: claims tell the last numbers apart, also those of calls that were taken back. */
  get hasRoom(): boolean {
    const [oldest = this.#epoch] = this.#posted.keys();
    return this.#epoch - oldest < Claims.MOST - 1;
  }

  /** Why it died. */
  get problem(): string {
    return this.#problem;
  }

  /** Posts a call, where it has room. Throws when it cannot be cloned. */
  post(run: PoolRun): void {
    const epoch = ++this.#epoch;
    this.#claims.offer(epoch);
    this.#port.postMessage(packCall(run.call, epoch));
    run.thread = this;
    run.epoch = epoch;
    this.#posted.set(epoch, run);
  }

  /** Takes back one call; false when the thread has begun it. */
  takeBack(run: PoolRun): boolean {
    if (this.#posted.get(run.epoch) !== run || !this.#claims.takeBack(run.epoch)) return false;
    this.#posted.delete(run.epoch);
    run.thread = null;
    return true;
  }

  /** Takes back the last `most` of the calls that it has not begun; in their order. */
  takeBackLast(most: number): readonly PoolRun[] {
    return [...this.#posted.values()].slice(-most).filter((run) => this.takeBack(run));
  }

  /** Takes all calls that it holds from a thread that is gone. */
  takeAll(): readonly PoolRun[] {
    const runs = [...this.#posted.values()];
    this.#posted.clear();
    return runs;
  }

  /** When a run was taken up and entered; null before, and once the thread has gone on. */
  timesOf(run: PoolRun): RunTimes | null {
    return this.#clock.timesOf(run.epoch);
  }

  /** Takes in what it has said so far. */
  drain(): void {
    for (let received = receiveMessageOnPort(this.#port); received; received = receiveMessageOnPort(this.#port)) {
      this.#receive(received.message as ThreadMessage);
    }
  }

  /** Ends the thread, whatever it does. What it has begun gets no answer. */
  end(): void {
    this.#posted.clear();
    this.#port.close();
    void this.#worker.terminate();
  }

  #receive(message: ThreadMessage): void {
    if (isReply(message)) {
      const run = this.#forget(message[0]);
      if (run === undefined) return;
      const reply = unpackReply(message);
      run.hear(reply.sayings);
      run.answer = { kind: "replied", reply };
      this.#owner.ended(run, this);
      return;
    }
    if (isQuestion(message)) {
      this.#answerHostCall(message);
      return;
    }
    const { epoch } = message;
    const run = this.#posted.get(epoch);
    // A run that was settled already says nothing more; its thread is being ended.
    if (run === undefined) return;
    switch (message.kind) {
      case "broken":
        this.#forget(epoch);
        run.answer = { kind: "lost", what: message.what };
        this.#owner.ended(run, this);
        return;
      case "need": {
        const { ordinal } = message;
        void this.#owner
          .deployment(message.deployment)
          .catch((thrown: unknown) => ({ problem: messageOf(thrown) }))
          .then((deployment) => this.#answer({ epoch, ordinal, deployment }));
        return;
      }
      case "sayings":
        run.hear(message.sayings);
        return;
    }
  }

  #forget(epoch: number): PoolRun | undefined {
    const run = this.#posted.get(epoch);
    this.#posted.delete(epoch);
    return run;
  }

  #answerHostCall([, epoch, ordinal, interfaceName, functionName, args, fuel]: PackedQuestion): void {
    const run = this.#posted.get(epoch);
    if (run === undefined) return;
    const answer = run.listener.hostCall({ interfaceName, functionName, args, fuel });
    if (!(answer instanceof Promise)) this.#send(epoch, ordinal, answer);
    else void answer.then((settled) => this.#posted.has(epoch) && this.#send(epoch, ordinal, settled));
  }

  #send(epoch: number, ordinal: number, answer: HostAnswer): void {
    try {
      this.#answer(packAnswer(epoch, ordinal, answer));
    } catch (thrown) {
      // The function's value cannot be cloned: an answer must come all the same, or the guest waits for its deadline.
      const message = `The host function's result cannot be sent: ${messageOf(thrown)}`;
      this.#answer(packAnswer(epoch, ordinal, { kind: "broken", message }));
    }
  }

  #answer(answer: BridgeAnswer | PackedAnswer): void {
    this.#port.postMessage(answer);
    Atomics.add(this.#fields, BRIDGE_FIELDS.answers, 1);
    Atomics.notify(this.#fields, BRIDGE_FIELDS.answers);
  }
}

function isReply(message: ThreadMessage): message is PackedReply {
  return Array.isArray(message) && typeof message[0] === "number";
}

function isQuestion(message: ThreadMessage): message is PackedQuestion {
  return Array.isArray(message) && message[0] === "host-call";
}
