import { once } from "node:events";
import { createServer, get, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import { type AddressInfo, connect, type Socket } from "node:net";
import { PassThrough, Writable } from "node:stream";
import { TransformStream } from "node:stream/web";
import { createParser } from "eventsource-parser";
import { afterEach, describe, expect, it } from "vitest";
import { ndjson, outcomeAlone, serverSentEvents } from "./endpoints.ts";
import { functionProvider } from "./function-provider.ts";
import type { Emitter, Provider, RunEvent } from "./provider.ts";
import type { ProviderRun } from "./provider-run.ts";
import { ProviderRuns } from "./provider-runs.ts";
import { NDJSON, SERVER_SENT_EVENTS } from "./record-format.ts";
import type { GateEnd, StreamGate } from "./stream-gate.ts";
import { TestClock } from "./test-clock.ts";
import { HeldProvider, requestFor, settled } from "./test-requests.ts";

const P = "p@1.0.0";
/** What a response may hold besides what waits in the gate: its own mark, one piece, and the frame of a chunk. */
const MOST_IN_RESPONSE = 64 * 1024;
const COUNT = 100_000;
/** Long enough that no kernel holds all of them. */
const PADDING = "x".repeat(300);

const closings: (() => void)[] = [];
afterEach(() => {
  for (const close of closings.splice(0)) close();
});

interface Served {
  readonly run: ProviderRun;
  readonly gate: StreamGate;
  readonly response: ServerResponse;
}

/** A server that answers each request with a run of the provider. */
async function serve(provider: Provider, format: "sse" | "ndjson", bounds = {}) {
  const runs = new ProviderRuns({ clock: new TestClock() });
  await runs.add(provider, { capacity: 4 });
  let count = 0;
  let answer: (served: Served) => void;
  const served = new Promise<Served>((resolve) => {
    answer = resolve;
  });
  const port = await listen((_, response) => {
    response.writeHead(200, format === "sse" ? SERVER_SENT_EVENTS.headers : NDJSON.headers);
    const run = runs.start(requestFor(P, { runId: `r${++count}` })) as ProviderRun;
    const gate = run.to(format === "sse" ? serverSentEvents(response) : ndjson(response), bounds);
    answer({ run, gate, response });
  });
  return { runs, port, served };
}

async function listen(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  closings.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

async function request(port: number): Promise<IncomingMessage> {
  const [response] = (await once(get({ port, host: "127.0.0.1", agent: false }), "response")) as [IncomingMessage];
  return response.setEncoding("utf8");
}

/** A client that asks and then reads nothing. */
async function deafClient(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1").pause();
  await once(socket, "connect");
  socket.write("GET / HTTP/1.0\r\n\r\n");
  closings.push(() => void socket.destroy());
  return socket;
}

/** Reads a response of HTTP/1.0 to its end, and slowly: a turn of the event loop between any two pieces. */
async function bodyOf(socket: Socket): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of socket) {
    pieces.push(piece as Buffer);
    await settled();
  }
  const text = Buffer.concat(pieces).toString();
  return text.slice(text.indexOf("\r\n\r\n") + 4);
}

function readEvents(text: string): { id: string | undefined; event: string | undefined; data: RunEvent }[] {
  const read: { id: string | undefined; event: string | undefined; data: RunEvent }[] = [];
  const parser = createParser({
    onEvent: ({ id, event, data }) => void read.push({ id, event, data: JSON.parse(data) as RunEvent }),
  });
  parser.feed(text);
  return read;
}

const readLines = (text: string): RunEvent[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as RunEvent);

/** The numbers of the deltas, in order. */
const numbersOf = (events: readonly RunEvent[]): number[] =>
  events.flatMap((event) => (event.kind === "delta" ? [Number.parseInt(event.text, 10)] : []));
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** Says 100,000 deltas; `after` is what it does after each. */
class Flood implements Provider {
  readonly id = P;
  emitted = 0;
  /** The most that a response held; set by the test that measures. */
  mostInResponse = 0;
  response: ServerResponse | null = null;
  readonly #after: (emitter: Emitter, emitted: number) => Promise<void> | null;

