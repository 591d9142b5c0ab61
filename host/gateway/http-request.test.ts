import { describe, expect, it } from "vitest";
import { hostName } from "./http-host-name.ts";
import { hostRules } from "./http-hosts.ts";
import { httpRequest } from "./http-request.ts";
import { codeOf } from "./test-connector-call.ts";

const HOSTS = hostRules([
  { host: "api.example.com", headers: { authorization: "Bearer s3cret", "X-Api-Key": "k" } },
  { host: "read.example.com", methods: ["GET"] },
  { host: "BÜCHER.example" },
  { host: "127.0.0.1", insecure: true },
  { host: "::1" },
]);

function request(payload: unknown, operation = "get") {
  return httpRequest(operation, payload, HOSTS, 1_000);
}

async function refusal(payload: unknown, operation = "get"): Promise<string> {
  return await codeOf(
    (async () => {
      const { target, headers } = request(payload, operation);
      return { target, headers: [...headers] };
    })(),
  );
}

describe("hostName()", () => {
  it.each([
    ["API.Example.COM", "api.example.com"],
    ["bücher.example", "xn--bcher-kva.example"],
    ["xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["ⓐpi.example.com", "api.example.com"],
    ["api。example。com", "api.example.com"],
    ["under_score.example", "under_score.example"],
    ["127.0.0.1", "127.0.0.1"],
    ["[::1]", "::1"],
    ["0:0:0:0:0:0:0:1", "::1"],
    ["::FFFF:127.0.0.1", "::ffff:7f00:1"],
  ])("spells %j as %j", (text, name) => {
    expect(hostName(text)).toBe(name);
  });

  it.each([
    "",
    ".",
    "api.example.com.",
    "api.example.com。",
    "api..example.com",
    ".example.com",
    "api.example.com:443",
    "user@api.example.com",
    "user:pw@api.example.com",
    "api.example.com/x",
    "api.example.com\\x",
    "api.example.com?x",
    "api.example.com#x",
    "api%2eexample.com",
    "api.example.com\0",
    "api.example.com\r\nx",
    " api.example.com",
    "api.example.com ",
    "*.example.com",
    "0x7f.1",
    "0x7f.0.0.1",
    "127.1",
    "2130706433",
    "017700000001",
    "127.0.0.01",
    "１２７.0.0.1",
    "127.0.0.1.",
    "1.2.3.4.5",
    "[127.0.0.1]",
    "[api.example.com]",
    "fe80::1%eth0",
    "[fe80::1%25eth0]",
    "::1]",
    `${"a".repeat(64)}.example`,
    `${"a.".repeat(130)}example`,
  ])("takes %j for no bare name", (text) => {
    expect(hostName(text)).toBe(null);
  });
});

describe("httpRequest()", () => {
  it("finds the host however it is spelled, and escapes each segment and each part of the query", () => {
    const found = request({
      host: "API.EXAMPLE.com",
      segments: ["v1", "a b", "ü", "x?y#z", "100%", "a;b=c", "'(!)*'", "...", "%61", "a@b:c"],
      query: { q: "a&b=c d", "n[]": [1, true, "x"], none: [], e: "" },
      headers: { Accept: "text/plain", "x-thing": "\tok " },
    });
    expect(found.host.name).toBe("api.example.com");
    expect(found.target).toBe(
      "/v1/a%20b/%C3%BC/x%3Fy%23z/100%25/a%3Bb%3Dc/%27%28%21%29%2A%27/.../%2561/a%40b%3Ac?q=a%26b%3Dc%20d&n%5B%5D=1&n%5B%5D=true&n%5B%5D=x&e=",
    );
    expect([...found.headers]).toEqual([
      ["accept", "text/plain"],
      ["x-thing", "\tok "],
    ]);
    expect(request({ host: "api.example.com" }).target).toBe("/");
    expect(request({ host: "bücher.example", body: "aGk=" }, "post").body).toEqual(Buffer.from("hi"));
  });

  it.each([
    ["other.example.com"],
    ["example.com"],
    ["api.example.com.evil.test"],
    ["localhost"],
    ["169.254.169.254"],
    ["::2"],
  ])("does not reach %j, which is not on the list", async (host) => {
    expect(await refusal({ host })).toBe("host-not-allowed");
  });

  it.each([
    [{ host: 1 }],
    [{ host: "api.example.com:8443" }],
    [{ host: "x@api.example.com" }],
    [{}],
    [null],
    [[]],
    ["api.example.com"],
    [{ host: "api.example.com", url: "x" }],
    [{ host: "api.example.com", port: 80 }],
    [JSON.parse('{ "host": "api.example.com", "__proto__": { "x": 1 } }')],
  ])("refuses the payload %j", async (payload) => {
    expect(await refusal(payload)).toBe("invalid-request");
  });

  it("names the field that was meant", () => {
    expect(() => request({ host: "api.example.com", segment: [] })).toThrow('did you mean "segments"?');
  });

  it.each([
    [""],
    ["."],
    [".."],
    ["a/b"],
    ["a\\b"],
    ["a\0"],
    ["a\r\nb"],
    ["%2e%2e"],
    ["%2E."],
    ["%252e%252e"],
    ["a%2fb"],
    ["a%25252Fb"],
    ["%5c"],
    ["%00"],
    ["a%0d%0ab"],
    ["\ud800"],
    [1],
    [null],
    ["x".repeat(8_193)],
    ["ü".repeat(2_000)],
  ])("refuses the segment %j", async (segment) => {
    expect(await refusal({ host: "api.example.com", segments: ["a", segment] })).toBe("invalid-request");
  });

  it.each([
    [{ segments: "a/b" }],
    [{ segments: Array(65).fill("a") }],
    [{ query: "a=b" }],
    [{ query: [] }],
    [{ query: null }],
    [{ query: { a: null } }],
    [{ query: { a: { b: 1 } } }],
    [{ query: { a: [["b"]] } }],
    [{ query: { a: Number.NaN } }],
    [{ query: { a: "\udc00" } }],
    [{ query: { a: "x".repeat(8_193) } }],
    [{ query: { a: Array(10_000).fill("") } }],
    [{ query: { a: "ü".repeat(2_000) } }],
    [{ headers: [] }],
    [{ headers: "x" }],
    [{ headers: Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`x-${index}`, ""])) }],
    [{ headers: { "x-long": "x".repeat(8_193) } }],
    [{ body: "aGk=" }],
    [{ body: "" }],
  ])("refuses %j", async (fields) => {
    expect(await refusal({ host: "api.example.com", ...fields })).toBe("invalid-request");
  });

  it.each([
    [1],
    ["a"],
    ["a==="],
    ["_w=="],
    ["aGk=\n"],
    [Buffer.alloc(1_001).toString("base64")],
    ["A".repeat(20_000_000)],
  ])("refuses a body that is no base64 or too long", async (body) => {
    expect(await refusal({ host: "api.example.com", body }, "post")).toBe("invalid-request");
  });

  it.each([
    "Host",
    "connection",
    "Keep-Alive",
    "transfer-encoding",
    "Transfer_Encoding",
    "content-length",
    "content_length",
    "upgrade",
    "te",
    "trailer",
    "expect",
    "proxy-authorization",
    "Proxy-Connection",
    "accept-encoding",
    "x-http-method-override",
    "X-HTTP-Method",
    "authorization",
    "AUTHORIZATION",
    "x_api_key",
    ":authority",
    "x y",
    "x\r\ny",
    "x:y",
    "",
    "x\0",
    "ü",
  ])("does not let the guest set the header %j", async (name) => {
    expect(await refusal({ host: "api.example.com", headers: { [name]: "1" } })).toBe("invalid-request");
  });

  it.each([["a\r\nx: y"], ["a\nb"], ["a\0"], ["ü"], ["\u007f"], [1], [null], [["a"]]])(
    "refuses the header value %j",
    async (value) => {
      expect(await refusal({ host: "api.example.com", headers: { "x-a": value } })).toBe("invalid-request");
    },
  );

  it("refuses a header that is there twice, in two spellings", async () => {
    expect(await refusal({ host: "api.example.com", headers: { "x-a": "1", "X-A": "2" } })).toBe("invalid-request");
  });

  it.each([
    ["read.example.com", "post"],
    ["read.example.com", "head"],
    ["api.example.com", "options"],
    ["api.example.com", "connect"],
    ["api.example.com", "trace"],
    ["api.example.com", "constructor"],
  ])("lets a guest not use at %s what it does not take: %s", async (host, operation) => {
    expect(await refusal({ host }, operation)).toBe("method-not-allowed");
  });
});

