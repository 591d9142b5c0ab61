import { Ajv2020 } from "ajv/dist/2020.js";
import { Ollama } from "ollama";
import { afterEach, describe, expect, it } from "vitest";
import { COMMAND_SCHEMAS } from "./command-schemas.ts";
import { OLLAMA_PATHS } from "./commands.ts";
import { ollamaProvider } from "./ollama-provider.ts";
import { DIALECTS, ModelBench } from "./test-model-provider.ts";
import { brokenAfter, instead, whole } from "./test-model-server.ts";
import { OLLAMA_MODEL } from "./test-ollama-server.ts";

const [OLLAMA, OPENAI] = DIALECTS as [(typeof DIALECTS)[0], (typeof DIALECTS)[0]];
const open: ModelBench[] = [];
afterEach(() => Promise.all(open.splice(0).map((bench) => bench.close())));

async function bench(...args: Parameters<typeof ModelBench.open>): Promise<ModelBench> {
  const opened = await ModelBench.open(...args);
  open.push(opened);
  return opened;
}

const failed = expect.objectContaining({ code: "AIRLOCK_PROVIDERS_COMMAND_FAILED", failure: "provider_failed" });

describe("ollamaProvider()", () => {
  it("generates as it chats", async () => {
    const it = await bench(OLLAMA);
    it.server.script = { ...it.server.script, thinking: ["h", "m"] };
    const { outcome, deltas } = await it.run({ prompt: "Hello?", options: { seed: 1 } }, { operation: "generate" });
    expect(outcome).toMatchObject({
      kind: "succeeded",
      output: { text: it.server.script.pieces.join(""), thinking: "hm", finishReason: "stop", model: OLLAMA_MODEL },
      tokens: { inputTokens: 11, outputTokens: 5, model: OLLAMA_MODEL },
    });
    expect(deltas).toEqual(it.server.script.pieces);
    const { path, body } = await it.server.request();
    expect({ path, body }).toEqual({
      path: "/api/generate",
      body: { prompt: "Hello?", options: { seed: 1 }, model: OLLAMA_MODEL, stream: true },
    });
    expect((await it.run({}, { operation: "generate" })).outcome).toMatchObject({
      kind: "invalid-input",
      message: expect.stringContaining('"prompt" is missing'),
    });
  });

  it("refuses a parameter that Ollama does not know, for Ollama would pass over it", async () => {
    const it = await bench(OLLAMA);
    expect((await it.run({ prompt: "x", temprature: 0 }, { operation: "generate" })).outcome).toMatchObject({
      kind: "invalid-input",
      message: expect.stringContaining('"temprature" is not known'),
    });
  });

  it("wants the name of a model where it has none", async () => {
    const provider = ollamaProvider({ id: "a@1.0.0" });
    const { operations, models } = await provider.commands!.capabilities!();
    expect(operations.map(({ input }) => (input as { required: unknown }).required)).toEqual([
      ["model", "messages"],
      ["model", "prompt"],
    ]);
    expect(models).toEqual([]);
  });

  it("reads the lists of the server unchanged, and they are those that the official client reads", async () => {
    const it = await bench(OLLAMA);
    const client = new Ollama({ host: it.server.url });
    const fits = new Ajv2020().compile(COMMAND_SCHEMAS.ollama_api);
    const read = async (path: string): Promise<unknown> => {
      const args = path === "/api/show" ? { path, model: OLLAMA_MODEL } : { path };
      const answer = await it.runs.command(OLLAMA.id, "ollama_api", args);
      expect(fits(answer)).toBe(true);
      expect(answer.status).toBe(200);
      return answer.body;
    };
    expect(await read("/api/tags")).toEqual(await client.list());
    expect(await read("/api/ps")).toEqual(await client.ps());
    expect(await read("/api/version")).toEqual(await client.version());
    expect(await read("/api/show")).toEqual(await client.show({ model: OLLAMA_MODEL }));
    const asked = it.server.requests.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(asked)).toEqual(
      new Set(OLLAMA_PATHS.map((path) => (path === "/api/show" ? `POST ${path}` : `GET ${path}`))),
    );
  });

  it("answers a command with the status that the server had", async () => {
    const it = await bench(OLLAMA);
    expect(await it.runs.command(OLLAMA.id, "ollama_api", { path: "/api/show", model: "other" })).toEqual({
      status: 404,
      body: { error: "model 'other' not found" },
    });
  });

  it("fails a command whose answer is no JSON, too long, cut short or not to be had", async () => {
    const it = await bench(OLLAMA);
    const read = () => it.runs.command(OLLAMA.id, "ollama_api", { path: "/api/tags" });
    for (const [delivery, text] of [
      [instead(200, {}, "<html>"), "is not JSON"],
      [instead(200, {}, `"${"x".repeat(5_000_000)}"`), "more than 4194304 bytes"],
      [instead(200, { "content-length": "50" }, ""), "broke off"],
      [instead(302, { location: "/elsewhere" }, ""), "HTTP 302"],
      [brokenAfter(0), "broke off"],
    ] as const) {
      it.server.delivery = delivery;
      await expect(read()).rejects.toThrow(failed);
      await expect(read()).rejects.toThrow(text);
    }
    it.server.delivery = whole;
    await expect(read()).resolves.toMatchObject({ status: 200 });
  });

  it("closes the socket of a command that nobody waits for any more", async () => {
    const it = await bench(OLLAMA);
    it.server.delivery = () => {};
    const controller = new AbortController();
    const answer = it.runs.command(OLLAMA.id, "ollama_api", { path: "/api/ps" }, controller.signal);
    const { closed } = await it.server.request();
    controller.abort();
    await expect(answer).rejects.toThrow(failed);
    await closed;
  });
});

