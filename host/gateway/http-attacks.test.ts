import { execFile } from "node:child_process";
import { getEventListeners } from "node:events";
import { createRequire } from "node:module";
import type { Socket } from "node:net";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConnectorError } from "./connector.ts";
import type { Resolver } from "./http-connection.ts";
import { type HttpConnectorOptions, httpConnectorOn } from "./http-connector.ts";
import { ask, askThroughChain, bodyText, codeOf } from "./test-connector-call.ts";
import { type Answering, answering, RawServer, sending } from "./test-raw-server.ts";

const PROGRAM = fileURLToPath(new URL("test-http-process.ts", import.meta.url));
const TSX = ["--import", pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href];

function connectorTo(
  port: number,
  options: Partial<HttpConnectorOptions> = {},
  resolve: Resolver = async () => ["127.0.0.1"],
) {
  return httpConnectorOn(
    { resolve, now: Date.now },
    { hosts: [{ host: "api.test", port, insecure: true, allowPrivate: ["127.0.0.1"] }], ...options },
  );
}

/** Writes as long as the other side reads. */
function writing(head: string, chunk: string): Answering {
  return (socket: Socket) => {
    socket.write(head);
    const more = (): void => {
      while (!socket.destroyed && socket.write(chunk)) {}
    };
    socket.on("drain", more);
    more();
  };
}

/** Writes one byte every few milliseconds, for ever. */
function dripping(head: string, text: string): Answering {
  return (socket: Socket) => {
    socket.write(head);
    const timer = setInterval(() => socket.write(text), 5);
    socket.once("close", () => clearInterval(timer));
  };
}

