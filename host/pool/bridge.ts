import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { messageOf } from "../errors/errors.ts";
import { type Event, parseEvents } from "../events/events.ts";
import type { HostAnswer } from "../imports/imports.ts";
import {
  BRIDGE_FIELDS,
  type BridgeAnswer,
  type BridgeMessage,
  type Deployment,
  type Hello,
  type Saying,
} from "./protocol.ts";
import { RunClock, type RunTimes } from "./run-clock.ts";
import type { StopSignal } from "./stop-signal.ts";

/** Answers one call of a guest to an interface of the embedding application. It never throws for what the function does. */
export type HostCallHandler = (
  call: { readonly interfaceName: string; readonly functionName: string; readonly args: readonly unknown[] },
  signal: AbortSignal,
) => Promise<HostAnswer>;

/** What the caller of a run hears while it runs. */
export interface RunListener {
  event(event: Event): void;
  log(level: string, message: string): void;
  /** A function of the application is called; `fuelUsed` so far is a lower bound of the run's. */
  called(fuelUsed: number): void;
  readonly hostCalls: HostCallHandler;
  readonly signal: StopSignal;
}

/** Tells a listener what its run said. */
export function hear(listener: RunListener, sayings: readonly Saying[]): void {
  for (const saying of sayings) {
    if (saying.kind === "log") listener.log(saying.level, saying.message);
    else for (const event of parseEvents(saying.json)) listener.event(event);
  }
}

/** The main thread's end of the bridges of all threads. */
export class Bridge {
  readonly #runs = new Map<number, RunListener>();
  readonly #ports = new Map<MessagePort, { readonly fields: Int32Array; readonly clock: RunClock }>();
  readonly #deployments: (key: string) => Promise<Deployment>;
  readonly #memories: Int32Array;

  /** `deployments` gives what a thread needs, or rejects; `memories` counts the Wasm memories that all threads of this process hold. */
  constructor(deployments: (key: string) => Promise<Deployment>, memories: Int32Array) {
    this.#deployments = deployments;
    this.#memories = memories;
  }

  /** Connects a thread that has said hello. */
  connect(hello: Hello): void {
    const fields = new Int32Array(hello.shared);
    const port = hello.port;
    this.#ports.set(port, { fields, clock: new RunClock(hello.clock) });
    port.on("message", (message: BridgeMessage) => this.#receive(message, port, fields));
    port.on("close", () => {
      this.#ports.delete(port);
      // The thread is gone, and its memories with it.
      Atomics.sub(this.#memories, 0, Atomics.exchange(fields, BRIDGE_FIELDS.memories, 0));
    });
    port.unref();
  }

  /** Messages of run `epoch` go to `listener` until `forget`; later ones are dropped. */
  listen(epoch: number, listener: RunListener): void {
    this.#runs.set(epoch, listener);
  }

  forget(epoch: number): void {
    this.#runs.delete(epoch);
  }

  /** When run `epoch` was taken up and entered; null while no thread has it. */
  timesOf(epoch: number): RunTimes | null {
    for (const { clock } of this.#ports.values()) {
      const times = clock.timesOf(epoch);
      if (times !== null) return times;
    }
    return null;
  }

  /**
   * Takes in what the threads have said so far. A reply comes by another port than the messages before it, so whoever has
   * a reply calls this before it believes that it has seen every event.
   */
  drain(): void {
    for (const [port, { fields }] of this.#ports) {
      for (let received = receiveMessageOnPort(port); received; received = receiveMessageOnPort(port)) {
        this.#receive(received.message as BridgeMessage, port, fields);
      }
    }
  }

  close(): void {
    for (const port of this.#ports.keys()) port.close();
  }

  #receive(message: BridgeMessage, port: MessagePort, fields: Int32Array): void {
    const run = this.#runs.get(message.epoch);
    if (message.kind === "need") {
      const { epoch, ordinal } = message;
      void this.#deployments(message.deployment)
        .catch((thrown: unknown) => ({ problem: messageOf(thrown) }))
        .then((deployment) => this.#answer({ epoch, ordinal, deployment }, port, fields));
      return;
    }
    // A run that was settled already says nothing more; its thread is being ended.
    if (run === undefined) return;
    switch (message.kind) {
      case "sayings":
        hear(run, message.sayings);
        return;
      case "host-call": {
        run.called(message.fuel);
        const { epoch, ordinal, interfaceName, functionName, args } = message;
        void run.hostCalls({ interfaceName, functionName, args }, run.signal.abortSignal).then((answer) => {
          if (!this.#runs.has(epoch)) return;
          this.#answer({ epoch, ordinal, answer }, port, fields);
        });
        return;
      }
    }
  }

  #answer(answer: BridgeAnswer, port: MessagePort, fields: Int32Array): void {
    try {
      port.postMessage(answer);
    } catch (thrown) {
      // The function's value cannot be cloned: an answer must come all the same, or the guest waits for its deadline.
      const broken: HostAnswer = {
        kind: "broken",
        message: `The host function's result cannot be sent: ${messageOf(thrown)}`,
      };
      port.postMessage({ epoch: answer.epoch, ordinal: answer.ordinal, answer: broken });
    }
    Atomics.add(fields, BRIDGE_FIELDS.answers, 1);
    Atomics.notify(fields, BRIDGE_FIELDS.answers);
  }
}
