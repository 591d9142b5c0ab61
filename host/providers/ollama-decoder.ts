import { createSchemaValidator, type ValueCheck } from "../manifest/manifest.ts";
import { LineSplitter } from "./line-splitter.ts";
import { type DecoderGround, type ModelDecoder, malformed, parseChunk, streamedError } from "./model-decoder.ts";

/** A line of an answer, as far as it is read. https://github.com/ollama/ollama/blob/main/docs/api.md */
interface OllamaChunk {
  readonly model?: string;
  readonly message?: {
    readonly content?: string | null;
    readonly thinking?: string | null;
    readonly tool_calls?: readonly OllamaToolCall[] | null;
  };
  readonly response?: string | null;
  readonly thinking?: string | null;
  readonly done?: boolean;
  readonly error?: string;
  readonly done_reason?: string | null;
  readonly prompt_eval_count?: number;
  readonly eval_count?: number;
}

interface OllamaToolCall {
  readonly id?: string;
  readonly function: { readonly name: string; readonly arguments?: unknown };
}

const TEXT = { type: ["string", "null"] };
const COUNT = { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const FUNCTION = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
const CHUNK = {
  type: "object",
  properties: {
    model: { type: "string" },
    message: {
      type: "object",
      properties: {
        content: TEXT,
        thinking: TEXT,
        tool_calls: {
          type: ["array", "null"],
          items: {
            type: "object",
            properties: { id: { type: "string" }, function: FUNCTION },
            required: ["function"],
          },
        },
      },
    },
    response: TEXT,
    thinking: TEXT,
    done: { type: "boolean" },
    done_reason: TEXT,
    prompt_eval_count: COUNT,
    eval_count: COUNT,
    error: { type: "string" },
  },
};

/** The check of one line; made once for each provider. */
export function ollamaChunkCheck(): ValueCheck {
  return createSchemaValidator().compile(CHUNK);
}

/** Reads the lines of JSON that Ollama streams, of `/api/chat` and of `/api/generate`. */
export class OllamaDecoder implements ModelDecoder {
  readonly ending = 'a line with "done": true';
  readonly #ground: DecoderGround;
  readonly #check: ValueCheck;
  readonly #lines: LineSplitter;
  #number = 0;

  constructor(ground: DecoderGround, check: ValueCheck) {
    this.#ground = ground;
    this.#check = check;
    this.#lines = new LineSplitter(ground.maxLineBytes);
  }

  push(bytes: Uint8Array): boolean {
    for (const line of this.#lines.push(bytes)) if (this.#take(line)) return true;
    return false;
  }

  /** A last line without its end counts when it is whole: then nothing was lost. */
  end(): boolean {
    const rest = this.#lines.rest();
    return /^\s*\{[\s\S]*\}\s*$/.test(rest) && isJson(rest) && this.#take(rest);
  }

  #take(line: string): boolean {
    if (line.trim() === "") return false;
    const { output, secrets } = this.#ground;
    const chunk = parseChunk(line, ++this.#number, this.#check, secrets) as OllamaChunk;
    if (chunk.error !== undefined) throw streamedError(chunk.error, secrets);
    if (chunk.done === undefined)
      throw malformed(this.#number, `has neither "done" nor "error", so Ollama did not send it`);
    const { model, message, response, thinking, done, done_reason, prompt_eval_count, eval_count } = chunk;
    if (model !== undefined) output.model(model);
    output.thinking(message?.thinking ?? thinking ?? "");
    output.text(message?.content ?? response ?? "");
    for (const call of message?.tool_calls ?? []) {
      const { name, arguments: args = {} } = call.function;
      output.toolCall(output.toolCalls, { id: call.id ?? null, name, arguments: JSON.stringify(args) });
    }
    if (!done) return false;
    if (typeof done_reason === "string") output.finishReason(done_reason);
    // Ollama leaves out a count of zero.
    if (prompt_eval_count !== undefined || eval_count !== undefined)
      output.usage(prompt_eval_count ?? 0, eval_count ?? 0);
    return true;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