describe("hostRules()", () => {
  it.each([
    [undefined],
    [[]],
    ["api.example.com"],
    [[1]],
    [["https://api.example.com"]],
    [["api.example.com:443"]],
    [["*.example.com"]],
    [["api.example.com", "API.example.com"]],
    [[{ host: "a.test", port: 0 }]],
    [[{ host: "a.test", port: 65_536 }]],
    [[{ host: "a.test", insecure: 1 }]],
    [[{ host: "a.test", methods: [] }]],
    [[{ host: "a.test", methods: ["get"] }]],
    [[{ host: "a.test", methods: ["CONNECT"] }]],
    [[{ host: "a.test", allowPrivate: "10.0.0.0/8" }]],
    [[{ host: "a.test", allowPrivate: ["10.0.0.0/33"] }]],
    [[{ host: "a.test", ca: [] }]],
    [[{ host: "a.test", ca: "x", insecure: true }]],
    [[{ host: "a.test", headers: [] }]],
    [[{ host: "a.test", headers: { host: "b.test" } }]],
    [[{ host: "a.test", headers: { "a b": "x" } }]],
    [[{ host: "a.test", headers: { a: "1", A: "2" } }]],
    [[{ host: "a.test", header: {} }]],
  ])("refuses the hosts %j", (hosts) => {
    expect(() => hostRules(hosts)).toThrow(expect.objectContaining({ code: "AIRLOCK_GATEWAY_CONNECTOR_INVALID" }));
  });

  it("shows no secret in its error", () => {
    let text = "";
    try {
      hostRules([{ host: "a.test", headers: { authorization: "Bearer s3cret\r\n" } }]);
    } catch (thrown) {
      text = String(thrown);
    }
    expect(text).toContain("authorization");
    expect(text).not.toContain("s3cret");
  });
});
