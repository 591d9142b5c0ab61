import type { ValueCheck } from "../manifest/manifest.ts";
import { parseJsonText } from "../manifest/manifest.ts";
import type { CommandRequest, OllamaAnswer } from "./commands.ts";
import { beginningOf, type HttpEndpoint } from "./http-endpoint.ts";
import {
  type ModelGround,
  type ModelOperation,
  ModelProvider,
  type ModelProviderDefinition,
} from "./model-provider.ts";
import { OllamaDecoder, ollamaChunkCheck } from "./ollama-decoder.ts";
import type { Provider, RunSignal } from "./provider.ts";

/** An Ollama server that is to be a provider. */
export interface OllamaDefinition extends Omit<ModelProviderDefinition, "baseUrl"> {
  /** What stands before `/api/…`. Default `http://127.0.0.1:11434`. */
  readonly baseUrl?: string;
}

const DEFAULT_BASE_URL = "http://127.0.0.1:11434";
/** Bytes of an answer to the command `ollama_api`. `/api/show` sends licence and template along. */
const MOST_ANSWER_BYTES = 4 * 1024 * 1024;

const STREAM = { const: true, description: "Answers are always streamed." };
const FORMAT = { type: ["string", "object"], description: 'The form of the answer: "json", or a JSON Schema.' };
const COMMON = {
  stream: STREAM,
  format: FORMAT,
  options: { type: "object", description: "Parameters of the model, such as temperature." },
  keep_alive: { type: ["string", "number"], description: "How long the model stays loaded, such as 5m." },
  think: { type: ["boolean", "string"], description: "Whether the model is to think first, or how hard." },
  truncate: { type: "boolean", description: "Whether what does not fit into the context is left out." },
  shift: { type: "boolean", description: "Whether the context moves on when it is full." },
  logprobs: { type: "boolean" },
  top_logprobs: { type: "integer", minimum: 0 },
};
const IMAGES = { type: "array", items: { type: "string" }, description: "Images in base64." };

const CHAT = {
  properties: {
    messages: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        properties: {
          role: { enum: ["system", "user", "assistant", "tool"] },
          content: { type: "string" },
          images: IMAGES,
          tool_calls: { type: "array", items: { type: "object" } },
        },
        required: ["role"],
      },
    },
    tools: { type: "array", items: { type: "object" }, description: "Functions that the model may want called." },
    ...COMMON,
  },
  required: ["messages"],
};

const GENERATE = {
  properties: {
    prompt: { type: "string" },
    suffix: { type: "string" },
    system: { type: "string" },
    template: { type: "string" },
    images: IMAGES,
    raw: { type: "boolean", description: "The prompt is sent to the model as it is." },
    context: { type: "array", items: { type: "integer" } },
    ...COMMON,
  },
  required: ["prompt"],
};

/**
 * An Ollama server as a provider, with the operations `chat` and `generate`: the input is the body of `/api/chat` or `/api/generate`,
 * checked; the output is a `ModelOutput`, whose text also comes as `delta` events, and tokens come as `usage`. Answers the command
 * `ollama_api`. Its runs end as `provider-failed` where the server answers with an error or breaks its protocol, as `disconnected` where the
 * connection cannot be made or the answer stops before its end, as `over-budget` past `outputBytes`. Silence ends nothing. Throws
 * AIRLOCK_PROVIDERS_DEFINITION_INVALID. Protocol: https://github.com/ollama/ollama/blob/main/docs/api.md
 */
export function ollamaProvider(definition: OllamaDefinition, ground: ModelGround = {}): Provider {
  const check = ollamaChunkCheck();
  const operations = [operation("chat", CHAT, check), operation("generate", GENERATE, check)];
  return new ModelProvider({ baseUrl: DEFAULT_BASE_URL, ...definition }, operations, ground, {
    commands: (endpoint) => ({ ollama_api: (request, signal) => readApi(endpoint, request, signal) }),
  });
}

function operation(name: string, input: ModelOperation["input"], check: ValueCheck): ModelOperation {
  return {
    name,
    path: `/api/${name}`,
    input,
    // Ollama passes over what it does not know, and a parameter with a slip in its name would change nothing.
    open: false,
    bodyOf: (given) => ({ ...given, stream: true }),
    decoder: (ground) => new OllamaDecoder(ground, check),
  };
}

/** Rejects with an Error for an answer that cannot be had, is too long or is no JSON. Another status than 200 is an answer. */
async function readApi(
  endpoint: HttpEndpoint,
  { path, model }: Extract<CommandRequest, { command: "ollama_api" }>,
  signal: RunSignal,
): Promise<OllamaAnswer> {
  const answer = await endpoint.ask(path, model === undefined ? undefined : { model }, signal);
  const { status, secrets } = answer;
  const { bytes, cut } = await beginningOf(answer, MOST_ANSWER_BYTES);
  const said = `The server's answer to ${path} (HTTP ${status})`;
  if (cut) throw new Error(`${said} broke off, or has more than ${MOST_ANSWER_BYTES} bytes`);
  const parsed = parseJsonText(secrets.redact(bytes.toString()));
  if (parsed.kind === "value") return { status, body: parsed.value };
  throw new Error(`${said} ${parsed.text}`);
}
