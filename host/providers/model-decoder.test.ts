import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LineSplitter } from "./line-splitter.ts";
import type { ModelDecoder } from "./model-decoder.ts";
import { type ModelOutput, ModelOutputBuilder } from "./model-output.ts";
import { OllamaDecoder, ollamaChunkCheck } from "./ollama-decoder.ts";
import { OpenAiDecoder, openAiChunkCheck } from "./openai-decoder.ts";
import type { LiveEvent } from "./provider.ts";
import { RunEnd } from "./run-end.ts";
import { Secrets } from "./secrets.ts";

const SECRETS = new Secrets({ authorization: "Bearer sk-0123456789" });

interface Decoded {
  readonly events: readonly LiveEvent[];
  readonly output: ModelOutput | null;
  readonly failure: unknown;
}

const checks = { ollama: ollamaChunkCheck(), openai: openAiChunkCheck() };

function decode(kind: "ollama" | "openai", pieces: readonly Uint8Array[], outputBytes = 1_000_000): Decoded {
  const events: LiveEvent[] = [];
  const output = new ModelOutputBuilder("m", outputBytes, { emit: (event) => void events.push(event) });
  const ground = { output, secrets: SECRETS, maxLineBytes: 65_536 };
  const decoder: ModelDecoder =
    kind === "ollama" ? new OllamaDecoder(ground, checks.ollama) : new OpenAiDecoder(ground, checks.openai);
  try {
    const whole = pieces.some((piece) => decoder.push(piece)) || decoder.end();
    return { events, output: whole ? output.output() : null, failure: null };
  } catch (error) {
    if (!(error instanceof RunEnd)) throw error;
    return { events, output: null, failure: error.result };
  }
}

