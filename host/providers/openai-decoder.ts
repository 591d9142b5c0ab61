import { createParser, type EventSourceParser } from "eventsource-parser";
import { createSchemaValidator, type ValueCheck } from "../manifest/manifest.ts";
import { messageIn } from "./http-endpoint.ts";
import { type DecoderGround, type ModelDecoder, malformed, parseChunk, streamedError } from "./model-decoder.ts";
import { RunEnd } from "./run-end.ts";

/** A chunk of an answer, as far as it is read. https://platform.openai.com/docs/api-reference/chat-streaming */
interface OpenAiChunk {
  readonly model?: string | null;
  readonly choices?: readonly OpenAiChoice[] | null;
  readonly usage?: { readonly prompt_tokens?: number; readonly completion_tokens?: number } | null;
  readonly error?: unknown;
}

interface OpenAiChoice {
  readonly delta?: {
    readonly content?: string | null;
    readonly refusal?: string | null;
    /** OpenAI's own servers send no thoughts; these two names are those of the others. */
    readonly reasoning_content?: string | null;
    readonly reasoning?: string | null;
    readonly tool_calls?: readonly OpenAiToolCall[] | null;
  } | null;
  readonly finish_reason?: string | null;
}

interface OpenAiToolCall {
  readonly index?: number;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: string | null } | null;
}

const TEXT = { type: ["string", "null"] };
const COUNT = { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const TOOL_CALL = {
  type: "object",
  properties: {
    index: { type: "integer", minimum: 0, maximum: 65_535 },
    id: TEXT,
    function: { type: ["object", "null"], properties: { name: TEXT, arguments: TEXT } },
  },
};
const CHOICE = {
  type: "object",
  properties: {
    // Only one choice is asked for.
    index: { const: 0 },
    delta: {
      type: ["object", "null"],
      properties: {
        content: TEXT,
        refusal: TEXT,
        reasoning_content: TEXT,
        reasoning: TEXT,
        tool_calls: { type: ["array", "null"], items: TOOL_CALL },
      },
    },
    finish_reason: TEXT,
  },
};
const CHUNK = {
  type: "object",
  properties: {
    model: TEXT,
    choices: { type: ["array", "null"], items: CHOICE },
    usage: {
      type: ["object", "null"],
      properties: { prompt_tokens: COUNT, completion_tokens: COUNT },
    },
  },
};

/** The check of one chunk; made once for each provider. */
export function openAiChunkCheck(): ValueCheck {
  return createSchemaValidator().compile(CHUNK);
}

/** Reads the server-sent events that a chat completion streams. */
export class OpenAiDecoder implements ModelDecoder {
  readonly ending = "[DONE]";
  readonly #ground: DecoderGround;
  readonly #check: ValueCheck;
  readonly #text = new TextDecoder("utf-8", { fatal: true });
  readonly #events: EventSourceParser;
  #number = 0;
  #over = false;
  #whole = false;

  constructor(ground: DecoderGround, check: ValueCheck) {
    this.#ground = ground;
    this.#check = check;
    this.#events = createParser({
      maxBufferSize: ground.maxLineBytes,
      onEvent: ({ data }) => this.#take(data),
      onError: ({ type }) => {
        if (type === "max-buffer-size-exceeded") throw this.#tooLong();
      },
    });
  }

  push(bytes: Uint8Array): boolean {
    let text: string;
    try {
      text = this.#text.decode(bytes, { stream: true });
    } catch {
      throw RunEnd.failed("The server sent an event that is no UTF-8");
    }
    this.#events.feed(text);
    return this.#whole;
  }

  /** An event without the empty line after it counts when it says that the answer is whole. */
  end(): boolean {
    this.#over = true;
    this.#events.feed("\n\n");
    return this.#whole;
  }

  #take(data: string): void {
    if (this.#whole) return;
    if (data.trim() === "[DONE]") this.#whole = true;
    if (this.#whole || this.#over) return;
    if (data.length > this.#ground.maxLineBytes) throw this.#tooLong();
    const { output, secrets } = this.#ground;
    const chunk = parseChunk(data, ++this.#number, this.#check, secrets) as OpenAiChunk;
    const { model, choices, usage, error = null } = chunk;
    if (error !== null) {
      throw streamedError(messageIn(chunk) ?? "it has no message", secrets);
    }
    if (choices === undefined && usage === undefined) {
      throw malformed(this.#number, `has neither "choices" nor "usage" nor "error", so it is no chat completion`);
    }
    if (typeof model === "string") output.model(model);
    for (const choice of choices ?? []) this.#choice(choice);
    const { prompt_tokens, completion_tokens } = usage ?? {};
    if (prompt_tokens === undefined && completion_tokens === undefined) return;
    output.usage(prompt_tokens ?? 0, completion_tokens ?? 0);
  }

  #choice({ delta, finish_reason }: OpenAiChoice): void {
    const { output } = this.#ground;
    output.thinking(delta?.reasoning_content ?? delta?.reasoning ?? "");
    output.text(delta?.content ?? "");
    output.refusal(delta?.refusal ?? "");
    for (const { index, id, function: piece } of delta?.tool_calls ?? []) {
      // Without an index: an id begins a call, anything else goes on with the last one.
      const place = index ?? (typeof id === "string" ? output.toolCalls : Math.max(0, output.toolCalls - 1));
      output.toolCall(place, { id: id ?? null, name: piece?.name ?? "", arguments: piece?.arguments ?? "" });
    }
    if (typeof finish_reason === "string") output.finishReason(finish_reason);
  }

  #tooLong(): RunEnd {
    const { maxLineBytes } = this.#ground;
    return RunEnd.failed(`The server sent an event of more than ${maxLineBytes} characters, which maxLineBytes allows`);
  }
}
