import { generate } from "selfsigned";
import { describe, expect, it } from "vitest";
import type { Resolver } from "./http-connection.ts";
import { type HttpConnectorOptions, httpConnector, httpConnectorOn } from "./http-connector.ts";
import type { HttpHost } from "./http-hosts.ts";
import { ask, askThroughChain, bodyText, codeOf } from "./test-connector-call.ts";
import { answering, RawServer } from "./test-raw-server.ts";

const LOOPBACK: Resolver = async () => ["127.0.0.1"];

function connectorTo(
  port: number,
  host: Partial<HttpHost> = {},
  resolve = LOOPBACK,
  options: Partial<HttpConnectorOptions> = {},
) {
  return httpConnectorOn(
    { resolve, now: Date.now },
    { hosts: [{ host: "api.test", port, insecure: true, allowPrivate: true, ...host }], ...options },
  );
}

describe("httpConnector()", () => {
  it("asks the host and answers with status, listed headers and body", async () => {
    await using server = await RawServer.start(
      answering(
        "404 Not Found",
        ["Content-Type: text/plain", "ETag: W/1", "Location: x", "Set-Cookie: a=b", "X-Other: y"],
        "nothing",
      ),
    );
    const response = await ask(connectorTo(server.port), "get", {
      host: "API.test",
      segments: ["a", "b c"],
      query: { q: 1 },
    });
    expect(response).toEqual({
      resultClass: "success",
      payload: {
        status: 404,
        headers: { "content-type": "text/plain", "content-length": "7", etag: "W/1" },
        body: Buffer.from("nothing").toString("base64"),
      },
    });
    expect(server.requests).toEqual([
      `GET /a/b%20c?q=1 HTTP/1.1\r\nhost: api.test:${server.port}\r\naccept-encoding: identity\r\nconnection: close\r\n\r\n`,
    ]);
  });

  it.each(["post", "put", "patch", "delete"])("sends a body with %s, and says how long it is", async (operation) => {
    await using server = await RawServer.start(answering("200 OK", []));
    const connector = connectorTo(server.port);
    await ask(connector, operation, { host: "api.test", body: "aGVsbG8=", headers: { "content-type": "text/plain" } });
    expect(server.requests[0]).toMatch(new RegExp(`^${operation.toUpperCase()} / HTTP/1\\.1\r\n`));
    expect(server.requests[0]).toMatch(/\r\ncontent-length: 5\r\ncontent-type: text\/plain\r\n\r\nhello$/);
    expect(server.requests[0]).not.toMatch(/transfer-encoding/i);
  });

  it("says that a post without a body has none", async () => {
    await using server = await RawServer.start(answering("200 OK", []));
    await ask(connectorTo(server.port), "post", { host: "api.test" });
    expect(server.requests[0]).toMatch(/\r\ncontent-length: 0\r\n\r\n$/);
  });

  it("answers head without a body, whatever length the host tells", async () => {
    await using server = await RawServer.start((socket) =>
      socket.end("HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n"),
    );
    const { payload } = await ask(connectorTo(server.port), "head", { host: "api.test" });
    expect(payload).toEqual({ status: 200, headers: { "content-length": "99999999" }, body: "" });
  });

  it("adds the application's headers for the host, and shows them in no answer and no error", async () => {
    await using server = await RawServer.start((socket) => socket.end("rubbish"));
    const connector = connectorTo(server.port, { headers: { Authorization: "Bearer s3cret" } });
    const error = await ask(connector, "get", { host: "api.test" }).catch((thrown: Error) => thrown);
    expect(server.requests[0]).toContain("\r\nauthorization: Bearer s3cret\r\n");
    expect(error).toMatchObject({ code: "invalid-response" });
    expect((error as Error).message).not.toMatch(/s3cret|authorization|127\.0|api\.test/i);
  });

  it("passes an answer through the whole chain, with a body that is no business of it", async () => {
    await using server = await RawServer.start(
      answering("200 OK", ["Content-Type: text/plain"], "https://example.com/ /etc/passwd"),
    );
    const answer = await askThroughChain(connectorTo(server.port), "get", { host: "api.test" });
    expect(answer).toMatchObject({ kind: "response", resultClass: "success" });
  });

  it("has the chain refuse a header that carries a URL, where the application lets it come back", async () => {
    await using server = await RawServer.start(answering("201 Created", ["Location: https://api.test/1"]));
    const connector = connectorTo(server.port, {}, LOOPBACK, { responseHeaders: ["Location"] });
    expect(await askThroughChain(connector, "post", { host: "api.test" })).toMatchObject({
      kind: "failure",
      failureClass: "unauthorized_output",
    });
    await using other = await RawServer.start(answering("201 Created", ["Location: https://api.test/1"]));
    expect(await askThroughChain(connectorTo(other.port), "post", { host: "api.test" })).toMatchObject({
      kind: "response",
    });
  });

  it("has the chain show no word of an error that names an address", async () => {
    const resolve: Resolver = async () => {
      throw new Error("getaddrinfo failed for https://10.0.0.1/");
    };
    expect(await askThroughChain(connectorTo(1, {}, resolve), "get", { host: "api.test" })).toMatchObject({
      failureClass: "execution_failed",
      code: "connection-failed",
      message: "The host's name could not be resolved",
      retryable: true,
    });
  });

  it("ends as retryable where nothing listens", async () => {
    const server = await RawServer.start(answering("200 OK", []));
    const { port } = server;
    await server[Symbol.asyncDispose]();
    const failed = ask(connectorTo(port), "get", { host: "api.test" });
    await expect(failed).rejects.toMatchObject({ code: "connection-failed", retryable: true });
  });

  it("gives every request a connection of its own, which it closes, for one grant and for two", async () => {
    await using server = await RawServer.start((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok");
    });
    const connectors = [connectorTo(server.port), connectorTo(server.port)];
    for (let turn = 0; turn < 3; turn++) {
      await Promise.all(connectors.map((connector) => ask(connector, "get", { host: "api.test" })));
    }
    expect(server.connections).toBe(6);
    expect(server.requests).toHaveLength(6);
    await server.idle();
  });

  it.each([
    [{}],
    [{ hosts: ["a.test"], timeout: 1 }],
    [{ hosts: ["a.test"], totalMs: 0 }],
    [{ hosts: ["a.test"], connectMs: 600_001 }],
    [{ hosts: ["a.test"], maxRedirects: 11 }],
    [{ hosts: ["a.test"], responseBytes: -1 }],
    [{ hosts: ["a.test"], requestBytes: 1.5 }],
    [{ hosts: ["a.test"], responseHeaders: ["a b"] }],
    [null],
  ])("refuses the options %j", (options) => {
    expect(() => httpConnector(options as unknown as HttpConnectorOptions)).toThrow(
      expect.objectContaining({ code: "AIRLOCK_GATEWAY_CONNECTOR_INVALID" }),
    );
  });
});

