import { HostError } from "../errors/errors.ts";
import { type ModelGround, ModelProvider, type ModelProviderDefinition } from "./model-provider.ts";
import { OpenAiDecoder, openAiChunkCheck } from "./openai-decoder.ts";
import type { Provider } from "./provider.ts";

/** A server with OpenAI's API that is to be a provider. */
export interface OpenAiCompatibleDefinition extends ModelProviderDefinition {
  /** What stands before `/chat/completions`, as OpenAI's own clients take it: `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  /** Whether to ask for the count of tokens (`stream_options`). Default true; false for a server that refuses to be asked. */
  readonly includeUsage?: boolean;
}

const CHAT = {
  properties: {
    messages: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        properties: {
          role: { enum: ["system", "developer", "user", "assistant", "tool", "function"] },
          content: { type: ["string", "array", "null"] },
          tool_calls: { type: "array", items: { type: "object" } },
          tool_call_id: { type: "string" },
        },
        required: ["role"],
      },
    },
    tools: { type: "array", items: { type: "object" }, description: "Functions that the model may want called." },
    temperature: { type: ["number", "null"] },
    max_tokens: { type: ["integer", "null"], minimum: 1 },
    max_completion_tokens: { type: ["integer", "null"], minimum: 1 },
    n: { const: 1, description: "A run has one answer." },
    stream: { const: true, description: "Answers are always streamed." },
    stream_options: false,
  },
  required: ["messages"],
};

/**
 * A server with OpenAI's API as a provider, with the operation `chat`: the input is the body of `/chat/completions`, checked as far as
 * the servers agree on it; the output is a `ModelOutput`, whose text also comes as `delta` events, and tokens come as `usage`. Tool calls stand in
 * the output, put together from their pieces. Its runs end as `provider-failed` where the server answers with an error or breaks its
 * protocol, as `disconnected` where the connection cannot be made or the answer stops before `[DONE]`, as `over-budget` past `outputBytes`. Silence ends
 * nothing. Throws AIRLOCK_PROVIDERS_DEFINITION_INVALID. Protocol: https://platform.openai.com/docs/api-reference/chat-streaming
 */
export function openAiCompatibleProvider(definition: OpenAiCompatibleDefinition, ground: ModelGround = {}): Provider {
  const { includeUsage = true } = definition;
  if (typeof includeUsage !== "boolean") {
    throw new HostError(
      "AIRLOCK_PROVIDERS_DEFINITION_INVALID",
      "Cannot make a provider: includeUsage is no boolean, true or false is wanted",
    );
  }
  const check = openAiChunkCheck();
  const chat = {
    name: "chat",
    path: "/chat/completions",
    input: CHAT,
    // Each of these servers has parameters of its own, and refuses those that it does not know.
    open: true,
    notStreamed: /^(?:application\/json|text\/html)\b/i,
    bodyOf: (input: Readonly<Record<string, unknown>>) => ({
      ...input,
      stream: true,
      ...(includeUsage ? { stream_options: { include_usage: true } } : {}),
    }),
    decoder: (ground: ConstructorParameters<typeof OpenAiDecoder>[0]) => new OpenAiDecoder(ground, check),
  };
  return new ModelProvider(definition, [chat], ground, { keys: ["includeUsage"] });
}
