import type { JsonSchema } from "../manifest/manifest.ts";
import type { TokenUsage } from "./outcome.ts";
import type { Emitter } from "./provider.ts";
import { RunEnd } from "./run-end.ts";

/** A function that the model wants called. */
export interface ModelToolCall {
  /** Null where the server names none. */
  readonly id: string | null;
  readonly name: string;
  /** JSON as the model wrote it, which may be wrong: parse it with care. */
  readonly arguments: string;
}

/** What a language model answered: the output of a run of a native model provider. */
export interface ModelOutput {
  /** All deltas of the run, joined. */
  readonly text: string;
  /** What the model thought before, where the server tells it apart. It does not come as deltas. */
  readonly thinking?: string;
  /** The model's words for why it refuses, where the server tells them apart. */
  readonly refusal?: string;
  readonly toolCalls?: readonly ModelToolCall[];
  /** Why the model stopped, in the server's word: `stop`, `length`, `tool_calls`, … Null where it says nothing. */
  readonly finishReason: string | null;
  /** The model that answered, as the server names it. */
  readonly model: string;
}

/** `ModelOutput` as a JSON Schema. */
export const MODEL_OUTPUT_SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    text: { type: "string", description: "All deltas of the run, joined." },
    thinking: { type: "string", description: "What the model thought before, where the server tells it apart." },
    refusal: { type: "string", description: "Why the model refuses, where the server tells it apart." },
    toolCalls: {
      type: "array",
      items: {
        type: "object",
        properties: {
          id: { type: ["string", "null"] },
          name: { type: "string" },
          arguments: { type: "string", description: "JSON as the model wrote it." },
        },
        required: ["id", "name", "arguments"],
        additionalProperties: false,
      },
    },
    finishReason: { type: ["string", "null"], description: "Why the model stopped, in the server's word." },
    model: { type: "string", description: "The model that answered, as the server names it." },
  },
  required: ["text", "finishReason", "model"],
  additionalProperties: false,
};

/** Bytes that a tool call takes besides its texts: `{"id":null,"name":"","arguments":""},`. */
const TOOL_CALL_BYTES = 40;

interface ToolCallParts {
  id: string | null;
  name: string;
  readonly arguments: Pieces;
}

/** Puts an answer together from its pieces and emits them. Holds no more than `outputBytes`; going past it throws a RunEnd. */
export class ModelOutputBuilder {
  readonly #emitter: Emitter;
  readonly #outputBytes: number;
  readonly #text = new Pieces();
  readonly #thinking = new Pieces();
  readonly #refusal = new Pieces();
  readonly #toolCalls = new Map<number, ToolCallParts>();
  #model: string;
  #finishReason: string | null = null;
  #tokens: TokenUsage | null = null;
  #bytes = 0;

  constructor(model: string, outputBytes: number, emitter: Emitter) {
    this.#model = model;
    this.#outputBytes = outputBytes;
    this.#emitter = emitter;
  }

  get toolCalls(): number {
    return this.#toolCalls.size;
  }

  text(piece: string): void {
    if (piece === "") return;
    this.#charge(piece);
    this.#text.push(piece);
    this.#emitter.emit({ kind: "delta", text: piece });
  }

  /** Resolves when whoever reads the run has room for more; null when it has. */
  room(): Promise<void> | null {
    return this.#emitter.room?.() ?? null;
  }

  thinking(piece: string): void {
    this.#charge(piece);
    this.#thinking.push(piece);
  }

  refusal(piece: string): void {
    this.#charge(piece);
    this.#refusal.push(piece);
  }

  /** The next piece of the tool call at `index`. A name or an id replaces the one before, arguments are appended. */
  toolCall(index: number, { id, name, arguments: piece }: Partial<ModelToolCall>): void {
    let call = this.#toolCalls.get(index);
    if (call === undefined) {
      this.#spend(TOOL_CALL_BYTES);
      call = { id: null, name: "", arguments: new Pieces() };
      this.#toolCalls.set(index, call);
    }
    if (typeof id === "string" && id !== "") {
      this.#charge(id, call.id ?? "");
      call.id = id;
    }
    if (name !== undefined && name !== "") {
      this.#charge(name, call.name);
      call.name = name;
    }
    if (piece === undefined) return;
    this.#charge(piece);
    call.arguments.push(piece);
  }

  model(name: string): void {
    if (name === "" || name === this.#model) return;
    this.#charge(name, this.#model);
    this.#model = name;
  }

  finishReason(reason: string): void {
    this.#charge(reason, this.#finishReason ?? "");
    this.#finishReason = reason;
  }

  /** Tokens so far. */
  usage(inputTokens: number, outputTokens: number): void {
    const last = this.#tokens;
    if (last?.inputTokens === inputTokens && last.outputTokens === outputTokens) return;
    this.#tokens = { inputTokens, outputTokens, model: this.#model };
    this.#emitter.emit({ kind: "usage", tokens: this.#tokens });
  }

  /** The whole. Throws a RunEnd when it has more bytes as JSON than `outputBytes`. */
  output(): ModelOutput {
    const thinking = this.#thinking.join();
    const refusal = this.#refusal.join();
    const toolCalls = [...this.#toolCalls]
      .sort(([a], [b]) => a - b)
      .map(([, call]) => ({ id: call.id, name: call.name, arguments: call.arguments.join() }));
    const output = {
      text: this.#text.join(),
      ...(thinking === "" ? {} : { thinking }),
      ...(refusal === "" ? {} : { refusal }),
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
      finishReason: this.#finishReason,
      model: this.#model,
    };
    if (Buffer.byteLength(JSON.stringify(output)) > this.#outputBytes) throw overBudget();
    return output;
  }

  #charge(text: string, instead = ""): void {
    this.#spend(Buffer.byteLength(text) - Buffer.byteLength(instead));
  }

  #spend(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#outputBytes) throw overBudget();
  }
}

function overBudget(): RunEnd {
  return new RunEnd({ kind: "over-budget", limit: "outputBytes" });
}

/** Joins now and then: a million strings of one character each take far more memory than their text. */
const MOST_PIECES = 1024;

class Pieces {
  readonly #blocks: string[] = [];
  #pieces: string[] = [];

  push(piece: string): void {
    if (piece === "") return;
    this.#pieces.push(piece);
    if (this.#pieces.length < MOST_PIECES) return;
    this.#blocks.push(this.#pieces.join(""));
    this.#pieces = [];
  }

  join(): string {
    return this.#blocks.join("") + this.#pieces.join("");
  }
}
