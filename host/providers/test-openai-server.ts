import { type ModelScript, ModelServer, type ProtocolAnswer, type ReceivedRequest } from "./test-model-server.ts";

/** The one model that the server has, and the key that it wants. */
export const OPENAI_MODEL = "tiny-1";
export const OPENAI_KEY = "sk-test/7f3a+91c0==";

/** A server with the part of OpenAI's API that the provider uses. https://platform.openai.com/docs/api-reference/chat */
export function openAiServer(): Promise<ModelServer> {
  return new ModelServer(respond).listen();
}

function respond(request: ReceivedRequest, script: ModelScript): ProtocolAnswer {
  const { method, path, headers, body } = request;
  if (headers.authorization !== `Bearer ${OPENAI_KEY}`) {
    // The real one repeats a part of the key; others repeat all of it.
    return refused(401, `Incorrect API key provided: ${headers.authorization ?? "none"}.`, "invalid_api_key");
  }
  if (`${method} ${path}` === "GET /v1/models") {
    return json(200, { object: "list", data: [{ id: OPENAI_MODEL, object: "model", created: 1, owned_by: "test" }] });
  }
  if (`${method} ${path}` !== "POST /v1/chat/completions") return refused(404, `Invalid URL (${method} ${path})`, null);
  if (!Array.isArray(body?.["messages"])) return refused(400, "Missing required parameter: 'messages'.", null);
  if (body["model"] !== OPENAI_MODEL) {
    return refused(404, `The model \`${String(body["model"])}\` does not exist`, "model_not_found");
  }
  return body["stream"] === true ? streamed(body, script) : atOnce(script);
}

function atOnce({ pieces, toolCalls = [] }: ModelScript): ProtocolAnswer {
  const message = {
    role: "assistant",
    content: pieces.join(""),
    refusal: null,
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map(wholeCall) }),
  };
  const choice = { index: 0, message, logprobs: null, finish_reason: reasonOf(toolCalls) };
  return json(200, { ...COMMON, object: "chat.completion", choices: [choice], usage: usageOf(pieces) });
}

function streamed(body: Readonly<Record<string, unknown>>, script: ModelScript): ProtocolAnswer {
  const { pieces, thinking = [], toolCalls = [], error } = script;
  const options = body["stream_options"] as { readonly include_usage?: boolean } | undefined;
  const counted = options?.include_usage === true;
  const common = { ...COMMON, object: "chat.completion.chunk", ...(counted ? { usage: null } : {}) };
  const chunk = (delta: object, finish_reason: string | null = null): object => {
    return { ...common, choices: [{ index: 0, delta, logprobs: null, finish_reason }] };
  };
  const chunks: object[] = [
    chunk({ role: "assistant", content: "", refusal: null }),
    ...thinking.map((reasoning_content) => chunk({ reasoning_content })),
    ...pieces.map((content) => chunk({ content })),
    ...toolCalls.flatMap((call, index) => [
      chunk({ tool_calls: [{ ...wholeCall(call, index), index, function: { name: call.name, arguments: "" } }] }),
      ...piecesOf(JSON.stringify(call.arguments)).map((piece) =>
        chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
      ),
    ]),
  ];
  if (error !== undefined) chunks.push({ error: { message: error, type: "server_error", param: null, code: null } });
  else chunks.push(chunk({}, reasonOf(toolCalls)));
  if (error === undefined && counted) chunks.push({ ...common, choices: [], usage: usageOf(pieces) });
  const frames = chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`);
  if (error === undefined) frames.push("data: [DONE]\n\n");
  return { status: 200, contentType: "text/event-stream", frames };
}

const COMMON = { id: "chatcmpl-1", created: 1_767_000_000, model: OPENAI_MODEL, system_fingerprint: null };

function usageOf(pieces: readonly string[]): object {
  return { prompt_tokens: 11, completion_tokens: pieces.length, total_tokens: 11 + pieces.length };
}

function wholeCall({ name, arguments: args }: NonNullable<ModelScript["toolCalls"]>[number], index: number): object {
  return { id: `call_${index}`, type: "function", function: { name, arguments: JSON.stringify(args) } };
}

function piecesOf(text: string): string[] {
  return text.match(/[\s\S]{1,4}/g) ?? [];
}

function reasonOf(toolCalls: readonly unknown[]): string {
  return toolCalls.length === 0 ? "stop" : "tool_calls";
}

function refused(status: number, message: string, code: string | null): ProtocolAnswer {
  return json(status, { error: { message, type: "invalid_request_error", param: null, code } });
}

function json(status: number, value: unknown): ProtocolAnswer {
  return { status, contentType: "application/json", frames: [JSON.stringify(value)] };
}
