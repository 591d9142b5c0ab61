import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type CommittedEvent, createHost, type Host, type Subscription } from "../../index.ts";
import { any, calling, guest, inUse, nothing, PATIENT } from "./guest.ts";

describe("events of nested runs", () => {
  let host: Host;
  let heard: CommittedEvent[];
  let subscription: Subscription;

  beforeAll(async () => {
    host = await createHost({ threads: 1, limits: PATIENT });
    await host.install(await guest("test.leaf"));
    await host.install(await guest("test.c", { invoke: any("test.leaf"), limits: { outputBytes: 1 } }));
    for (const id of ["test.a", "test.b"])
      await host.install(await guest(id, { invoke: any("test.b", "test.c", "test.leaf", "test.native") }));
    const emits = [{ type: "done", version: "1.0.0" }];
    const call = (
      _: unknown,
      { event }: { event(event: { type: string; version: string; payload: unknown }): void },
    ) => {
      event({ type: "done", version: "1.0.0", payload: "native" });
    };
    await host.providers.addFunction({ id: "test.native@1.0.0", call, events: emits }, {});
  }, 60_000);
  beforeEach(() => {
    heard = [];
    subscription = host.subscribe({}, (event) => heard.push(event));
  });
  afterEach(() => {
    subscription.close();
    expect(inUse(host)).toEqual(nothing(host.stats().lanes.length));
  });
  afterAll(() => host.close());

  const relay = (input: object, options = {}) => host.run("test.a", input, { operation: "relay", ...options }).outcome;
  const say = (text: string) => calling("test.leaf", "say", { text: JSON.stringify(text) });
  const said = () => heard.map(({ providerId, payload }) => `${providerId.slice(5, -6)} ${String(payload)}`);

  it("stand where their run was called, each under its own run's name", async () => {
    const outcome = await relay(calling("test.b", "relay", say("leaf")));
    expect(outcome.kind).toBe("succeeded");
    expect(said()).toEqual(["a before", "b before", "leaf leaf", "b after", "a after"]);
    const [a, b, leaf] = heard.map(({ runId }) => runId);
    expect([a, b, leaf]).toEqual([outcome.runId, outcome.nested![0]!.runId, outcome.nested![0]!.nested![0]!.runId]);
    expect(new Set([a, b, leaf]).size).toBe(3);
    expect(outcome.events).toEqual({ accepted: 2, refused: 0 });
  });

  it("come from functions of the application as well", async () => {
    await relay(calling("test.native", "call", {}));
    expect(said()).toEqual(["a before", "native native", "a after"]);
  });

  it("are heard by who subscribes to the capability that emits them", async () => {
    const leaf: unknown[] = [];
    const other = host.subscribe({ capability: "test.leaf" }, ({ payload }) => leaf.push(payload));
    await relay(say("one"));
    other.close();
    expect(leaf).toEqual(["one"]);
  });

  it("are nothing when their run did not succeed, and their caller's count all the same", async () => {
    const outcome = await relay(calling("test.leaf", "say-and-trap", { text: '"lost"' }));
    expect(outcome).toMatchObject({ kind: "failed", nested: [{ kind: "trapped" }] });
    const again = { times: 2, ...calling("test.leaf", "say-and-trap", { text: '"lost"' }) };
    expect(await host.run("test.a", again, { operation: "again" }).outcome).toMatchObject({
      kind: "succeeded",
      output: 0,
    });
    expect(said()).toEqual([]);
  });

  it("are nothing when a run above theirs did not succeed", async () => {
    // The one that emits succeeds, the one in the middle does not, the one that the application asked does.
    const between = { times: 2, ...calling("test.c", "call", say("in vain")) };
    const outcome = await host.run("test.a", between, { operation: "again" }).outcome;
    expect(outcome).toMatchObject({
      output: 0,
      nested: [{ kind: "over-budget", nested: [{ kind: "succeeded" }] }, {}],
    });
    // The one in the middle hands on the error that it gets, after it has said something.
    const middle = calling("test.b", "relay", calling("test.leaf", "refuse", { text: "no" }));
    const twice = { times: 2, ...middle };
    expect(await host.run("test.a", twice, { operation: "again" }).outcome).toMatchObject({ output: 0 });
    expect(await relay(say("never heard"), { limits: { outputBytes: 1 } })).toMatchObject({ kind: "over-budget" });
    expect(said()).toEqual([]);
  });

  it("count against what their caller may still emit", async () => {
    const outcome = await host.run(
      "test.a",
      { times: 6, ...say("x") },
      { operation: "again", limits: { eventCount: 4 } },
    ).outcome;
    expect(outcome).toMatchObject({ kind: "succeeded", output: 6 });
    expect(said()).toEqual(Array.from({ length: 4 }, () => "leaf x"));
    heard = [];
    const bytes = JSON.stringify("x").length;
    await host.run("test.a", { times: 6, ...say("x") }, { operation: "again", limits: { eventTotalBytes: 3 * bytes } })
      .outcome;
    expect(said()).toHaveLength(3);
  });

  it("of functions count against it too, which are refused what is past it", async () => {
    const native = { times: 6, ...calling("test.native", "call", {}) };
    const again = (limits: object) => host.run("test.a", native, { operation: "again", limits }).outcome;
    expect(await again({ eventCount: 4 })).toMatchObject({ kind: "succeeded", output: 4 });
    expect(said()).toEqual(Array.from({ length: 4 }, () => "native native"));
    heard = [];
    const bytes = JSON.stringify("native").length;
    expect(await again({ eventTotalBytes: 3 * bytes })).toMatchObject({ kind: "succeeded", output: 3 });
    expect(said()).toHaveLength(3);
  });
});