describe("openAiCompatibleProvider()", () => {
  it("asks for the count of tokens unless it is told not to", async () => {
    const it = await bench(OPENAI);
    expect((await it.run()).outcome).toMatchObject({ tokens: { inputTokens: 11 } });
    expect((await it.server.request(0)).body).toMatchObject({ stream_options: { include_usage: true } });
    const quiet = await bench(OPENAI, { includeUsage: false } as object);
    const { outcome } = await quiet.run();
    expect(outcome.kind).toBe("succeeded");
    expect(outcome.tokens).toBeUndefined();
    expect((await quiet.server.request(0)).body).not.toHaveProperty("stream_options");
  });

  it("lets parameters of other servers through, and refuses those that it sets itself", async () => {
    const it = await bench(OPENAI);
    const ask = { messages: [{ role: "user", content: "x" }], top_k: 5 };
    expect((await it.run(ask)).outcome.kind).toBe("succeeded");
    expect((await it.server.request()).body).toMatchObject({ top_k: 5 });
    for (const more of [{ stream_options: {} }, { n: 2 }, { stream: false }]) {
      expect((await it.run({ ...ask, ...more })).outcome.kind).toBe("invalid-input");
    }
  });

  it("says that an answer is no stream, and takes streams whatever they are called", async () => {
    const it = await bench(OPENAI);
    it.server.delivery = instead(200, { "content-type": "application/json; charset=utf-8" }, '{"choices":[]}');
    expect((await it.run()).outcome).toMatchObject({
      kind: "provider-failed",
      message: expect.stringContaining('with "application/json; charset=utf-8", a stream is wanted'),
    });
    await (await it.server.request()).closed;
    const stream = 'data: {"choices":[],"usage":{}}\n\ndata: [DONE]\n\n';
    for (const headers of [{}, { "content-type": "text/plain" }]) {
      it.server.delivery = instead(200, headers, stream);
      expect((await it.run()).outcome).toMatchObject({ kind: "succeeded", output: { text: "", finishReason: null } });
    }
  });

  it("has no command of Ollama's", async () => {
    const it = await bench(OPENAI);
    await expect(it.runs.command(OPENAI.id, "ollama_api", { path: "/api/tags" })).rejects.toThrow(
      expect.objectContaining({ code: "AIRLOCK_PROVIDERS_COMMAND_UNSUPPORTED" }),
    );
  });

  it("says that its key was refused without saying the key", async () => {
    const it = await bench(OPENAI, { apiKey: "sk-wrong-0123456789" });
    expect((await it.run()).outcome).toMatchObject({
      kind: "provider-failed",
      status: 401,
      message:
        'The server answered /chat/completions with HTTP 401: "Incorrect API key provided: [redacted]."; check apiKey, or headers',
    });
  });

  it("says that a server speaks no TLS", async () => {
    const it = await bench(OPENAI);
    const toward = it.server.url.replace("http:", "https:");
    const other = await bench(OPENAI, { toward });
    expect((await other.run()).outcome).toMatchObject({
      kind: "disconnected",
      message: expect.stringContaining("TLS"),
    });
  });
});
