import { createServer } from "node:net";
import { inspect } from "node:util";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { RunEvent } from "./provider.ts";
import { ASK, DIALECTS, type Dialect, deltasOf, ModelBench } from "./test-model-provider.ts";
import { brokenAfter, endedAfter, heldAfter, inPieces, instead, onTheWire, withFrame } from "./test-model-server.ts";

const TEXT = "Grüße, 世界 🌍!";
const KEY = "sk-very/secret+key==";

const open: ModelBench[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((bench) => bench.close()));
  vi.unstubAllEnvs();
});

describe.each(DIALECTS)("the provider $name", (dialect: Dialect) => {
  const bench = async (more?: Parameters<typeof ModelBench.open>[1]): Promise<ModelBench> => {
    const opened = await ModelBench.open(dialect, more);
    open.push(opened);
    return opened;
  };
  /** As its server would send it. */
  const framed = (chunk: string): string => (dialect.events ? `data: ${chunk}\n\n` : `${chunk}\n`);

  it("streams deltas and tokens, and its output is the whole", async () => {
    const it = await bench();
    it.server.script = { ...it.server.script, thinking: ["h", "m"] };
    const { outcome, events, deltas } = await it.run();
    expect(deltas).toEqual(it.server.script.pieces);
    const tokens = { inputTokens: 11, outputTokens: 5, model: dialect.model };
    expect(outcome).toMatchObject({
      kind: "succeeded",
      output: { text: TEXT, thinking: "hm", finishReason: "stop", model: dialect.model },
      tokens,
      evidence: null,
    });
    expect(events.at(-2)).toEqual({ kind: "usage", tokens });
    expect(events.map(({ kind }) => kind)).toEqual(["started", ...deltas.map(() => "delta"), "usage", "complete"]);
  });

  it("gives the same whatever the pieces that the bytes come in", async () => {
    const it = await bench();
    it.server.script = { ...it.server.script, toolCalls: [{ name: "weather", arguments: { city: "Łódź" } }] };
    const expected = await it.run();
    for (const size of [1, 2, 3, 5, 64, 1_000]) {
      it.server.delivery = inPieces(size);
      const { outcome, events } = await it.run();
      expect(outcome).toMatchObject({ kind: "succeeded", output: (expected.outcome as { output: unknown }).output });
      expect(events.slice(1, -1)).toEqual(expected.events.slice(1, -1));
    }
  });

  it("puts the tool calls that the model wants into the output", async () => {
    const it = await bench();
    const toolCalls = [
      { name: "weather", arguments: { city: "Łódź", days: 3 } },
      { name: "time", arguments: {} },
    ];
    it.server.script = { pieces: [], toolCalls };
    const { outcome, deltas } = await it.run({ ...ASK, tools: [{ type: "function", function: { name: "weather" } }] });
    expect(deltas).toEqual([]);
    expect(outcome).toMatchObject({
      kind: "succeeded",
      output: {
        text: "",
        toolCalls: toolCalls.map(({ name, arguments: args }, index) => ({
          id: dialect.events ? `call_${index}` : null,
          name,
          arguments: JSON.stringify(args),
        })),
      },
    });
  });

  it("sends what it was given, and the model and the stream beside it", async () => {
    const it = await bench({ headers: { "X-Tenant": "seven" } });
    const { outcome } = await it.run({ ...ASK, model: dialect.model });
    expect(outcome.kind).toBe("succeeded");
    const { method, body, headers } = await it.server.request();
    expect({ method, body }).toMatchObject({ method: "POST", body: { ...ASK, model: dialect.model, stream: true } });
    expect(headers).toMatchObject({ "x-tenant": "seven", "accept-encoding": "identity", connection: "close" });
  });

  it("ends as invalid-input for what does not fit the schema that it publishes", async () => {
    const it = await bench({ models: [dialect.model] });
    for (const [input, message] of [
      [null, "object"],
      [{}, "messages"],
      [{ messages: [] }, "at least 1 items"],
      [{ messages: [{ role: "boss", content: "" }] }, "messages[0].role"],
      [{ ...ASK, model: "other" }, "model: one of"],
      [{ ...ASK, stream: false }, "stream: true is wanted"],
    ] as const) {
      const { outcome } = await it.run(input);
      expect(outcome).toMatchObject({ kind: "invalid-input" });
      expect((outcome as { message: string }).message.replace(/\.(\d+)/g, "[$1]")).toContain(message);
    }
    expect(it.server.requests).toEqual([]);
    expect(() => it.start(ASK, { operation: "sing" })).toThrow(
      expect.objectContaining({ code: "AIRLOCK_INVOCATION_OPERATION_UNKNOWN" }),
    );
    expect(() => it.start(ASK, { limits: { fuel: 1 } })).toThrow(
      expect.objectContaining({ code: "AIRLOCK_INVOCATION_REQUEST_INVALID" }),
    );
    expect(() => it.start(ASK, { limits: { inputBytes: 3 } })).toThrow(
      expect.objectContaining({ code: "AIRLOCK_INVOCATION_INPUT_TOO_LARGE" }),
    );
  });

  it("says what it can, how it is reached and which models it serves", async () => {
    const it = await bench({ limits: { outputBytes: 1_000 } });
    const { operations, limits, models, events } = await it.runs.command(dialect.id, "capabilities");
    expect(operations.map(({ name }) => name)).toEqual(dialect.events ? ["chat"] : ["chat", "generate"]);
    expect(operations[0]!.input).toMatchObject({ type: "object", required: ["messages"] });
    expect(limits).toEqual({ wallMs: null, inputBytes: 16 * 1024 * 1024, outputBytes: 1_000 });
    expect({ models, events }).toEqual({ models: [dialect.model], events: [] });
    expect(await it.runs.command(dialect.id, "transport_status")).toMatchObject({ kind: "http", connected: true });
  });

  it("ends as disconnected when the answer breaks off, whatever was said until then", async () => {
    const it = await bench();
    for (const frames of [0, 1, 3]) {
      it.server.delivery = brokenAfter(frames);
      expect((await it.run()).outcome).toMatchObject({
        kind: "disconnected",
        message: expect.stringContaining("broke off in the middle of its answer"),
      });
    }
    it.server.delivery = onTheWire("");
    expect((await it.run()).outcome).toMatchObject({
      kind: "disconnected",
      message: expect.stringContaining("broke off before it answered"),
    });
  });

  it("ends as disconnected when the body ends before the protocol says so, also in the middle of a chunk", async () => {
    const it = await bench();
    const ending = dialect.events ? "[DONE]" : '"done": true';
    for (const delivery of [endedAfter(0), endedAfter(3), instead(200, {}, framed('{"a":1}').slice(0, 6))]) {
      it.server.delivery = delivery;
      const { outcome, events } = await it.run();
      expect(outcome).toMatchObject({ kind: "disconnected", message: expect.stringContaining(ending) });
      expect(events.at(-1)).toMatchObject({ kind: "error", failure: "transport_disconnected" });
    }
  });

  it("ends as disconnected when nothing listens, and says what to look at", async () => {
    const it = await bench();
    await it.server.close();
    expect((await it.run()).outcome).toMatchObject({
      kind: "disconnected",
      message: expect.stringMatching(/ECONNREFUSED.*baseUrl/),
    });
    it.server.close = async () => {};
  });

  it.each([
    ["text", "well, hello", "is not JSON"],
    ["half a chunk", '{"message":{"content":"a"', "is not JSON"],
    ["another form", '{"hello":1}', dialect.events ? "no chat completion" : "Ollama did not send it"],
    ["an array", "[]", "an object is wanted"],
    ["a number for a text", '{"done":false,"message":{"content":7},"choices":[{"delta":{"content":7}}]}', "content"],
    ["a negative count", '{"done":true,"eval_count":-1,"choices":[],"usage":{"prompt_tokens":-1}}', ">= 0"],
    ["deep nesting", `${"[".repeat(1_000)}${"]".repeat(1_000)}`, "nests deeper"],
    ["many values", `[${"1,".repeat(450_000)}1]`, "an object is wanted"],
  ])("ends as provider-failed for a chunk that is %s", async (_, chunk, text) => {
    const it = await bench();
    it.server.delivery = withFrame(2, framed(chunk));
    const { outcome, events } = await it.run();
    expect(outcome).toMatchObject({ kind: "provider-failed", message: expect.stringContaining(text) });
    expect((outcome as { message: string }).message).toMatch(/^Chunk 3 of the server's answer /);
    expect((outcome as { message: string }).message.length).toBeLessThan(500);
    expect(events.at(-1)).toMatchObject({ kind: "error", failure: "provider_failed" });
  });

  it("ends as provider-failed for bytes that are no UTF-8, and for a line that is too long", async () => {
    const it = await bench({ maxLineBytes: 2_048 });
    it.server.delivery = withFrame(1, Buffer.concat([Buffer.from('data: {"'), Buffer.from([0xff, 0xfe, 0x0a])]));
    expect((await it.run()).outcome).toMatchObject({
      kind: "provider-failed",
      message: expect.stringContaining("no UTF-8"),
    });
    for (const long of ["x".repeat(3_000), `data: ${"y".repeat(300_000)}`, `${"data: z\n".repeat(2_000)}`]) {
      it.server.delivery = withFrame(1, long);
      expect((await it.run()).outcome).toMatchObject({
        kind: "provider-failed",
        message: expect.stringMatching(dialect.events || !long.includes("\n") ? /maxLineBytes/ : /not JSON/),
      });
    }
  });

  it("ends as over-budget past outputBytes and closes the connection to a server that goes on", async () => {
    const it = await bench();
    it.server.script = { pieces: Array.from({ length: 20 }, () => "0123456789") };
    it.server.delivery = heldAfter(15);
    const { outcome, deltas } = await it.run(ASK, { limits: { outputBytes: 105 } });
    expect(outcome).toMatchObject({ kind: "over-budget", limit: "outputBytes" });
    expect(deltas.length).toBe(10);
    await (await it.server.request()).closed;
  });

  it("takes an error in the middle of the stream for what it is", async () => {
    const it = await bench();
    it.server.script = { pieces: ["a"], error: "out of memory" };
    expect((await it.run()).outcome).toMatchObject({
      kind: "provider-failed",
      message: 'The server ended its answer with an error: "out of memory"',
    });
  });

  it("is not ended by silence, only by its deadline, and then closes the socket", async () => {
    const it = await bench();
    let go = (): void => {};
    it.server.delivery = heldAfter(3, new Promise((resolve) => (go = resolve)));
    const slow = it.start();
    await it.server.request();
    it.clock.pass(23 * 24 * 3_600_000);
    go();
    expect((await slow.outcome).kind).toBe("succeeded");

    it.server.delivery = heldAfter(3);
    const events: RunEvent[] = [];
    const late = it.start(ASK, { deadline: it.clock.now() + 5_000 }, (event) => void events.push(event));
    const { closed } = await it.server.request(1);
    it.clock.pass(4_999);
    expect(late.terminal).toBe(null);
    it.clock.pass(1);
    expect(await late.outcome).toMatchObject({ kind: "past-deadline", limit: "deadlineMs" });
    await closed;
    expect(it.runs.stats().pools[dialect.id]).toMatchObject({ inUse: 0 });
  });

  it("holds wallMs where it is named", async () => {
    const it = await bench();
    it.server.delivery = heldAfter(1);
    const run = it.start(ASK, { limits: { wallMs: 50 } });
    const { closed } = await it.server.request();
    it.clock.pass(50);
    expect(await run.outcome).toMatchObject({ kind: "past-deadline", limit: "wallMs", limits: { wallMs: 50 } });
    await closed;
  });

  it("closes the socket when its run is cancelled, before the head of the answer and in its body", async () => {
    const it = await bench();
    it.server.delivery = () => {};
    const early = it.start();
    const before = await it.server.request(0);
    early.cancel("enough");
    expect(await early.outcome).toMatchObject({ kind: "cancelled", reason: "enough" });
    await before.closed;

    it.server.delivery = heldAfter(3);
    const events: RunEvent[] = [];
    await new Promise<void>((resolve) => {
      const run = it.start(ASK, {}, (event) => {
        events.push(event);
        if (event.kind === "delta") {
          run.cancel();
          resolve();
        }
      });
    });
    await (await it.server.request(1)).closed;
    expect(deltasOf(events).length).toBe(1);
    expect(events.at(-1)).toMatchObject({ kind: "cancelled", failure: "cancelled" });
  });

  it("shows the status and the words of an HTTP error, of any form and any length", async () => {
    const it = await bench();
    const html = `<html><head><title>502 Bad Gateway</title></head><body>${"<p>nginx</p>".repeat(200_000)}</body></html>`;
    for (const [delivery, status, text] of [
      [
        instead(404, {}, '{"error":"model \'x\' not found"}'),
        404,
        "\"model 'x' not found\"; check baseUrl, and the name",
      ],
      [instead(400, {}, '{"error":{"message":"bad \\u001b[31mroles","type":"x"}}'), 400, '"bad \\u001b[31mroles"'],
      [instead(422, {}, '{"detail":"no such field"}'), 422, '"no such field"'],
      [instead(502, { "content-type": "text/html" }, html), 502, '"502 Bad Gateway nginx nginx'],
      [instead(500, {}, ""), 500, "HTTP 500"],
      [instead(503, {}, Buffer.alloc(50_000_000, 0x41)), 503, "AAAA"],
      [instead(204, {}, ""), 204, "HTTP 204"],
    ] as const) {
      it.server.delivery = delivery;
      const { outcome } = await it.run();
      expect(outcome).toMatchObject({ kind: "provider-failed", status, message: expect.stringContaining(text) });
      expect((outcome as { message: string }).message.length).toBeLessThan(600);
    }
  });

  it("follows no redirect", async () => {
    const it = await bench();
    it.server.delivery = instead(307, { location: `${it.server.url}/elsewhere` }, "");
    expect((await it.run()).outcome).toMatchObject({
      kind: "provider-failed",
      status: 307,
      message: expect.stringContaining("/elsewhere"),
    });
    expect(it.server.requests.length).toBe(1);
  });

  it("asks no proxy, whatever the environment says", async () => {
    const asked: string[] = [];
    const proxy = createServer((socket) => {
      asked.push("connection");
      socket.destroy();
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(proxy.address() as { port: number }).port}`;
    for (const name of ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"]) vi.stubEnv(name, url);
    vi.stubEnv("NO_PROXY", "");
    vi.stubEnv("NODE_USE_ENV_PROXY", "1");
    const it = await bench();
    expect((await it.run()).outcome.kind).toBe("succeeded");
    expect(asked).toEqual([]);
    await new Promise((resolve) => proxy.close(resolve));
  });

  it("refuses what is no plain HTTP: compressed bodies, headers without end, other protocols", async () => {
    const it = await bench();
    for (const [delivery, text] of [
      [instead(200, { "content-encoding": "gzip" }, "x"), "compressed"],
      [onTheWire(`HTTP/1.1 200 OK\r\nx: ${"h".repeat(40_000)}\r\n\r\n`), "HPE_HEADER_OVERFLOW"],
      [onTheWire("SSH-2.0-OpenSSH_9.6\r\n"), "no HTTP that can be read"],
      [onTheWire("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"), "no HTTP that can be read"],
    ] as const) {
      it.server.delivery = delivery;
      expect((await it.run()).outcome).toMatchObject({
        kind: "provider-failed",
        message: expect.stringContaining(text),
      });
    }
    it.server.delivery = onTheWire("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n");
    expect((await it.run()).outcome.kind).toBe("disconnected");
    it.server.delivery = onTheWire("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc");
    expect((await it.run()).outcome.kind).toBe("disconnected");
  });

  it("shows its credentials nowhere: not in errors that repeat them, in inspection, in JSON or to commands", async () => {
    const headers = { "x-api-key": "another-secret-9" };
    const it = await bench({ apiKey: () => Promise.resolve(KEY), headers: async () => headers });
    const said: unknown[] = [];
    const echo = `key ${KEY}, ${encodeURIComponent(KEY)}, Bearer ${KEY} and another-secret-9`;
    const nearTheEnd = (text: string) => text.padStart(8 * 1024 + 9, " ");
    for (const delivery of [
      instead(401, {}, JSON.stringify({ error: { message: echo } })),
      instead(401, {}, JSON.stringify({ error: echo }).replaceAll("/", "\\/")),
      instead(500, {}, echo),
      instead(500, {}, nearTheEnd(KEY)),
      instead(500, {}, `{"error":"${echo.replaceAll("/", "\\/")}${" ".repeat(9_000)}"}`),
      instead(302, { location: `http://x/?k=${encodeURIComponent(KEY)}` }, ""),
      withFrame(1, framed(KEY)),
      withFrame(1, framed(`{"error": "${echo}"}`)),
      withFrame(1, framed(`{"error": {"message": "${echo}"}}`)),
      withFrame(1, framed(`{"${KEY}"`)),
    ]) {
      it.server.delivery = delivery;
      const { outcome, events } = await it.run();
      expect(outcome.kind).toBe("provider-failed");
      said.push(outcome, events);
    }
    said.push(await it.runs.command(dialect.id, "capabilities"), it.runs.list());
    const provider = it.runs.list()[0];
    const text =
      JSON.stringify(said) + inspect([said, provider], { depth: 20, showHidden: true }) + JSON.stringify(provider);
    expect(text).toContain("[redacted]");
    for (const piece of [KEY, KEY.slice(0, 8), KEY.slice(-8), encodeURIComponent(KEY), "another-secret"])
      expect(text).not.toContain(piece);
    expect((await it.server.request()).headers).toMatchObject({ authorization: `Bearer ${KEY}`, ...headers });
  });

  it("sends nothing when a function does not give its credential, and repeats nothing of what it threw", async () => {
    const throws = (): never => {
      throw new RangeError(`cannot read ${KEY}`);
    };
    for (const more of [
      { apiKey: throws },
      { apiKey: () => `${KEY}\r\n` },
      { headers: throws },
      { headers: () => 7 as never },
    ]) {
      const it = await bench(more);
      const { outcome } = await it.run();
      expect(outcome).toMatchObject({ kind: "provider-failed", message: expect.stringMatching(/apiKey|headers/) });
      expect(JSON.stringify(outcome)).not.toContain(KEY);
      expect(it.server.requests).toEqual([]);
    }
  });

  it("refuses a definition that cannot be right", async () => {
    const it = await bench();
    for (const [more, text] of [
      [{ modle: "x" }, 'did you mean "model"?'],
      [{ id: "x" }, "id@version"],
      [{ model: "" }, "model"],
      [{ models: [] }, "models"],
      [{ model: "a", models: ["b"] }, "not one of models"],
      [{ baseUrl: "ftp://x" }, "ftp:"],
      [{ baseUrl: "localhost" }, "no URL"],
      [{ baseUrl: `http://me:pw@localhost` }, "user name or a password"],
      [{ baseUrl: "http://localhost?x=1" }, "query"],
      [{ apiKey: "a\nb" }, "apiKey"],
      [{ apiKey: undefined, headers: { "content-length": "1" } }, "host sets itself"],
      [{ headers: { "a b": "1" } }, "no name of a header"],
      [{ headers: { a: KEY.concat("\n") } }, "headers.a"],
      [{ apiKey: "a", headers: { Authorization: "b" } }, "one of them"],
      [{ limits: { fuel: 1 } }, "limits.fuel"],
      [{ maxLineBytes: 1 }, "maxLineBytes"],
    ] as const) {
      const make = (): unknown => dialect.provider(it.server.url, it.clock, more as object);
      expect(make, text).toThrow(expect.objectContaining({ code: "AIRLOCK_PROVIDERS_DEFINITION_INVALID" }));
      expect(make).toThrow(text);
      expect(make).not.toThrow(KEY);
    }
  });
});