describe("a hostile host", () => {
  it.each<[string, Answering, string]>([
    ["says nothing", () => {}, "timed-out"],
    ["sends its head byte by byte", dripping("HTTP/1.1 200 OK\r\nX-Slow: ", "a"), "timed-out"],
    ["sends its body byte by byte", dripping("HTTP/1.1 200 OK\r\n\r\n", "a"), "timed-out"],
    [
      "sends its trailers byte by byte",
      dripping("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ", "a"),
      "timed-out",
    ],
    [
      "sends part of what it announced, and waits",
      sending("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart", false),
      "timed-out",
    ],
  ])("that %s is left when time is over, and its socket closed", async (_, answer, code) => {
    await using server = await RawServer.start(answer);
    const connector = connectorTo(server.port, { totalMs: 150 });
    await expect(ask(connector, "get", { host: "api.test" })).rejects.toMatchObject({ code, retryable: true });
    await server.idle();
  });

  const many = (count: number) => Array.from({ length: count }, (_, index) => `X-${index}: a\r\n`).join("");
  it.each<[string, Answering, string]>([
    ["never ends its body", writing("HTTP/1.1 200 OK\r\n\r\n", "x".repeat(65_536)), "response-too-large"],
    [
      "never ends its chunks",
      writing("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", `10000\r\n${"x".repeat(65_536)}\r\n`),
      "response-too-large",
    ],
    [
      "announces too long a body",
      sending("HTTP/1.1 200 OK\r\nContent-Length: 1000001\r\n\r\n", false),
      "response-too-large",
    ],
    [
      "announces more than a number holds",
      sending(`HTTP/1.1 200 OK\r\nContent-Length: ${"9".repeat(400)}\r\n\r\n`, false),
      "invalid-response",
    ],
    ["never ends a header", writing("HTTP/1.1 200 OK\r\nX-Long: ", "a".repeat(65_536)), "response-too-large"],
    ["never ends its headers", writing("HTTP/1.1 200 OK\r\n", many(1_000)), "response-too-large"],
    ["sends more headers than fit", sending(`HTTP/1.1 200 OK\r\n${many(5_000)}\r\n`, false), "response-too-large"],
    [
      "never ends its trailers",
      writing("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", many(1_000)),
      "response-too-large",
    ],
    ["never ends its reason", writing("HTTP/1.1 200 ", "a".repeat(65_536)), "response-too-large"],
    [
      "answers 103 for ever",
      writing("", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n".repeat(100)),
      "invalid-response",
    ],
    ["answers 100 for ever", writing("", "HTTP/1.1 100 Continue\r\n\r\n".repeat(100)), "invalid-response"],
    [
      "changes the protocol",
      sending("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", false),
      "invalid-response",
    ],
    ["speaks no HTTP", sending("SSH-2.0-OpenSSH_9.6\r\n", false), "invalid-response"],
    ["speaks an old HTTP without a head", sending("hello\n", false), "invalid-response"],
    [
      "says two lengths",
      sending("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", false),
      "invalid-response",
    ],
    [
      "says a length and chunks",
      sending("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false),
      "invalid-response",
    ],
    [
      "sends a chunk of no size",
      sending("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", false),
      "invalid-response",
    ],
    [
      "ends a chunk too late",
      sending("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n", false),
      "invalid-response",
    ],
    ["has a header with a line in it", sending("HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n", false), "invalid-response"],
    ["closes at once", (socket) => socket.destroy(), "connection-failed"],
    ["resets the connection", (socket) => socket.resetAndDestroy(), "connection-failed"],
    ["closes in its head", sending("HTTP/1.1 200 OK\r\nX-A"), "connection-failed"],
    ["closes in its body", sending("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart"), "connection-failed"],
    [
      "closes in its chunks",
      sending("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\npart"),
      "connection-failed",
    ],
    [
      "closes before the last chunk",
      sending("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n"),
      "connection-failed",
    ],
    [
      "compresses its answer",
      answering("200 OK", ["Content-Encoding: gzip"], gzipSync("x").toString("latin1")),
      "invalid-response",
    ],
    ["compresses its answer twice", answering("200 OK", ["Content-Encoding: identity, br"], "x"), "invalid-response"],
  ])("that %s gets no answer through", async (_, answer, code) => {
    await using server = await RawServer.start(answer);
    const connector = connectorTo(server.port, { responseBytes: 1_000_000 });
    expect(await codeOf(ask(connector, "get", { host: "api.test" }, { responseBytes: 4_000_000 }))).toBe(code);
    await server.idle();
  });

  it("that sends more than it announced cannot slip in a second answer", async () => {
    await using server = await RawServer.start(
      sending(
        "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
      ),
    );
    const text = await ask(connectorTo(server.port), "get", { host: "api.test" }).then(
      bodyText,
      (thrown) => thrown.code,
    );
    expect(["ok", "invalid-response"]).toContain(text);
    await server.idle();
  });

  it("that closes right after a whole answer is heard to its end", async () => {
    await using server = await RawServer.start(sending(`HTTP/1.1 200 OK\r\n\r\n${"x".repeat(500_000)}`));
    const connector = connectorTo(server.port);
    for (let turn = 0; turn < 20; turn++) {
      const response = await ask(connector, "get", { host: "api.test" }, { responseBytes: 1_000_000 });
      expect(bodyText(response)).toHaveLength(500_000);
    }
  });

  it("may answer with exactly as many bytes as the guest has room for, and with no more", async () => {
    await using server = await RawServer.start(answering("200 OK", [], ""));
    const connector = connectorTo(server.port);
    const lengths = { fits: 0, past: 0 };
    for (let length = 48_700; length < 49_152 && lengths.past === 0; length++) {
      server.answer = answering("200 OK", [], "x".repeat(length));
      const answer = await askThroughChain(connector, "get", { host: "api.test" });
      if (answer.kind === "response") lengths.fits = length;
      else {
        lengths.past = length;
        expect(answer).toMatchObject({ failureClass: "execution_failed", code: "response-too-large" });
      }
    }
    expect(lengths.past).toBe(lengths.fits + 1);
  });
});

describe("the end of a run", () => {
  it.each<[string, Answering]>([
    ["before the head", () => {}],
    ["in the body", sending("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart", false)],
  ])("closes the socket at once, %s", async (_, answer) => {
    const run = new AbortController();
    await using server = await RawServer.start((socket, request) => {
      answer(socket, request);
      setImmediate(() => run.abort());
    });
    const asked = ask(connectorTo(server.port), "get", { host: "api.test" }, { signal: run.signal });
    expect(await codeOf(asked)).toBe("run-ended");
    await server.idle();
  });

  it("ends a call whose name is still being resolved, and one that has not begun", async () => {
    const run = new AbortController();
    await using trap = await RawServer.start(answering("200 OK", []));
    const connector = connectorTo(trap.port, {}, () => {
      run.abort();
      return new Promise(() => {});
    });
    expect(await codeOf(ask(connector, "get", { host: "api.test" }, { signal: run.signal }))).toBe("run-ended");
    expect(await codeOf(ask(connectorTo(trap.port), "get", { host: "api.test" }, { signal: run.signal }))).toBe(
      "run-ended",
    );
    expect(trap.connections).toBe(0);
  });

  it("leaves no listener on the signal, which lives longer than a call", async () => {
    const { signal } = new AbortController();
    await using server = await RawServer.start(answering("200 OK", []));
    await ask(connectorTo(server.port), "get", { host: "api.test" }, { signal });
    server.answer = (socket) => socket.destroy();
    await codeOf(ask(connectorTo(server.port), "get", { host: "api.test" }, { signal }));
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("bounds a call by the deadline, and one that is past it asks nobody", async () => {
    await using server = await RawServer.start(() => {});
    const patient = connectorTo(server.port, { totalMs: 600_000 });
    const soon = ask(patient, "get", { host: "api.test" }, { deadline: Date.now() + 100 });
    expect(await codeOf(soon)).toBe("timed-out");
    const connections = server.connections;
    expect(await codeOf(ask(connectorTo(server.port), "get", { host: "api.test" }, { deadline: Date.now() - 1 }))).toBe(
      "timed-out",
    );
    expect(server.connections).toBe(connections);
  });

  it("is not waited for by a resolver or a handshake that takes too long", async () => {
    const never: Resolver = () => new Promise(() => {});
    expect(await codeOf(ask(connectorTo(1, { connectMs: 20 }, never), "get", { host: "api.test" }))).toBe("timed-out");
    await using server = await RawServer.start(() => {});
    const connector = httpConnectorOn(
      { resolve: async () => ["127.0.0.1"], now: Date.now },
      { hosts: [{ host: "api.test", port: server.port, allowPrivate: true }], connectMs: 50 },
    );
    expect(await codeOf(ask(connector, "get", { host: "api.test" }))).toBe("timed-out");
    await server.idle();
  });
});

describe("a process with proxies in its environment", () => {
  it("goes to the host itself, and no proxy hears of it", async () => {
    await using proxy = await RawServer.start(answering("200 OK", [], "proxy"));
    proxy.greeting = "";
    await using server = await RawServer.start(answering("200 OK", [], "direct"));
    const url = `http://127.0.0.1:${proxy.port}`;
    const names = [
      "HTTP_PROXY",
      "HTTPS_PROXY",
      "ALL_PROXY",
      "http_proxy",
      "https_proxy",
      "all_proxy",
      "npm_config_proxy",
    ];
    const env = {
      ...process.env,
      ...Object.fromEntries(names.map((name) => [name, url])),
      NODE_USE_ENV_PROXY: "1",
      NO_PROXY: "",
      no_proxy: "",
    };
    const { stdout } = await promisify(execFile)(process.execPath, [...TSX, PROGRAM, `${server.port}`], { env });
    expect(stdout).toBe("direct");
    expect(proxy.connections).toBe(0);
    expect(server.connections).toBe(1);
  });
});

describe("a hostile guest", () => {
  it("reaches no server but those of the list, and what it sends is one request", async () => {
    await using trap = await RawServer.start(answering("200 OK", []), { host: "::" });
    await using server = await RawServer.start((socket, request) =>
      answering("200 OK", [], request.startsWith("HEAD") ? "" : "x".repeat(1_000))(socket, request),
    );
    const connector = connectorTo(server.port, { responseBytes: 1_000, requestBytes: 100 });
    const bait = fc.constantFrom(
      "api.test",
      "127.0.0.1",
      `127.0.0.1:${trap.port}`,
      `api.test:${trap.port}`,
      `api.test@127.0.0.1:${trap.port}`,
      `[::1]:${trap.port}`,
      "0x7f.1",
      `\r\nHost: 127.0.0.1:${trap.port}\r\n`,
      `\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n`,
      `http:%2f%2f127.0.0.1:${trap.port}`,
      "..",
      "%2e%2e",
      "\0",
    );
    const hostile = fc.oneof(
      bait,
      fc.string({ unit: "binary" }),
      fc.tuple(bait, bait).map(([a, b]) => a + b),
    );
    const harmless = fc.constantFrom("v1", "a b", "ü", "x=y&z", "100%");
    const text = fc.oneof({ weight: 8, arbitrary: harmless }, { weight: 1, arbitrary: hostile });
    const name = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom("x-a", "accept", "X-B") },
      { weight: 1, arbitrary: fc.oneof(hostile, fc.constantFrom("Transfer-Encoding", "connection", "content_length")) },
    );
    const value = fc.oneof({ weight: 4, arbitrary: fc.constant("a") }, { weight: 1, arbitrary: hostile });
    const rarely = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 1 });
    const payload = fc.record({
      host: fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom("api.test", "API.TEST") },
        { weight: 1, arbitrary: hostile },
      ),
      segments: rarely(fc.array(text, { maxLength: 4 })),
      query: rarely(
        fc.dictionary(text, fc.oneof(text, fc.integer(), fc.array(text, { maxLength: 3 })), { maxKeys: 3 }),
      ),
      headers: rarely(fc.dictionary(name, value, { maxKeys: 2 })),
      body: rarely(fc.oneof(fc.base64String({ maxLength: 200 }), hostile)),
      extra: fc.oneof({ weight: 20, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.jsonValue() }),
    });
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("get", "post", "post", "head", "delete", "delete", "GET", "trace"),
        payload,
        async (operation, asked) => {
          const before = server.requests.length;
          const json = JSON.parse(JSON.stringify(asked)) as unknown;
          try {
            const response = await ask(connector, operation, json);
            answered += 1;
            expect(bodyText(response).length).toBeLessThanOrEqual(1_000);
          } catch (thrown) {
            if (!(thrown instanceof ConnectorError)) throw thrown;
            expect(thrown.code).toMatch(/^(invalid-request|host-not-allowed|method-not-allowed)$/);
          }
          for (const request of server.requests.slice(before)) {
            expect(request).toMatch(/^(GET|POST|HEAD|DELETE) \/[!-~]* HTTP\/1\.1\r\nhost: api\.test:\d+\r\n/);
            expect(request.split("\r\n\r\n")[0]!.match(/\r\nhost:/gi)).toHaveLength(1);
            expect(request).not.toMatch(/transfer-encoding/i);
          }
        },
      ),
      { numRuns: 500 },
    );
    expect(answered).toBeGreaterThan(10);
    expect(server.requests).toHaveLength(answered);
    expect(trap.connections).toBe(0);
  });
});
