import { once } from "node:events";
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import type { HostAnswer } from "../imports/imports.ts";
import { Bridge, type HostCallHandler, type RunListener } from "./bridge.ts";
import { BRIDGE_FIELDS, type BridgeMessage } from "./protocol.ts";
import { RunClock } from "./run-clock.ts";
import { StopSignal } from "./stop-signal.ts";

function connected(heldByThread = 0, heldByProcess = 0) {
  const memories = new Int32Array([heldByProcess]);
  const bridge = new Bridge(() => Promise.reject(new Error("none")), memories);
  const { port1: thread, port2: port } = new MessageChannel();
  const shared = new SharedArrayBuffer(4 * BRIDGE_FIELDS.count);
  const fields = new Int32Array(shared);
  fields[BRIDGE_FIELDS.memories] = heldByThread;
  bridge.connect({ kind: "airlock-hello", port, shared, clock: new SharedArrayBuffer(RunClock.BYTES) });
  return { bridge, thread, port, fields, memories };
}

function listener(hostCalls: HostCallHandler, heard: unknown[] = []): RunListener {
  const event = (each: unknown): void => void heard.push(each);
  return { event, log() {}, called() {}, hostCalls, signal: new StopSignal() };
}

const HOST_CALL: BridgeMessage = {
  kind: "host-call",
  epoch: 1,
  ordinal: 1,
  interfaceName: "acme:crm/lookup@1.0.0",
  functionName: "find",
  args: [],
  fuel: 0,
};
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("Bridge", () => {
  it("gives back the memories of a thread that is gone", async () => {
    const { thread, port, memories } = connected(3, 5);
    thread.close();
    await once(port, "close");
    expect([...memories]).toEqual([2]);
  });

  it("answers a host call once, and not at all when the run has been settled meanwhile", async () => {
    const { bridge, thread, fields } = connected();
    const waiting: ((answer: HostAnswer) => void)[] = [];
    const value: HostAnswer = { kind: "value", value: "Ada" };
    bridge.listen(
      1,
      listener(() => new Promise((resolve) => waiting.push(resolve))),
    );
    for (const ordinal of [1, 2]) thread.postMessage({ ...HOST_CALL, ordinal });
    bridge.drain();
    waiting[0]!(value);
    await turn();
    bridge.forget(1);
    waiting[1]!(value);
    await turn();
    expect(receiveMessageOnPort(thread)?.message).toEqual({ epoch: 1, ordinal: 1, answer: value });
    expect(receiveMessageOnPort(thread)).toBeUndefined();
    expect(fields[BRIDGE_FIELDS.answers]).toBe(1);
    thread.close();
  });

  it("answers also when the function's value cannot be sent", async () => {
    const { bridge, thread } = connected();
    bridge.listen(
      1,
      listener(async () => ({ kind: "value", value: () => {} })),
    );
    thread.postMessage(HOST_CALL);
    bridge.drain();
    await turn();
    expect(receiveMessageOnPort(thread)?.message.answer).toEqual({
      kind: "broken",
      message: expect.stringContaining("cannot be sent"),
    });
    thread.close();
  });

  it("drain() takes in what a thread has said before its reply, and drops what is said for no run", () => {
    const { bridge, thread } = connected();
    const heard: unknown[] = [];
    bridge.listen(
      1,
      listener(() => Promise.reject(new Error("was called")), heard),
    );
    const event = { type: "row", version: "1.0.0", payload: 1 };
    const sayings = [{ kind: "events", json: '"row","1.0.0",1' }];
    for (const epoch of [1, 2]) thread.postMessage({ kind: "sayings", epoch, sayings });
    bridge.drain();
    expect(heard).toEqual([event]);
    thread.close();
  });
});
