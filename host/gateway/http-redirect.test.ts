import { describe, expect, it } from "vitest";
import { httpConnectorOn } from "./http-connector.ts";
import { type HttpHost, hostRules } from "./http-hosts.ts";
import { redirected } from "./http-redirect.ts";
import { ask, bodyText, codeOf } from "./test-connector-call.ts";
import { answering, RawServer } from "./test-raw-server.ts";

const ground = { resolve: async () => ["127.0.0.1"], now: Date.now };

function connectorTo(hosts: readonly HttpHost[], maxRedirects = 3) {
  return httpConnectorOn(ground, {
    hosts: hosts.map((host) => ({ insecure: true, allowPrivate: true, ...host })),
    maxRedirects,
  });
}

describe("a redirect", () => {
  it("is followed on the same host, by a URL, a path or a query alone", async () => {
    await using server = await RawServer.start((socket, request) => {
      const [, target = ""] = /^GET (\S+) /.exec(request) ?? [];
      const next: Record<string, string> = {
        "/a": `http://API.test:${server.port}/b/../c?x=1#y`,
        "/c?x=1": "d",
        "/d": "?last",
      };
      const location = next[target];
      answering(
        location === undefined ? "200 OK" : "302 Found",
        location === undefined ? [] : [`Location: ${location}`],
        target,
      )(socket, request);
    });
    const response = await ask(connectorTo([{ host: "api.test", port: server.port }]), "get", {
      host: "api.test",
      segments: ["a"],
    });
    expect(bodyText(response)).toBe("/d?last");
    expect(server.connections).toBe(4);
  });

  it("is an answer like any other where none is followed, or where it says no place", async () => {
    await using server = await RawServer.start(answering("302 Found", ["Location: /b"]));
    const { payload } = await ask(connectorTo([{ host: "api.test", port: server.port }], 0), "get", {
      host: "api.test",
    });
    expect(payload).toMatchObject({ status: 302 });
    server.answer = answering("302 Found", []);
    expect(
      (await ask(connectorTo([{ host: "api.test", port: server.port }]), "get", { host: "api.test" })).payload,
    ).toMatchObject({
      status: 302,
    });
  });

  it("that leads round and round ends after as many as are followed", async () => {
    await using server = await RawServer.start(answering("307 Temporary Redirect", ["Location: /"]));
    expect(await codeOf(ask(connectorTo([{ host: "api.test", port: server.port }]), "get", { host: "api.test" }))).toBe(
      "redirect-not-allowed",
    );
    expect(server.connections).toBe(4);
  });

  it.each([
    ["http://169.254.169.254/latest/meta-data/", "redirect-not-allowed"],
    ["http://127.0.0.1:TRAP/", "redirect-not-allowed"],
    ["http://0x7f.1:TRAP/", "redirect-not-allowed"],
    ["http://[::1]:TRAP/", "redirect-not-allowed"],
    ["//other.test:TRAP/", "redirect-not-allowed"],
    ["http://api.test:TRAP/", "redirect-not-allowed"],
    ["http://api.test/", "redirect-not-allowed"],
    ["http://api.test.:OWN/", "redirect-not-allowed"],
    ["http://user:pw@api.test:OWN/", "redirect-not-allowed"],
    ["http://user@api.test:OWN/", "redirect-not-allowed"],
    ["http://:pw@api.test:OWN/", "redirect-not-allowed"],
    ["https://api.test:OWN/", "redirect-not-allowed"],
    ["https://safe.test:TRAP@evil.test/", "redirect-not-allowed"],
    ["http://safe.test:TRAP/", "insecure-not-allowed"],
    ["ftp://api.test/", "redirect-not-allowed"],
    ["file:///etc/passwd", "redirect-not-allowed"],
    ["data:text/plain,hello", "redirect-not-allowed"],
    ["http://[", "redirect-not-allowed"],
    [`/${"x".repeat(9_000)}`, "redirect-not-allowed"],
    ["http://private.test:TRAP/", "address-not-allowed"],
  ])("to %s is refused", async (location, code) => {
    await using trap = await RawServer.start(answering("200 OK", []), { host: "::" });
    await using server = await RawServer.start((socket, request) => {
      const to = location.replace("TRAP", `${trap.port}`).replace("OWN", `${server.port}`);
      answering("302 Found", [`Location: ${to}`])(socket, request);
    });
    const connector = connectorTo([
      { host: "api.test", port: server.port },
      { host: "safe.test", port: trap.port, insecure: false },
      { host: "private.test", port: trap.port, allowPrivate: false },
    ]);
    const asked = ask(connector, "get", { host: "api.test" });
    await expect(asked).rejects.toMatchObject({ code });
    const { message } = (await asked.catch((thrown: Error) => thrown)) as Error;
    expect(message).not.toMatch(/:\/\/|\d\d\.|test|passwd/);
    expect(trap.connections).toBe(0);
    expect(server.connections).toBe(1);
  });

  it("from HTTPS to plain HTTP is refused even where the list has that host as insecure", () => {
    const hosts = hostRules(["safe.test", { host: "plain.test", insecure: true }]);
    const request = {
      method: "GET",
      host: hosts.get("safe.test")!,
      target: "/",
      headers: new Map(),
      body: null,
    } as const;
    expect(() => redirected(request, 302, "http://plain.test/", hosts)).toThrow(
      expect.objectContaining({ code: "insecure-not-allowed" }),
    );
    expect(redirected(request, 302, "https://safe.test:443/x", hosts)).toMatchObject({ target: "/x" });
    expect(() => redirected(request, 302, "https://plain.test/", hosts)).toThrow(
      expect.objectContaining({ code: "redirect-not-allowed" }),
    );
  });

  it("to another host of the list takes along no secret, no body and none of what was meant for the first", async () => {
    await using second = await RawServer.start(answering("200 OK", [], "second"));
    await using first = await RawServer.start((socket, request) =>
      answering("302 Found", [`Location: http://b.test:${second.port}/x`])(socket, request),
    );
    const connector = connectorTo([
      { host: "a.test", port: first.port, headers: { authorization: "Bearer first" } },
      { host: "b.test", port: second.port, headers: { "x-api-key": "second" } },
    ]);
    const response = await ask(connector, "post", {
      host: "a.test",
      body: "aGVsbG8=",
      headers: { accept: "text/plain", cookie: "a=b", "x-token": "t", "content-type": "text/plain" },
    });
    expect(bodyText(response)).toBe("second");
    expect(first.requests[0]).toContain("authorization: Bearer first");
    expect(second.requests).toEqual([
      `GET /x HTTP/1.1\r\nhost: b.test:${second.port}\r\naccept-encoding: identity\r\nconnection: close\r\naccept: text/plain\r\nx-api-key: second\r\n\r\n`,
    ]);
  });

  it("to another host is refused where the body or the method would have to go along", async () => {
    await using trap = await RawServer.start(answering("200 OK", []));
    await using server = await RawServer.start((socket, request) =>
      answering("307 Temporary Redirect", [`Location: http://b.test:${trap.port}/`])(socket, request),
    );
    const connector = connectorTo([
      { host: "a.test", port: server.port },
      { host: "b.test", port: trap.port, methods: ["GET", "POST"] },
    ]);
    expect(await codeOf(ask(connector, "post", { host: "a.test", body: "aGk=" }))).toBe("redirect-not-allowed");
    expect(await codeOf(ask(connector, "delete", { host: "a.test" }))).toBe("redirect-not-allowed");
    expect(trap.connections).toBe(0);
  });

  it("keeps body and method with 307 on the same host, and neither with 303", async () => {
    await using server = await RawServer.start((socket, request) => {
      const status = request.startsWith("PUT /a ") ? "307 Temporary Redirect" : "303 See Other";
      const answer = /^PUT /.test(request)
        ? answering(status, [`Location: /${status.slice(0, 3)}`])
        : answering("200 OK", []);
      answer(socket, request);
    });
    const connector = connectorTo([{ host: "a.test", port: server.port, headers: { authorization: "Bearer own" } }]);
    await ask(connector, "put", {
      host: "a.test",
      segments: ["a"],
      body: "aGk=",
      headers: { "content-type": "text/plain" },
    });
    expect(server.requests.map((request) => request.split(" HTTP")[0])).toEqual(["PUT /a", "PUT /307", "GET /303"]);
    expect(server.requests[1]).toMatch(/authorization: Bearer own\r\n\r\nhi$/);
    expect(server.requests[2]).not.toMatch(/content-/);
    expect(server.requests[2]).toContain("authorization: Bearer own");
  });
});
