import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, get, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { createParser } from "eventsource-parser";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  createHost,
  type GateBounds,
  type Host,
  parseManifest,
  type Run,
  type RunEvent,
  SERVER_SENT_EVENTS,
  type StreamGate,
  serverSentEvents,
} from "../index.ts";

/** Emits so many events of so many bytes; then it answers, or spins for ever. */
const GUEST = `(component
  (import "airlock:capability/events@1.0.0" (instance $events
    (type $error' (variant
      (case "invalid-payload" string)
      (case "undeclared-event") (case "not-subscribable") (case "too-large") (case "budget-exhausted")))
    (export "event-error" (type $error (eq $error')))
    (export "emit-event" (func
      (param "event-type" string) (param "version" string) (param "payload" string)
      (result (result (error $error)))))))
  (core module $libc
    (memory (export "memory") 8)
    (data (i32.const 0) "beat1.0.0")
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024)))
  (core instance $libc (instantiate $libc))
  (core func $emit (canon lower (func $events "emit-event")
    (memory (core memory $libc "memory")) (realloc (core func $libc "realloc"))))
  (core module $m
    (import "libc" "memory" (memory 8))
    (import "host" "emit" (func $emit (param i32 i32 i32 i32 i32 i32 i32)))
    (func $beat (export "beat") (param $count i32) (param $length i32) (result i32) (local $done i32)
      ;; A JSON string.
      (memory.fill (i32.const 2048) (i32.const 120) (local.get $length))
      (i32.store8 (i32.const 2048) (i32.const 34))
      (i32.store8 (i32.add (i32.const 2047) (local.get $length)) (i32.const 34))
      (loop $again
        (call $emit (i32.const 0) (i32.const 4) (i32.const 4) (i32.const 5) (i32.const 2048) (local.get $length) (i32.const 64))
        (local.set $done (i32.add (local.get $done) (i32.const 1)))
        (br_if $again (i32.lt_u (local.get $done) (local.get $count))))
      (local.get $done))
    (func (export "spin") (param i32 i32)
      (drop (call $beat (local.get 0) (local.get 1)))
      (loop $again (br $again))))
  (core instance $m (instantiate $m
    (with "libc" (instance $libc))
    (with "host" (instance (export "emit" (func $emit))))))
  (func (export "beat") (param "count" u32) (param "length" u32) (result u32) (canon lift (core func $m "beat")))
  (func (export "spin") (param "count" u32) (param "length" u32) (canon lift (core func $m "spin"))))`;

/** More than a kernel holds for a reader that reads nothing. */
const FLOOD = { count: 1_000, length: 60_000 };

interface Served {
  readonly run: Run;
  readonly gate: StreamGate;
}

let host: Host;
let server: Server;
let next: { operation: string; input: unknown; bounds: GateBounds; answer: (served: Served) => void };

