import { Ollama } from "ollama";
import OpenAI from "openai";
import { afterEach, describe, expect, it } from "vitest";
import { brokenAfter, heldAfter, inPieces, type ModelServer } from "./test-model-server.ts";
import { OLLAMA_MODEL, ollamaServer } from "./test-ollama-server.ts";
import { OPENAI_KEY, OPENAI_MODEL, openAiServer } from "./test-openai-server.ts";

const open: ModelServer[] = [];
const kept = (server: ModelServer): ModelServer => {
  open.push(server);
  return server;
};
afterEach(() => Promise.all(open.splice(0).map((server) => server.close())));

const TEXT = "Grüße, 世界 🌍!";
const ASK = [{ role: "user" as const, content: "Hello?" }];
const CALLS = [{ name: "weather", arguments: { city: "Łódź", days: 3 } }];

describe("the loopback server of Ollama", () => {
  const start = async () => {
    const server = kept(await ollamaServer());
    return { server, client: new Ollama({ host: server.url }) };
  };

  it("streams chats and generations to the official client, in any pieces", async () => {
    const { server, client } = await start();
    server.script = { ...server.script, thinking: ["hm", "…"], toolCalls: CALLS };
    for (const delivery of [server.delivery, inPieces(1), inPieces(7)]) {
      server.delivery = delivery;
      const chunks = [];
      for await (const chunk of await client.chat({ model: OLLAMA_MODEL, messages: ASK, stream: true }))
        chunks.push(chunk);
      expect(chunks.map(({ message }) => message.content).join("")).toBe(TEXT);
      expect(chunks.map(({ message }) => message.thinking ?? "").join("")).toBe("hm…");
      expect(chunks.flatMap(({ message }) => message.tool_calls ?? [])).toEqual([{ function: CALLS[0] }]);
      expect(chunks.at(-1)).toMatchObject({ done: true, done_reason: "stop", prompt_eval_count: 11, eval_count: 5 });
      let text = "";
      for await (const { response } of await client.generate({ model: OLLAMA_MODEL, prompt: "x", stream: true }))
        text += response;
      expect(text).toBe(TEXT);
    }
  });

  it("answers at once, lists, shows, and refuses what it does not have", async () => {
    const { client } = await start();
    expect((await client.chat({ model: OLLAMA_MODEL, messages: ASK })).message.content).toBe(TEXT);
    expect((await client.list()).models.map(({ name }) => name)).toEqual([OLLAMA_MODEL]);
    expect((await client.ps()).models.map(({ name }) => name)).toEqual([OLLAMA_MODEL]);
    expect((await client.show({ model: OLLAMA_MODEL })).capabilities).toEqual(["completion"]);
    expect(await client.version()).toEqual({ version: "0.12.0" });
    await expect(client.chat({ model: "other", messages: ASK })).rejects.toThrow("model 'other' not found");
  });

  it("breaks off, fails in the middle and sees its client leave", async () => {
    const { server, client } = await start();
    const read = async () => {
      for await (const _ of await client.chat({ model: OLLAMA_MODEL, messages: ASK, stream: true }));
    };
    server.delivery = brokenAfter(2);
    await expect(read()).rejects.toThrow();
    server.delivery = heldAfter(2);
    const reading = await client.chat({ model: OLLAMA_MODEL, messages: ASK, stream: true });
    const { closed } = await server.request(1);
    await expect(async () => {
      for await (const _ of reading) client.abort();
    }).rejects.toThrow(/abort/i);
    await closed;
  });
});

describe("the loopback server of OpenAI", () => {
  const start = async () => {
    const server = kept(await openAiServer());
    return { server, client: new OpenAI({ baseURL: `${server.url}/v1`, apiKey: OPENAI_KEY, maxRetries: 0 }) };
  };
  const request = { model: OPENAI_MODEL, messages: ASK };

  it("streams completions and tool calls to the official client, in any pieces", async () => {
    const { server, client } = await start();
    server.script = { ...server.script, toolCalls: CALLS };
    for (const delivery of [server.delivery, inPieces(1), inPieces(7)]) {
      server.delivery = delivery;
      const stream = client.chat.completions.stream({ ...request, stream_options: { include_usage: true } });
      const { choices, usage } = await stream.finalChatCompletion();
      expect(choices[0]).toMatchObject({
        finish_reason: "tool_calls",
        message: {
          content: TEXT,
          tool_calls: [{ id: "call_0", function: { name: "weather", arguments: JSON.stringify(CALLS[0]!.arguments) } }],
        },
      });
      expect(usage).toEqual({ prompt_tokens: 11, completion_tokens: 5, total_tokens: 16 });
    }
  });

  it("answers at once, lists, and refuses what it does not have", async () => {
    const { server, client } = await start();
    expect((await client.chat.completions.create(request)).choices[0]!.message.content).toBe(TEXT);
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual([OPENAI_MODEL]);
    await expect(client.chat.completions.create({ ...request, model: "other" })).rejects.toThrow(OpenAI.NotFoundError);
    const stranger = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "wrong", maxRetries: 0 });
    await expect(stranger.chat.completions.create(request)).rejects.toThrow(OpenAI.AuthenticationError);
  });

  it("breaks off, fails in the middle and sees its client leave", async () => {
    const { server, client } = await start();
    const read = async (signal?: AbortSignal) => {
      for await (const _ of await client.chat.completions.create(
        { ...request, stream: true },
        { signal: signal ?? null },
      ));
    };
    server.delivery = brokenAfter(2);
    await expect(read()).rejects.toThrow();
    server.script = { pieces: ["a"], error: "out of cards" };
    server.delivery = inPieces(9);
    await expect(read()).rejects.toThrow("out of cards");
    server.delivery = heldAfter(2);
    const controller = new AbortController();
    const reading = read(controller.signal);
    const { closed } = await server.request(2);
    controller.abort();
    await Promise.allSettled([reading]);
    await closed;
  });
});