describe("the address of a host", () => {
  it("is asked for once, and the socket goes to what was checked, not to what the name leads to later", async () => {
    await using good = await RawServer.start(answering("200 OK", [], "good"), { host: "127.0.0.1" });
    await using trap = await RawServer.start(answering("200 OK", [], "trap"), { host: "127.0.0.2", port: good.port });
    let asked = 0;
    const rebinding: Resolver = async () => {
      asked += 1;
      return [asked === 1 ? "127.0.0.1" : "127.0.0.2"];
    };
    const connector = connectorTo(good.port, { allowPrivate: ["127.0.0.1"] }, rebinding);
    expect(bodyText(await ask(connector, "get", { host: "api.test" }))).toBe("good");
    expect(asked).toBe(1);
    expect(await codeOf(ask(connector, "get", { host: "api.test" }))).toBe("address-not-allowed");
    expect(trap.connections).toBe(0);
  });

  it("is asked for once at a time, however many calls wait for it or have given up", async () => {
    await using server = await RawServer.start(answering("200 OK", []));
    let asked = 0;
    let answer: (addresses: readonly string[]) => void = () => {};
    const slow: Resolver = () => {
      asked += 1;
      return new Promise((resolve) => {
        answer = resolve;
      });
    };
    const connector = connectorTo(server.port, {}, slow);
    const giveUp = async () => {
      const run = new AbortController();
      const gone = codeOf(ask(connector, "get", { host: "api.test" }, { signal: run.signal }));
      run.abort();
      expect(await gone).toBe("run-ended");
    };
    for (let turn = 0; turn < 3; turn++) await giveUp();
    expect(asked).toBe(1);
    const waiting = ask(connector, "get", { host: "api.test" });
    answer(["127.0.0.1"]);
    expect(await waiting).toMatchObject({ resultClass: "success" });
    await giveUp();
    expect(asked).toBe(2);
  });

  it.each([
    [["1.1.1.1", "127.0.0.1"]],
    [["127.0.0.1", "1.1.1.1"]],
    [["2606:4700::1111", "::ffff:127.0.0.1"]],
    [["1.1.1.1", "169.254.169.254"]],
    [["0.0.0.0"]],
    [["0x7f.1"]],
    [["127.1"]],
    [["fe80::1%lo"]],
    [["127.0.0.1:80"]],
    [Array.from({ length: 65 }, (_, index) => `1.1.1.${index}`)],
  ])("is refused as a whole for the candidates %j", async (candidates) => {
    await using trap = await RawServer.start(answering("200 OK", []), { host: "0.0.0.0" });
    const connector = connectorTo(trap.port, { allowPrivate: false }, async () => candidates);
    expect(await codeOf(ask(connector, "get", { host: "api.test" }))).toBe("address-not-allowed");
    expect(trap.connections).toBe(0);
  });

  it("is tried after another, of either family, where the first does not answer", async () => {
    await using server = await RawServer.start(answering("200 OK", [], "here"));
    const connector = connectorTo(server.port, {}, async () => ["::1", "127.0.0.9", "127.0.0.1"]);
    expect(bodyText(await ask(connector, "get", { host: "api.test" }))).toBe("here");
  });

  it("may be IPv6, and stands in brackets in the header host", async () => {
    await using server = await RawServer.start(answering("200 OK", [], "six"), { host: "::1" });
    const connector = connectorTo(server.port, { host: "::1" }, async () => {
      throw new Error("no name to resolve");
    });
    expect(bodyText(await ask(connector, "get", { host: "[0:0::1]" }))).toBe("six");
    expect(server.requests[0]).toContain(`\r\nhost: [::1]:${server.port}\r\n`);
  });

  it.each(["127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0", "::"])(
    "is judged as well where the host is the address %s",
    async (host) => {
      await using trap = await RawServer.start(answering("200 OK", []), { host: "::" });
      const connector = connectorTo(trap.port, { host, allowPrivate: false });
      expect(await codeOf(ask(connector, "get", { host }))).toBe("address-not-allowed");
      expect(trap.connections).toBe(0);
    },
  );

  it("is looked up by the system for a host of the list", async () => {
    await using server = await RawServer.start(answering("200 OK", [], "by name"));
    const listed = { host: "localhost", port: server.port, insecure: true };
    const allowed = httpConnector({ hosts: [{ ...listed, allowPrivate: true }] });
    expect(bodyText(await ask(allowed, "get", { host: "localhost" }))).toBe("by name");
    const refused = httpConnector({ hosts: [listed] });
    expect(await codeOf(ask(refused, "get", { host: "localhost" }))).toBe("address-not-allowed");
    expect(server.connections).toBe(1);
  });
});

