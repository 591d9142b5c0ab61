import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { EventEmitter, once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import {
  type Connector,
  type ConnectorContext,
  ConnectorError,
  createHost,
  type Host,
  type HostOptions,
  type Outcome,
} from "../../index.ts";
import { type Ask, askingGuest } from "./asking-guest.ts";

const PATIENT = { defaults: { wallMs: 300_000 } };
/** So that the guest is compiled once, and not for each host. */
const cacheDirectory = mkdtempSync(join(tmpdir(), "airlock-chain-"));
let host: Host;

/** Says what it was asked, or does what the operation says. */
function echo(version = "1.4.0", more: Partial<Connector> = {}): Connector {
  return {
    id: "test.echo",
    version,
    async invoke({ operation, payload }) {
      switch (operation) {
        case "fail":
          throw new ConnectorError("out-of-order", "the machine is out of order", { retryable: true });
        case "leak":
          throw new ConnectorError("leak", "cannot read /etc/shadow");
        case "throw":
          throw new Error("password 1234");
        case "large":
          return { resultClass: "success", payload: "x".repeat(70_000) };
        case "private":
          return { resultClass: "success", payload: { nested: [{ secretKey: 1 }] } };
        case "sly":
          return { resultClass: "success", payload: { harmless: true, toJSON: () => ["/etc"] } };
        case "deep":
          return { resultClass: "success", payload: JSON.parse(`${"[".repeat(65)}${"]".repeat(65)}`) };
        case "long":
          throw new ConnectorError("long", "m".repeat(5_000));
        case "foreign":
          throw Object.assign(new Error("of another copy of the package"), { name: "ConnectorError", code: "foreign" });
        case "wrong":
          return { resultClass: "Two Words", payload: 1 };
        case "nothing":
          return undefined as never;
        default:
          return { resultClass: "success", payload: { operation, payload } };
      }
    },
    ...more,
  };
}

async function open(options: HostOptions = {}, range = "^1.0.0", limits: Record<string, number> = {}): Promise<void> {
  host = await createHost({ threads: 1, limits: PATIENT, compile: { cacheDirectory }, ...options });
  await host.install(await askingGuest([{ id: "test.echo", range }], { limits }));
}

async function ask(...asks: readonly Partial<Ask>[]): Promise<{ answers: readonly unknown[]; outcome: Outcome }> {
  const full = asks.map((each) => ({ connector: "test.echo", operation: "echo", payload: {}, ...each }));
  const outcome = await host.run("test.asker", { asks: full }).outcome;
  const { answers } = (outcome.kind === "succeeded" ? outcome.output : { answers: [] }) as { answers: unknown[] };
  return { answers, outcome };
}

const evidence = (failureClass: string | null, resolvedVersion: string | null = "1.4.0") => ({
  connectorId: "test.echo",
  resolvedVersion,
  resultClass: failureClass === null ? "success" : "failure",
  failureClass,
});

describe("a capability that asks a connector", () => {
  afterEach(() => host.close());
  afterAll(() => rmSync(cacheDirectory, { recursive: true }));

  it("gets what the connector answers, and the outcome has the evidence without a word of it", async () => {
    let seen: ConnectorContext | null = null;
    const connector = echo("1.4.0", {
      invoke: async (request, context) => {
        seen = context;
        return { resultClass: "success", payload: { ...request } };
      },
    });
    await open({ connectors: [connector] });
    const { answers, outcome } = await ask({ operation: "look-up", payload: { words: ["hush"], body: "L2V0Yw==" } });
    expect(answers).toEqual([
      {
        resultClass: "success",
        payload: { operation: "look-up", payload: { words: ["hush"], body: "L2V0Yw==" } },
      },
    ]);
    expect(outcome.connectorCalls).toEqual([evidence(null)]);
    expect(JSON.stringify(outcome.connectorCalls)).not.toContain("hush");
    expect(outcome.usage.hostCalls).toBe(1);
    expect(outcome.usage.hostBytesOut).toBeGreaterThan(30);
    expect(seen).toMatchObject({
      runId: outcome.runId,
      capabilityId: "test.asker",
      capabilityVersion: "1.2.3",
      responseBytes: 65_536,
    });
    expect(seen!.deadline).toBeGreaterThan(Date.now());
  });

  it.each([
    ["not JSON", { text: "{" }, "the payload is not JSON"],
    ["nested too deep", { text: `${"[".repeat(65)}${"]".repeat(65)}` }, "the payload nests deeper than 64 levels"],
    ["for nobody", { connector: "" }, "connector has 0 characters: 1 to 128 are wanted"],
    ["for too long a name", { connector: "a".repeat(129) }, "connector has 129 characters: 1 to 128 are wanted"],
    ["with an operation that is no word", { operation: "Get It" }, 'operation is "Get It": 1 to 64 of'],
  ])("is told of a request that is %s, which leaves no evidence", async (_, request, message) => {
    await open({ connectors: [echo()] });
    const { answers, outcome } = await ask(request);
    expect(answers).toEqual([{ tag: "invalid-request", val: expect.stringContaining(message) }]);
    expect(outcome.kind).toBe("succeeded");
    expect(outcome.connectorCalls).toBeUndefined();
  });

  it("may not ask what its manifest does not declare, bound or not", async () => {
    await open({ connectors: [echo(), { ...echo(), id: "test.other" }] });
    const { answers, outcome } = await ask({ connector: "test.other" }, { connector: "none" });
    expect(answers).toEqual([
      { tag: "undeclared", val: 'grants.connectors does not name "test.other": it names "test.echo"' },
      { tag: "undeclared", val: 'grants.connectors does not name "none": it names "test.echo"' },
    ]);
    expect(outcome.connectorCalls).toEqual([
      { ...evidence("undeclared", null), connectorId: "test.other" },
      { ...evidence("undeclared", null), connectorId: "none" },
    ]);
  });

  it("finds nothing that is not bound for it, and finds it once it is", async () => {
    await open({ connectors: [{ connector: echo(), capabilities: ["test.somebody"] }] });
    const unbound = { tag: "unbound", val: 'no connector "test.echo" is bound for this capability' };
    expect((await ask({})).answers).toEqual([unbound]);
    expect((await ask({})).outcome.connectorCalls).toEqual([evidence("unbound", null)]);
    host.connectors.bind(echo("1.5.0"));
    expect((await ask({})).outcome.connectorCalls).toEqual([evidence(null, "1.5.0")]);
    host.connectors.unbind("test.echo@1.5.0");
    expect((await ask({})).answers).toEqual([unbound]);
  });

  it("gets the newest bound version inside of its range, and none outside of it", async () => {
    await open({ connectors: [echo("1.1.0"), echo("1.9.0"), echo("2.0.0"), echo("1.10.0-beta.1")] });
    expect((await ask({})).outcome.connectorCalls).toEqual([evidence(null, "1.9.0")]);
    host.connectors.unbind("test.echo@1.9.0");
    host.connectors.unbind("test.echo@1.1.0");
    const { answers, outcome } = await ask({});
    expect(answers).toEqual([
      { tag: "incompatible", val: 'the granted range of "test.echo" is "^1.0.0": bound is 2.0.0, 1.10.0-beta.1' },
    ]);
    expect(outcome.connectorCalls).toEqual([evidence("incompatible", "2.0.0")]);
  });

  it("is refused what may not leave it, and the connector hears nothing of it", async () => {
    let heard = 0;
    const connector = echo("1.4.0", {
      invoke: () => {
        heard++;
        return { resultClass: "success", payload: null };
      },
    });
    await open({ connectors: [connector] });
    const payloads = [
      { a: [{ myPasswordHash: 1 }] },
      "/etc",
      { url: "see http://here" },
      [["/"]],
      { body: "/not base64" },
    ];
    const { answers, outcome } = await ask(...payloads.map((payload) => ({ payload })));
    for (const answer of answers)
      expect(answer).toMatchObject({
        tag: "unauthorized-output",
        val: expect.stringContaining("may not leave the guest"),
      });
    expect(outcome.connectorCalls).toEqual(payloads.map(() => evidence("unauthorized_output")));
    expect(heard).toBe(0);
  });

  it("is refused what may not enter it", async () => {
    await open({ connectors: [echo()] });
    const { answers, outcome } = await ask({ operation: "private" }, { operation: "sly" });
    const refused = (problem: string) => ({
      tag: "unauthorized-output",
      val: `the response may not enter the guest: the payload has a ${problem}`,
    });
    expect(answers).toEqual([refused('key that contains "secret"'), refused('text that begins with "/"')]);
    expect(outcome.connectorCalls).toEqual([evidence("unauthorized_output"), evidence("unauthorized_output")]);
  });

  it("is held to the bytes of the binding, each way", async () => {
    await open({ connectors: [{ connector: echo(), requestBytes: 300, responseBytes: 70_100 }] });
    const { answers, outcome } = await ask(
      { payload: "y".repeat(300) },
      { payload: "y".repeat(70_000) },
      { operation: "large" },
    );
    expect(answers).toMatchObject([
      { tag: "bounded-io", val: expect.stringMatching(/^the request has 3\d\d bytes: at most 300 may be asked$/) },
      { tag: "bounded-io", val: expect.stringMatching(/^the request has 70\d\d\d bytes: at most 300 may be asked$/) },
      { resultClass: "success" },
    ]);
    expect(outcome.connectorCalls).toEqual([evidence("bounded_io"), evidence("bounded_io"), evidence(null)]);
  });

  it("is refused a response that is larger than the bound, or than what it may still take in", async () => {
    await open({ connectors: [echo()] }, "*", { hostBytesIn: 1_000 });
    expect((await ask({ payload: "y".repeat(5_000) })).answers).toEqual([
      { tag: "bounded-io", val: expect.stringMatching(/^the response has 50\d\d bytes: at most 1000 may come$/) },
    ]);
    await host.close();
    await open({ connectors: [echo()] });
    const { answers, outcome } = await ask({ operation: "large" }, { operation: "deep" });
    expect(answers).toEqual([
      { tag: "bounded-io", val: expect.stringMatching(/^the response has 70\d\d\d bytes: at most 65536 may come$/) },
      { tag: "bounded-io", val: "the response nests deeper than 64 levels" },
    ]);
    expect(outcome.connectorCalls).toEqual([evidence("bounded_io"), evidence("bounded_io")]);
  });

  it("hears a connector's own error, and nothing of any other", async () => {
    await open({ connectors: [echo()] });
    const { answers, outcome } = await ask(
      { operation: "fail" },
      { operation: "leak" },
      { operation: "throw" },
      { operation: "wrong" },
      { operation: "nothing" },
      { operation: "foreign" },
      { operation: "long" },
    );
    const failed = (code: string, message: string, retryable = false) => ({
      tag: "execution-failed",
      val: { code, message, retryable, detail: null },
    });
    const silent = "the connector did not carry the request out";
    expect(answers).toEqual([
      failed("out-of-order", "the machine is out of order", true),
      failed("leak", silent),
      failed("failed", silent),
      failed("failed", silent),
      failed("failed", silent),
      failed("foreign", "of another copy of the package"),
      failed("long", "m".repeat(1_024)),
    ]);
    expect(outcome.connectorCalls).toEqual(Array.from({ length: 7 }, () => evidence("execution_failed")));
    expect(JSON.stringify(outcome)).not.toMatch(/1234|shadow/);
  });

  it("is told of on the channels: the evidence of each call, and what a connector threw to the application alone", async () => {
    const told: unknown[] = [];
    const listen = (message: unknown, name: string | symbol): void => void told.push([name, message]);
    const names = ["airlock:gateway:call", "airlock:gateway:connector-failed"];
    for (const name of names) subscribe(name, listen);
    try {
      await open({ connectors: [echo()] });
      const { outcome } = await ask({}, { operation: "throw" }, { text: "{" });
      const run = { runId: outcome.runId, capabilityId: "test.asker" };
      expect(told).toEqual([
        ["airlock:gateway:call", { ...run, evidence: evidence(null) }],
        [
          "airlock:gateway:connector-failed",
          { ...run, connector: "test.echo@1.4.0", error: expect.objectContaining({ message: "password 1234" }) },
        ],
        ["airlock:gateway:call", { ...run, evidence: evidence("execution_failed") }],
        ["airlock:gateway:call", { ...run, evidence: null }],
      ]);
    } finally {
      for (const name of names) unsubscribe(name, listen);
    }
  });

  it("is not held up past its end by a connector that does not answer, and what was asked leaves evidence", async () => {
    const asked = new EventEmitter();
    const signals: AbortSignal[] = [];
    const waiting = echo("1.4.0", {
      invoke: (_, { signal }) => {
        signals.push(signal);
        asked.emit("asked");
        return new Promise(() => {});
      },
    });
    await open({ connectors: [waiting] });
    const input = { asks: [{ connector: "test.echo", operation: "wait", payload: {} }] };
    const run = host.run("test.asker", input);
    await once(asked, "asked");
    run.cancel("enough");
    const cancelled = await run.outcome;
    expect(cancelled).toMatchObject({ kind: "cancelled", connectorCalls: [evidence("execution_failed")] });
    // What began comes to its end by its clock, whenever the thread that takes the ended one's place is there.
    const late = await host.run("test.asker", input, { limits: { wallMs: 500 } }).outcome;
    expect(late).toMatchObject({ kind: "past-deadline", connectorCalls: [evidence("execution_failed")] });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  it("has every call counted, and ends when it makes too many", async () => {
    await open({ connectors: [echo()] }, "*", { hostCalls: 2 });
    const { outcome } = await ask({}, {}, {});
    expect(outcome).toMatchObject({ kind: "over-budget", limit: "hostCalls" });
    expect(outcome.connectorCalls).toHaveLength(2);
  });
});