/** The bytes, cut wherever the numbers say. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...at, bytes.length].map((end, index) => bytes.subarray(index === 0 ? 0 : at[index - 1], end));
}

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom("世界", "🌍", "\r\n", "data: ", "\ufeff", ""),
);
const places = fc.array(fc.nat(), { maxLength: 60 });
const delta = fc.oneof(
  fc.record({ content: text }),
  fc.record({ reasoning_content: text }),
  fc.record({
    tool_calls: fc.array(fc.record({ index: fc.nat(3), function: fc.record({ name: text, arguments: text }) })),
  }),
);
/** Whole chunks, and now and then one that breaks the protocol. */
const openAiFrames = fc.array(
  fc.oneof(
    { weight: 12, arbitrary: delta.map((each) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: each }] })}`) },
    { weight: 2, arbitrary: fc.constantFrom(": comment", "event: x", "id: 7", "retry: 10", "data", "") },
    {
      weight: 1,
      arbitrary: fc.constantFrom('data: {"error":{"message":"no"}}', "data: {", 'data: {"choices":7}', "data: [DONE]"),
    },
    {
      weight: 1,
      arbitrary: fc
        .record({ usage: fc.record({ prompt_tokens: fc.nat() }) })
        .map((each) => `data: ${JSON.stringify(each)}`),
    },
  ),
  { maxLength: 20 },
);
const ollamaFrames = fc.array(
  fc.oneof(
    { weight: 12, arbitrary: text.map((content) => JSON.stringify({ message: { content }, done: false })) },
    { weight: 4, arbitrary: text.map((response) => JSON.stringify({ response, thinking: response, done: false })) },
    { weight: 1, arbitrary: fc.constantFrom("", "{", '{"error":"no"}', '{"done":true,"eval_count":3}', '{"done":7}') },
  ),
  { maxLength: 20 },
);

describe("a decoder", () => {
  it("gives the same deltas and the same end however the lines of JSON are cut into pieces", () => {
    fc.assert(
      fc.property(
        ollamaFrames,
        places,
        fc.constantFrom("\n", "\r\n", "\n\n"),
        fc.boolean(),
        (frames, at, end, whole) => {
          const last = whole ? ['{"done":true,"done_reason":"stop","prompt_eval_count":1,"eval_count":2}'] : [];
          const bytes = Buffer.from([...frames, ...last].join(end) + (whole ? "" : end));
          const expected = decode("ollama", [bytes]);
          expect(decode("ollama", cut(bytes, at))).toEqual(expected);
          expect(decode("ollama", cut(bytes, [...bytes.keys()]))).toEqual(expected);
          if (expected.output !== null) expect(deltas(expected)).toBe(expected.output.text);
        },
      ),
    );
  });

  it("gives the same deltas and the same end however the server-sent events are cut into pieces", () => {
    fc.assert(
      fc.property(openAiFrames, places, fc.constantFrom("\n", "\r\n", "\r"), fc.boolean(), (frames, at, end, whole) => {
        const stream = [...frames, ...(whole ? ["data: [DONE]"] : [])].map((frame) => `${frame}${end}${end}`);
        const bytes = Buffer.from(stream.join(""));
        const expected = decode("openai", [bytes]);
        expect(decode("openai", cut(bytes, at))).toEqual(expected);
        expect(decode("openai", cut(bytes, [...bytes.keys()]))).toEqual(expected);
        if (expected.output !== null) expect(deltas(expected)).toBe(expected.output.text);
      }),
    );
  });

  it("fails, and throws nothing else, for any bytes at all", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), places, (bytes, at) => {
        for (const kind of ["ollama", "openai"] as const) expect(decode(kind, cut(bytes, at)).output).toBe(null);
      }),
    );
  });

  it("succeeds for no beginning of an answer", () => {
    const lines = '{"message":{"content":"ä"},"done":false}\n{"message":{"content":""},"done":true}';
    const events = 'data: {"choices":[{"delta":{"content":"ä"},"finish_reason":"stop"}]}\n\ndata: [DONE]';
    for (const [kind, answer] of [
      ["ollama", Buffer.from(lines)],
      ["openai", Buffer.from(events)],
    ] as const) {
      expect(decode(kind, [answer]).output).toMatchObject({ text: "ä" });
      for (let length = 0; length < answer.length; length++) {
        expect(decode(kind, [answer.subarray(0, length)])).toMatchObject({ output: null, failure: null });
      }
    }
  });

  it("holds no more output than it may, whatever it is made of", () => {
    for (const delta of [
      { content: "x" },
      { reasoning: "x" },
      { refusal: "x" },
      { tool_calls: [{ index: 0, function: { arguments: "x" } }] },
    ]) {
      const chunk = Buffer.from(`data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`);
      const { failure } = decode(
        "openai",
        Array.from({ length: 5_000 }, () => chunk),
        4_000,
      );
      expect(failure).toEqual({ kind: "over-budget", limit: "outputBytes" });
    }
    const calls = Array.from({ length: 500 }, (_, index) => ({ index }));
    const many = Buffer.from(`data: ${JSON.stringify({ choices: [{ delta: { tool_calls: calls } }] })}\n\n`);
    expect(decode("openai", [many], 4_000).failure).toEqual({ kind: "over-budget", limit: "outputBytes" });
    const escaped = Buffer.from(`{"message":{"content":"${"\\u0001".repeat(100)}"},"done":true}\n`);
    expect(decode("ollama", [escaped], 300).failure).toEqual({ kind: "over-budget", limit: "outputBytes" });
  });
});

describe("OpenAiDecoder", () => {
  const events = (...data: readonly unknown[]): Uint8Array[] => [
    Buffer.from([...data.map((each) => `data: ${JSON.stringify(each)}\n\n`), "data: [DONE]\n\n"].join("")),
  ];
  const call = (piece: object): object => ({ choices: [{ index: 0, delta: { tool_calls: [piece] } }] });

  it("puts tool calls together by index, and by their ids where there is none", () => {
    const { output } = decode(
      "openai",
      events(
        call({ index: 1, id: "b", function: { name: "two", arguments: '{"x"' } }),
        call({ index: 0, id: "a", function: { name: "one", arguments: "{" } }),
        call({ index: 1, id: null, function: { name: "two", arguments: ":1}" } }),
        call({ index: 0, function: { arguments: "}" } }),
      ),
    );
    const whole = [
      { id: "a", name: "one", arguments: "{}" },
      { id: "b", name: "two", arguments: '{"x":1}' },
    ];
    expect(output?.toolCalls).toEqual(whole);
    const without = decode(
      "openai",
      events(
        call({ id: "a", function: { name: "one", arguments: "{}" } }),
        call({ id: "b", function: { name: "two", arguments: '{"x":' } }),
        call({ function: { arguments: "1}" } }),
      ),
    );
    expect(without.output?.toolCalls).toEqual(whole);
  });

  it("takes what other servers send: comments, names of events, several lines, null for nothing", () => {
    const stream =
      '\ufeff: OPENROUTER PROCESSING\n\nevent: message\ndata: {"choices":\ndata: [{"delta":{"content":"a","tool_calls":null}}],"usage":null}\n\n' +
      'data: {"choices":[{"delta":null,"finish_reason":"length"}],"model":"other-2"}\n\n' +
      'data: {"choices":[],"prompt_filter_results":[]}\n\ndata:[DONE]\n\ndata: nothing more is read\n\n';
    expect(decode("openai", [Buffer.from(stream)])).toEqual({
      events: [{ kind: "delta", text: "a" }],
      output: { text: "a", finishReason: "length", model: "other-2" },
      failure: null,
    });
  });

  it("refuses a second choice, which nobody asked for", () => {
    const { failure } = decode("openai", events({ choices: [{ index: 1, delta: { content: "b" } }] }));
    expect(failure).toMatchObject({ kind: "provider-failed", message: expect.stringContaining("choices.0.index: 0") });
  });
});

describe("LineSplitter", () => {
  it("splits any bytes as splitting the whole text does, and holds one line at most", () => {
    fc.assert(
      fc.property(fc.array(text), places, (lines, at) => {
        const bytes = Buffer.from(lines.join("\n"));
        const splitter = new LineSplitter(4_096);
        const got = cut(bytes, at).flatMap((piece) => [...splitter.push(piece)]);
        expect([...got, splitter.rest()]).toEqual(
          bytes
            .toString()
            .split("\n")
            .map((line) => line.replace(/^\ufeff/, "")),
        );
      }),
    );
    const splitter = new LineSplitter(1_024);
    expect([...splitter.push(Buffer.alloc(1_024, 0x61))]).toEqual([]);
    expect(() => [...splitter.push(Buffer.from("a"))]).toThrow(RunEnd);
  });
});

describe("Secrets", () => {
  it("takes every secret out of any text, also one that is cut off", () => {
    const key = fc.string({ unit: fc.constantFrom(..."abc012/+-_"), minLength: 4, maxLength: 20 });
    fc.assert(
      fc.property(key, text, text, fc.nat(), (secret, before, after, at) => {
        const secrets = new Secrets({ authorization: `Bearer ${secret}`, "x-tenant": "a" });
        const whole = `${before}${secret}${after}`;
        expect(secrets.redact(whole)).not.toContain(secret);
        const beginning = secret.slice(0, at % (secret.length + 1));
        for (const lead of ["|", `|${before}|`]) {
          const shown = JSON.parse(secrets.excerpt(`${lead}${beginning}`, true, 300)) as string;
          expect(shown).toBe(JSON.parse(secrets.excerpt(lead, false, 300)));
        }
      }),
    );
  });

  it("leaves short values and the names of schemes alone", () => {
    const secrets = new Secrets({ authorization: "Bearer sk-0123", "x-tenant": "a", cookie: "id=7f3a91" });
    expect(secrets.redact("a Bearer token sk-0123, 7f3a91, a")).toBe("a Bearer token [redacted], [redacted], a");
    const basic = new Secrets({ authorization: `Basic ${Buffer.from("ada:lovelace").toString("base64")}` });
    expect(basic.redact("user ada, password lovelace")).toBe("user ada, password [redacted]");
  });
});

function deltas({ events }: Decoded): string {
  return events.map((event) => (event.kind === "delta" ? event.text : "")).join("");
}