describe("HTTPS", () => {
  const secured = async () => {
    const authority = await generate([{ name: "commonName", value: "Authority" }], {
      extensions: [
        { name: "basicConstraints", cA: true, critical: true },
        { name: "keyUsage", keyCertSign: true, critical: true },
      ],
    });
    const own = await generate([{ name: "commonName", value: "api.test" }], {
      ca: { key: authority.private, cert: authority.cert },
      extensions: [
        {
          name: "subjectAltName",
          altNames: [
            { type: 2, value: "api.test" },
            { type: 7, ip: "127.0.0.1" },
          ],
        },
      ],
    });
    return { ca: authority.cert, tls: { key: own.private, cert: own.cert } };
  };

  it("is spoken with who has a trusted certificate for the name, and the server hears the name", async () => {
    const { ca, tls } = await secured();
    let heard: unknown;
    const answer = answering("200 OK", [], "safe");
    await using server = await RawServer.start(
      (socket, request) => {
        heard = (socket as { servername?: unknown }).servername;
        answer(socket, request);
      },
      { tls },
    );
    const connector = connectorTo(server.port, { insecure: false, ca });
    expect(bodyText(await ask(connector, "get", { host: "api.test" }))).toBe("safe");
    expect(heard).toBe("api.test");
    expect(server.requests[0]).toContain(`\r\nhost: api.test:${server.port}\r\n`);
    const byAddress = connectorTo(server.port, { host: "127.0.0.1", insecure: false, ca });
    expect(bodyText(await ask(byAddress, "get", { host: "127.0.0.1" }))).toBe("safe");
    expect(heard).toBe(false);
  });

  it("is not spoken with who has none: not even where the environment of the process does not care", async () => {
    const { ca, tls } = await secured();
    await using server = await RawServer.start(answering("200 OK", []), { tls });
    const before = process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
    try {
      const unknown = connectorTo(server.port, { insecure: false });
      await expect(ask(unknown, "get", { host: "api.test" })).rejects.toMatchObject({
        code: "host-not-trusted",
        retryable: false,
      });
      const misnamed = connectorTo(server.port, { host: "other.test", insecure: false, ca });
      await expect(ask(misnamed, "get", { host: "other.test" })).rejects.toMatchObject({ code: "host-not-trusted" });
    } finally {
      if (before === undefined) delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
      else process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = before;
    }
    expect(server.requests).toEqual([]);
  });

  it("is the default: a host that speaks plain HTTP gets no request", async () => {
    await using server = await RawServer.start(answering("200 OK", []));
    server.greeting = "HTTP/1.1 400 Bad Request\r\n\r\n";
    const hosts = [{ host: "api.test", port: server.port, allowPrivate: true }];
    const connector = httpConnectorOn({ resolve: LOOPBACK, now: Date.now }, { hosts });
    expect(await codeOf(ask(connector, "get", { host: "api.test" }))).toBe("connection-failed");
    expect(server.requests).toEqual([]);
  });
});
