import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import type { PackedAnswer, PackedCall } from "./packed.ts";
import { BRIDGE_FIELDS, type BridgeAnswer, type Saying } from "./protocol.ts";
import { WorkerBridge } from "./worker-bridge.ts";

function bridge() {
  const { port1, port2 } = new MessageChannel();
  const shared = new SharedArrayBuffer(4 * BRIDGE_FIELDS.count);
  const client = new WorkerBridge(port1, shared);
  const answer = (message: PackedAnswer): void => port2.postMessage(message);
  return { client, answer, close: () => port1.close() };
}

describe("WorkerBridge", () => {
  it("ask() takes the answer of its own run and ordinal and drops late ones", () => {
    const { client, answer, close } = bridge();
    client.begin(2);
    answer([1, 1, "value", "of the run before"]);
    answer([2, 7, "value", "of another question"]);
    answer([2, 1, "value", "mine"]);
    const question = { interfaceName: "a", functionName: "b", args: [], fuel: 0 };
    expect(client.ask(question, 1_000)).toEqual({ kind: "value", value: "mine" });
    close();
  });

  it("say() sends the first of a burst at once, a question sends what waits before it, the rest goes with the reply", () => {
    const { port1, port2 } = new MessageChannel();
    const client = new WorkerBridge(port1, new SharedArrayBuffer(4 * BRIDGE_FIELDS.count));
    client.begin(1);
    const log = (message: string) => ({ kind: "log", level: "info", message }) as const;
    const heard = (): unknown[] => {
      const messages = [];
      for (let next = receiveMessageOnPort(port2); next; next = receiveMessageOnPort(port2))
        messages.push(next.message);
      return messages;
    };
    client.say(log("a"));
    expect(heard()).toEqual([{ kind: "sayings", epoch: 1, sayings: [log("a")] }]);
    client.say(log("b"));
    client.need("x", 0);
    const said = heard() as { kind: string; sayings?: unknown[] }[];
    expect(said.at(-1)).toMatchObject({ kind: "need" });
    expect(said.slice(0, -1).flatMap(({ sayings }) => sayings)).toEqual([log("b")]);
    for (let each = 0; each < 200; each++) client.say(log(String(each)));
    const rest = [...(heard() as { sayings: unknown[] }[]).flatMap(({ sayings }) => sayings), ...client.takeWaiting()];
    expect(rest).toEqual(Array.from({ length: 200 }, (_, each) => log(String(each))));
    expect(client.takeWaiting()).toEqual([]);
    port1.close();
  });

  it("ask() puts calls aside that come before the answer, and nextCall() gives them in their order", () => {
    const { port1, port2 } = new MessageChannel();
    const client = new WorkerBridge(port1, new SharedArrayBuffer(4 * BRIDGE_FIELDS.count));
    client.begin(1);
    const call = (epoch: number): PackedCall => [epoch, "d", "r", "o", "{}", null, null, "reset", null];
    port2.postMessage(call(2));
    const deployment = { problem: "it is gone" };
    port2.postMessage({ epoch: 1, ordinal: 1, deployment } satisfies BridgeAnswer);
    port2.postMessage(call(3));
    expect(client.need("x", 1_000)).toEqual(deployment);
    port2.postMessage([1, 9, "value", 1] satisfies PackedAnswer);
    port2.postMessage(call(4));
    client.putAside(call(5));
    expect([1, 2, 3, 4, 5].map(() => client.nextCall()?.[0])).toEqual([2, 5, 3, 4, undefined]);
    port1.close();
  });

  it("say() keeps events and lines in order, the events between two lines as one text", () => {
    const { port1, port2 } = new MessageChannel();
    const client = new WorkerBridge(port1, new SharedArrayBuffer(4 * BRIDGE_FIELDS.count));
    client.begin(1);
    const line = { kind: "log", level: "info", message: "a" } as const;
    const events = (json: string) => ({ kind: "events", json }) as const;
    for (const saying of [line, events("1"), events("2"), line, events("3"), line]) client.say(saying);
    const heard: Saying[] = [];
    for (let next = receiveMessageOnPort(port2); next; next = receiveMessageOnPort(port2))
      heard.push(...next.message.sayings);
    heard.push(...client.takeWaiting());
    const kinds = heard.map((saying) => (saying.kind === "log" ? "line" : saying.json)).join(",");
    expect(kinds).toBe("line,1,2,line,3,line");
    client.begin(2);
    client.say(events("4"));
    client.say(events("5"));
    client.begin(3);
    expect(client.takeWaiting()).toEqual([]);
    port1.close();
  });

  it("say() does not let much wait", () => {
    const { port1, port2 } = new MessageChannel();
    const client = new WorkerBridge(port1, new SharedArrayBuffer(4 * BRIDGE_FIELDS.count));
    client.begin(1);
    const json = JSON.stringify("x".repeat(100_000));
    for (let each = 0; each < 10; each++) {
      client.say({ kind: "events", json });
      expect(receiveMessageOnPort(port2)?.message.sayings).toEqual([{ kind: "events", json }]);
    }
    port1.close();
  });

  it("ask() comes back without an answer when the main thread is gone", () => {
    const { client, close } = bridge();
    client.begin(1);
    expect(client.need("x", 20)).toBeUndefined();
    close();
  });
});