  constructor(after: (emitter: Emitter, emitted: number) => Promise<void> | null) {
    this.#after = after;
  }

  async execute(_: unknown, emitter: Emitter, signal: { readonly aborted: boolean }) {
    while (this.emitted < COUNT && !signal.aborted) {
      emitter.emit({ kind: "delta", text: `${this.emitted++} ${PADDING}` });
      this.mostInResponse = Math.max(this.mostInResponse, this.response?.writableLength ?? 0);
      const wait = this.#after(emitter, this.emitted);
      if (wait !== null) await wait;
    }
    return { kind: "succeeded", output: this.emitted } as const;
  }
}

const pausing = (): Flood => new Flood((emitter) => emitter.room!());
/** As a thread does whose messages come in bursts, and which nobody can stop for a while. */
const heedless = (): Flood => new Flood((_, emitted) => (emitted % 200 === 0 ? settled() : null));

/** Turns the event loop until the provider says nothing more and the response does not empty any more. */
async function untilStalled(flood: Flood, response: ServerResponse): Promise<void> {
  for (let quiet = 0, last = ""; quiet < 300; ) {
    await settled();
    const now = `${flood.emitted} ${response.writableLength}`;
    quiet = now === last ? quiet + 1 : 0;
    last = now;
  }
}

describe("a run as server-sent events over HTTP", () => {
  it("is read whole by another parser, with numbers as ids, and ends after the terminal event", async () => {
    const provider = new HeldProvider(P, ({ emitter, finish }) => {
      emitter.emit({ kind: "delta", text: "he\n\nllo" });
      emitter.emit({ kind: "event", event: { type: "t", version: "1.0.0", payload: { a: "\r\n" } } });
      emitter.emit({ kind: "log", level: "info", message: "ü😀" });
      finish({ kind: "succeeded", output: "hello" });
      emitter.emit({ kind: "usage", tokens: { inputTokens: 1, outputTokens: 2 } });
    });
    const { port, served, runs } = await serve(provider, "sse");
    const response = await request(port);
    expect(response.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    let text = "";
    for await (const piece of response) text += piece;
    const { outcome, delivered } = await (await served).gate.done;
    expect(delivered).toBe(true);
    const read = readEvents(text);
    expect(read.map(({ id, event }) => `${id} ${event}`)).toEqual([
      "1 started",
      "2 delta",
      "3 event",
      "4 log",
      "5 usage",
      "6 complete",
    ]);
    expect(read[1]!.data).toEqual({ kind: "delta", text: "he\n\nllo" });
    expect(read[3]!.data).toEqual({ kind: "log", level: "info", message: "ü😀" });
    expect(read.at(-1)!.data).toEqual(JSON.parse(JSON.stringify({ kind: "complete", outcome })));
    expect(text.endsWith("\n\n") && !text.includes("\n:")).toBe(true);
    expect(runs.stats().pools[P]!.inUse).toBe(0);
  });

  it("bounds what waits for a reader that stops, pauses the provider, and loses none of 100,000 deltas when it reads on", async () => {
    const flood = pausing();
    const { port, served } = await serve(flood, "sse", { bytes: 256 * 1024 });
    const socket = await deafClient(port);
    const { gate, run, response } = await served;
    flood.response = response;
    await untilStalled(flood, response);
    expect(flood.emitted).toBeLessThan(COUNT);
    expect(run.terminal).toBeNull();
    expect(gate.stats().unreadBytes).toBeGreaterThan(32 * 1024);
    const events = readEvents(await bodyOf(socket));
    expect(numbersOf(events.map(({ data }) => data))).toEqual(upTo(COUNT));
    expect(events.map(({ id }) => Number(id))).toEqual(upTo(COUNT + 2).map((i) => i + 1));
    expect(events.at(-1)!.event).toBe("complete");
    expect(await gate.done).toMatchObject({ delivered: true, outcome: { kind: "succeeded", output: COUNT } });
    expect(gate.stats().mostUnreadBytes).toBeLessThanOrEqual(256 * 1024);
    expect(gate.stats().pauses).toBeGreaterThan(0);
    expect(flood.mostInResponse).toBeGreaterThan(0);
    expect(flood.mostInResponse).toBeLessThanOrEqual(MOST_IN_RESPONSE);
  });

  it("ends the run of a provider that cannot pause as over_budget, and the reader still gets all that came before", async () => {
    const flood = heedless();
    const { port, served, runs } = await serve(flood, "sse", { bytes: 256 * 1024 });
    const socket = await deafClient(port);
    const { gate, run, response } = await served;
    flood.response = response;
    expect(await run.outcome).toMatchObject({ kind: "over-budget", limit: "unreadBytes" });
    expect(runs.stats().pools[P]!.inUse).toBe(0);
    await untilStalled(flood, response);
    expect(flood.emitted).toBeLessThan(COUNT);
    const read = readEvents(await bodyOf(socket)).map(({ data }) => data);
    const numbers = numbersOf(read);
    expect(numbers).toEqual(upTo(numbers.length));
    expect(read).toHaveLength(numbers.length + 2);
    expect(read.at(-1)).toMatchObject({ kind: "error", failure: "over_budget" });
    expect(await gate.done).toMatchObject({ delivered: true });
    expect(gate.stats().mostUnreadBytes).toBeLessThanOrEqual(256 * 1024);
    expect(flood.mostInResponse).toBeLessThanOrEqual(MOST_IN_RESPONSE);
    expect(runs.stats().endings).toMatchObject({ "over-budget": 1, succeeded: 0 });
  });

  it("ends the run once as transport_disconnected when the reader goes away in the middle, and its slot is free", async () => {
    for (const flood of [pausing(), heedless()]) {
      const { port, served, runs } = await serve(flood, "sse", { events: COUNT, bytes: 2 ** 30 });
      const response = await request(port);
      await once(response, "data");
      response.destroy();
      const { gate, run } = await served;
      expect(await gate.done).toMatchObject({ delivered: false, outcome: { kind: "disconnected" } });
      expect(run.terminal).toMatchObject({ kind: "error", failure: "transport_disconnected" });
      await runs.close();
      const { endings, pools, inFlight, started } = runs.stats();
      expect({ inFlight, started, inUse: pools[P]!.inUse }).toEqual({ inFlight: 0, started: 1, inUse: 0 });
      expect(Object.values(endings).reduce((sum, each) => sum + each)).toBe(1);
      expect(flood.emitted).toBeLessThan(COUNT);
    }
  });

  it("ends a silent run when its reader goes away, and does nothing about silence before", async () => {
    const provider = new HeldProvider(P);
    const { port, served, runs } = await serve(provider, "sse");
    const response = await request(port);
    await once(response, "data");
    const { gate, run } = await served;
    expect(run.terminal).toBeNull();
    response.destroy();
    expect(await gate.done).toMatchObject({ delivered: false, outcome: { kind: "disconnected" } });
    expect(provider.calls[0]!.signal.aborted).toBe(true);
    expect(runs.stats().pools[P]!.inUse).toBe(0);
  });
});

it("300 clients that read, stop reading, read on or leave whenever they like end each run once and leave no slot in use", async () => {
  const runs = new ProviderRuns({ clock: new TestClock() });
  const provider: Provider = {
    id: P,
    execute: async ({ input }, emitter, signal) => {
      for (let i = 0; i < 300 && !signal.aborted; i++) {
        emitter.emit({ kind: "delta", text: `${i} ${PADDING}` });
        if (input === "pausing") await emitter.room!();
        else if (i % 10 === 0) await settled();
      }
      return { kind: "succeeded", output: null };
    },
  };
  await runs.add(provider, { capacity: 5, queue: 300 });
  const ends: Promise<GateEnd>[] = [];
  const port = await listen(({ url }, response) => {
    const input = ends.length % 2 === 0 ? "pausing" : "heedless";
    const run = runs.start(requestFor(P, { runId: url!, input }));
    response.writeHead(200, NDJSON.headers);
    ends.push(run.to(ndjson(response), { bytes: 32 * 1024 }).done);
  });
  const whole: string[] = [];
  const client = async (index: number): Promise<void> => {
    const socket = connect(port, "127.0.0.1");
    socket.write(`GET /${index} HTTP/1.0\r\n\r\n`);
    if (index % 4 === 0) await once(socket, "data");
    if (index % 4 < 2) {
      for (let turns = 0; turns < index % 13; turns++) await settled();
      socket.destroy();
    } else whole.push(await bodyOf(socket));
  };
  for (let index = 0; index < 300; index += 10) {
    await Promise.all(Array.from({ length: 10 }, (_, i) => client(index + i)));
  }
  await Promise.all(ends);
  for (const text of whole) {
    const events = readLines(text);
    const numbers = numbersOf(events);
    expect(numbers).toEqual(upTo(numbers.length));
    expect(events.filter((event) => "outcome" in event)).toEqual([events.at(-1)]);
    if (events.at(-1)!.kind === "complete") expect(numbers).toHaveLength(300);
    else expect(events.at(-1)).toMatchObject({ kind: "error", failure: "over_budget" });
  }
  const { started, inFlight, endings, pools } = runs.stats();
  expect({ inFlight, inUse: pools[P]!.inUse, waiting: pools[P]!.waiting }).toEqual({
    inFlight: 0,
    inUse: 0,
    waiting: 0,
  });
  expect(Object.values(endings).reduce((sum, each) => sum + each)).toBe(started);
  for (const kind of ["succeeded", "disconnected"] as const) expect(endings[kind], kind).toBeGreaterThan(10);
});

describe("a run as NDJSON over HTTP", () => {
  it("pauses a function that waits for its deltas, and a slow reader gets 100,000 of them, one a line", async () => {
    const text = "x".repeat(200);
    const provider = functionProvider(
      {
        id: P,
        limits: { outputBytes: 64 * 1024 * 1024, wallMs: 600_000 },
        call: async (_, context) => {
          for (let i = 0; i < COUNT; i++) await context.delta(`${i} ${text}`);
          return "done";
        },
      },
      { clock: new TestClock() },
    );
    const { port, served } = await serve(provider, "ndjson");
    const socket = await deafClient(port);
    const { gate } = await served;
    for (; gate.stats().pauses === 0; ) await settled();
    const events = readLines(await bodyOf(socket));
    expect(numbersOf(events)).toEqual(upTo(COUNT));
    expect(events[0]).toEqual({ kind: "started", runId: "r1", providerId: P });
    expect(events.at(-1)).toMatchObject({ kind: "complete", outcome: { output: "done" } });
    expect(await gate.done).toMatchObject({ delivered: true });
  });

  it("writes a long outcome in pieces, so that the socket holds little of it, and breaks no character", async () => {
    const provider = new HeldProvider(P, ({ finish }) =>
      finish({ kind: "succeeded", output: `a${"😀".repeat(4_000_000)}` }),
    );
    const { port, served, runs } = await serve(provider, "ndjson");
    const socket = await deafClient(port);
    const { gate, run, response } = await served;
    expect(await run.outcome).toMatchObject({ kind: "succeeded" });
    expect(runs.stats().pools[P]!.inUse).toBe(0);
    for (let quiet = 0, last = -1; quiet < 300; last = response.writableLength) {
      await settled();
      expect(response.writableLength).toBeLessThanOrEqual(2 * MOST_IN_RESPONSE);
      quiet = response.writableLength === last ? quiet + 1 : 0;
    }
    expect(gate.stats()).toMatchObject({ sent: 1, unreadBytes: 0 });
    const events = readLines(await bodyOf(socket));
    expect(events.at(-1)).toMatchObject({ kind: "complete", outcome: { output: `a${"😀".repeat(4_000_000)}` } });
    expect(await gate.done).toMatchObject({ delivered: true });
  });
});

describe("outcomeAlone() over HTTP", () => {
  it("answers with the outcome, and ends the run when the client goes away before", async () => {
    const runs = new ProviderRuns({ clock: new TestClock() });
    const provider = new HeldProvider(P);
    await runs.add(provider, { capacity: 2 });
    let count = 0;
    const port = await listen(async (_, response) => {
      const { done } = runs.start(requestFor(P, { runId: `r${++count}` })).to(outcomeAlone(response));
      const { outcome } = await done;
      response.end(JSON.stringify(outcome));
    });
    const answered = request(port);
    while (provider.calls.length < 1) await settled();
    provider.calls[0]!.finish({ kind: "succeeded", output: 7 });
    let text = "";
    for await (const piece of await answered) text += piece;
    expect(JSON.parse(text)).toMatchObject({ kind: "succeeded", output: 7 });
    const leaver = await deafClient(port);
    while (provider.calls.length < 2) await settled();
    const { outcome } = runs.find("r2");
    leaver.destroy();
    expect(await outcome).toMatchObject({ kind: "disconnected" });
    expect(runs.stats().pools[P]!.inUse).toBe(0);
  });
});

describe("a run over HTTP/2", () => {
  it("is sent whole, and ends when the client resets its stream, also before the gate was opened", async () => {
    const runs = new ProviderRuns({ clock: new TestClock() });
    const provider = new HeldProvider(P, ({ emitter, request, finish }) => {
      emitter.emit({ kind: "delta", text: "0" });
      if (request.runId === "/whole") finish();
    });
    await runs.add(provider, { capacity: 4 });
    const server = createHttp2Server(async ({ url }, response) => {
      const run = runs.start(requestFor(P, { runId: url }));
      if (url === "/late") await new Promise<void>((resolve) => response.once("close", resolve));
      if (!response.stream.destroyed) response.writeHead(200, NDJSON.headers);
      run.to(ndjson(response));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const client = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    closings.push(() => {
      client.destroy();
      server.close();
    });
    const whole = client.request({ ":path": "/whole" }).setEncoding("utf8");
    let text = "";
    for await (const piece of whole) text += piece;
    expect(readLines(text).map(({ kind }) => kind)).toEqual(["started", "delta", "complete"]);
    for (const path of ["/middle", "/late"]) {
      const stream = client.request({ ":path": path });
      if (path === "/middle") await once(stream, "data");
      else while (provider.calls.length < 3) await settled();
      const { outcome } = runs.find(path);
      stream.close();
      expect(await outcome, path).toMatchObject({ kind: "disconnected" });
    }
    expect(runs.stats().pools[P]!.inUse).toBe(0);
  });
});

describe("other streams", () => {
  async function started(onCall?: ConstructorParameters<typeof HeldProvider>[1]) {
    const runs = new ProviderRuns({ clock: new TestClock() });
    const provider = new HeldProvider(P, onCall);
    await runs.add(provider, { capacity: 1 });
    return { runs, provider, run: runs.start(requestFor(P, { runId: "r" })) };
  }

  it("a run goes to a stream of Node that is slow, and waits until it has everything", async () => {
    const { run, provider } = await started();
    const stream = new PassThrough({ highWaterMark: 16 });
    const gate = run.to(ndjson(stream));
    provider.calls[0]!.emitter.emit({ kind: "delta", text: "0" });
    provider.calls[0]!.finish();
    let text = "";
    for await (const piece of stream.setEncoding("utf8")) text += piece;
    expect(readLines(text).map(({ kind }) => kind)).toEqual(["started", "delta", "complete"]);
    expect(await gate.done).toMatchObject({ delivered: true });
  });

  it.each(["", "a"])("breaks no character of a long record, wherever it is cut: %j", async (before) => {
    const text = before + "😀".repeat(20_000);
    const { run } = await started(({ emitter, finish }) => {
      emitter.emit({ kind: "delta", text });
      finish();
    });
    const pieces: string[] = [];
    const stream = new Writable({
      decodeStrings: false,
      write: (piece: string, _, done) => done(void pieces.push(piece)),
    });
    expect(await run.to(ndjson(stream)).done).toMatchObject({ delivered: true });
    expect(pieces.every((piece) => piece.length <= 16 * 1024 && Buffer.from(piece).toString() === piece)).toBe(true);
    expect(readLines(pieces.join(""))[1]).toEqual({ kind: "delta", text });
  });

  it.each([
    ["fails", (stream: Writable) => void stream.destroy(new Error("cable cut")), "the connection failed: cable cut"],
    [
      "is closed",
      (stream: Writable) => void stream.destroy(),
      "the client closed the connection before everything was sent",
    ],
  ])("a stream of Node that %s ends the run, before the gate was opened as well", async (_, act, message) => {
    const stream = new PassThrough();
    const { run } = await started();
    const gate = run.to(ndjson(stream));
    act(stream);
    expect(await gate.done).toMatchObject({ delivered: false, outcome: { kind: "disconnected", message } });
    const second = await started();
    expect(await second.run.to(ndjson(stream)).done).toMatchObject({ outcome: { kind: "disconnected" } });
    // As a late error of a socket: someone has to listen, or it would end the process.
    stream.emit("error", new Error("late"));
  });

  it("a stream that someone else ended takes no run", async () => {
    const stream = new PassThrough();
    stream.end();
    const { run } = await started();
    expect(await run.to(ndjson(stream)).done).toMatchObject({
      outcome: { kind: "disconnected", message: "the stream was ended by someone else" },
    });
  });

  it("writes nothing to a stream that failed while a message waited", async () => {
    const pieces: string[] = [];
    const stream = new Writable({
      highWaterMark: 1,
      decodeStrings: false,
      write(piece: string, _, done) {
        pieces.push(piece);
        if (pieces.length === 1) setImmediate(() => done(new Error("full disk")));
      },
    });
    const { run, provider } = await started();
    const gate = run.to(ndjson(stream));
    for (let i = 0; i < 10; i++) provider.calls[0]!.emitter.emit({ kind: "delta", text: `${i}` });
    expect(await gate.done).toMatchObject({
      outcome: { kind: "disconnected", message: "the connection failed: full disk" },
    });
    await settled();
    expect(pieces).toHaveLength(1);
  });

  it("a run goes to a stream of the web platform, whose reader slows the provider down", async () => {
    const flood = pausing();
    const runs = new ProviderRuns({ clock: new TestClock() });
    await runs.add(flood, { capacity: 1 });
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const gate = runs.start(requestFor(P, { runId: "r" })).to(serverSentEvents(writable), { events: 64 });
    for (let i = 0; i < 20; i++) await settled();
    expect(flood.emitted).toBeLessThan(64);
    let text = "";
    for await (const piece of readable.pipeThrough(new TextDecoderStream())) text += piece;
    const events = readEvents(text);
    expect(numbersOf(events.map(({ data }) => data))).toEqual(upTo(COUNT));
    expect(events.at(-1)!.event).toBe("complete");
    expect(await gate.done).toMatchObject({ delivered: true });
  });

  it("refuses what is no stream, and says what is wanted", () => {
    for (const target of [undefined, null, {}, "x"]) {
      expect(() => serverSentEvents(target as never)).toThrow(
        expect.objectContaining({
          code: "AIRLOCK_PROVIDERS_GATE_INVALID",
          message: expect.stringMatching(/the target is .+, a Writable or a WritableStream is wanted$/),
        }),
      );
    }
  });

  it("ends the run when the reader of a web stream cancels, or its writer fails", async () => {
    const { run, runs } = await started();
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const gate = run.to(ndjson(writable));
    await readable.cancel(new Error("enough"));
    expect(await gate.done).toMatchObject({ delivered: false, outcome: { kind: "disconnected" } });
    expect(runs.stats().pools[P]!.inUse).toBe(0);
  });
});