beforeAll(async () => {
  host = await createHost({ threads: 1 });
  const component = await parse(GUEST);
  const sha256 = createHash("sha256").update(component).digest("hex");
  const manifest = {
    id: "test.beats",
    version: "1.0.0",
    component: "component.wasm",
    sha256,
    serviceType: "subscribable",
    emits: [{ type: "beat", version: "1.0.0" }],
    imports: ["airlock:capability/events@1.0.0"],
    limits: {
      fuel: 50_000_000_000,
      wallMs: 60_000,
      hostCalls: 100_000,
      hostBytesOut: 268_435_456,
      eventTotalBytes: 67_108_864,
    },
  };
  await host.install({ manifest: parseManifest(JSON.stringify(manifest), "beats"), component });
  server = createServer((_, response) => {
    response.writeHead(200, SERVER_SENT_EVENTS.headers);
    const run = host.run("test.beats", next.input, { operation: next.operation });
    next.answer({ run, gate: run.to(serverSentEvents(response), next.bounds) });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(() => server.closeAllConnections());
afterAll(async () => {
  server.close();
  await host.close();
});

describe("a component's run, streamed to a client of HTTP", () => {
  it("reaches a client that reads: every event in order, the ending last", async () => {
    const served = serve("beat", { count: 20, length: 30 });
    const response = await ask();
    let text = "";
    for await (const piece of response) text += String(piece);
    expect(response.headers["content-type"]).toContain("text/event-stream");
    const events = readEvents(text);
    expect(events.map(({ kind }) => kind)).toEqual(["started", ...Array(20).fill("event"), "complete"]);
    expect(events.at(-1)).toMatchObject({ outcome: { kind: "succeeded", output: 20, events: { accepted: 20 } } });
    expect(await (await served).gate.done).toMatchObject({ delivered: true });
  });

  it("ends as disconnected when the client leaves in the middle, and its thread serves the next run", async () => {
    const served = serve("spin", { count: 3, length: 30 });
    const response = await ask();
    // The guest has said all and spins by now, or soon.
    await once(response, "data");
    response.destroy();
    const { gate } = await served;
    const { delivered, outcome } = await gate.done;
    expect({ delivered, outcome }).toMatchObject({
      delivered: false,
      outcome: { kind: "disconnected", message: "the client closed the connection before everything was sent" },
    });
    await serves();
  });

  it.each<[string, GateBounds]>([
    ["unreadEvents", { events: 8 }],
    ["unreadBytes", { bytes: 512 * 1024 }],
  ])(
    "ends as over-budget (%s) when the client stops to read; what was taken before still goes out",
    async (limit, bounds) => {
      const served = serve("beat", FLOOD, bounds);
      const socket = await deafClient();
      const { run, gate } = await served;
      expect(await run.outcome).toMatchObject({ kind: "over-budget", limit });
      const { mostUnreadEvents, mostUnreadBytes } = gate.stats();
      expect(mostUnreadEvents).toBeLessThanOrEqual(bounds.events ?? 4_096);
      expect(mostUnreadBytes).toBeLessThanOrEqual(bounds.bytes ?? 4 * 1024 * 1024);
      await serves();

      const events = readEvents(await bodyOf(socket));
      expect(events[0]).toMatchObject({ kind: "started" });
      expect(events.slice(1, -1).every(({ kind }) => kind === "event")).toBe(true);
      expect(events.at(-1)).toMatchObject({
        kind: "error",
        failure: "over_budget",
        outcome: { kind: "over-budget", limit },
      });
      expect(await gate.done).toMatchObject({ delivered: true });
    },
  );
});

/** What the next request is answered with. */
function serve(operation: string, input: unknown, bounds: GateBounds = {}): Promise<Served> {
  return new Promise((answer) => {
    next = { operation, input, bounds, answer };
  });
}

/** The one thread runs again, and no slot is kept. */
async function serves(): Promise<void> {
  const { outcome } = host.run("test.beats", { count: 1, length: 30 }, { operation: "beat" });
  expect(await outcome).toMatchObject({ kind: "succeeded", output: 1 });
  expect(host.stats()).toMatchObject({ runsInFlight: 0, slots: { threads: { inUse: 0, waiting: 0 } } });
}

function port(): number {
  return (server.address() as AddressInfo).port;
}

async function ask(): Promise<IncomingMessage> {
  const [response] = await once(get({ port: port(), host: "127.0.0.1", agent: false }), "response");
  return (response as IncomingMessage).setEncoding("utf8");
}

/** A client that asks and then reads nothing. */
async function deafClient(): Promise<Socket> {
  const socket = connect(port(), "127.0.0.1").pause();
  await once(socket, "connect");
  socket.write("GET / HTTP/1.0\r\n\r\n");
  return socket;
}

async function bodyOf(socket: Socket): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of socket) pieces.push(piece as Buffer);
  const text = Buffer.concat(pieces).toString();
  return text.slice(text.indexOf("\r\n\r\n") + 4);
}

function readEvents(text: string): readonly RunEvent[] {
  const read: RunEvent[] = [];
  createParser({ onEvent: ({ data }) => void read.push(JSON.parse(data) as RunEvent) }).feed(text);
  return read;
}
