import { type ModelScript, ModelServer, type ProtocolAnswer, type ReceivedRequest } from "./test-model-server.ts";

/** The one model that the server has. */
export const OLLAMA_MODEL = "tiny:latest";

const CREATED = "2026-01-02T03:04:05.678901Z";
const DETAILS = {
  parent_model: "",
  format: "gguf",
  family: "tiny",
  families: ["tiny"],
  parameter_size: "1M",
  quantization_level: "Q4_0",
};
const MODEL = { name: OLLAMA_MODEL, model: OLLAMA_MODEL, size: 7, digest: "sha256:07", details: DETAILS };

/** A server with the part of Ollama's API that the provider uses. https://github.com/ollama/ollama/blob/main/docs/api.md */
export function ollamaServer(): Promise<ModelServer> {
  return new ModelServer(respond).listen();
}

function respond(request: ReceivedRequest, script: ModelScript): ProtocolAnswer {
  const { method, path, body } = request;
  switch (`${method} ${path}`) {
    case "GET /api/version":
      return json(200, { version: "0.12.0" });
    case "GET /api/tags":
      return json(200, { models: [{ ...MODEL, modified_at: CREATED }] });
    case "GET /api/ps":
      return json(200, { models: [{ ...MODEL, expires_at: CREATED, size_vram: 0 }] });
    case "POST /api/show":
      if (body?.["model"] !== OLLAMA_MODEL) return noModel(body);
      return json(200, { template: "{{ .Prompt }}", details: DETAILS, model_info: {}, capabilities: ["completion"] });
    case "POST /api/chat":
      if (!Array.isArray(body?.["messages"])) return json(400, { error: "messages is required" });
      return answer(body, script, chatMessage);
    case "POST /api/generate":
      return answer(body, script, (text, thinking) => ({ response: text, ...(thinking === "" ? {} : { thinking }) }));
    default:
      return { status: 404, contentType: "text/plain", frames: ["404 page not found"] };
  }
}

type Carrier = (text: string, thinking: string, toolCalls?: ModelScript["toolCalls"]) => object;

function chatMessage(content: string, thinking: string, toolCalls?: ModelScript["toolCalls"]): object {
  const tool_calls = toolCalls?.map((each) => ({ function: each }));
  const message = { role: "assistant", content };
  return {
    message: {
      ...message,
      ...(thinking === "" ? {} : { thinking }),
      ...(tool_calls === undefined ? {} : { tool_calls }),
    },
  };
}

function answer(body: ReceivedRequest["body"], script: ModelScript, carry: Carrier): ProtocolAnswer {
  if (body?.["model"] !== OLLAMA_MODEL) return noModel(body);
  const common = { model: OLLAMA_MODEL, created_at: CREATED };
  const { pieces, thinking = [], toolCalls, error } = script;
  const last = {
    done: true,
    done_reason: "stop",
    total_duration: 5,
    load_duration: 1,
    prompt_eval_count: 11,
    prompt_eval_duration: 1,
    eval_count: pieces.length,
    eval_duration: 1,
  };
  if (body["stream"] === false) {
    return json(200, { ...common, ...carry(pieces.join(""), thinking.join(""), toolCalls), ...last });
  }
  const chunks = [
    ...thinking.map((piece) => ({ ...common, ...carry("", piece), done: false })),
    ...pieces.map((piece) => ({ ...common, ...carry(piece, ""), done: false })),
    ...(toolCalls === undefined ? [] : [{ ...common, ...carry("", "", toolCalls), done: false }]),
    error === undefined ? { ...common, ...carry("", ""), ...last } : { error },
  ];
  return {
    status: 200,
    contentType: "application/x-ndjson",
    frames: chunks.map((chunk) => `${JSON.stringify(chunk)}\n`),
  };
}

function noModel(body: ReceivedRequest["body"]): ProtocolAnswer {
  return json(404, { error: `model '${String(body?.["model"])}' not found` });
}

function json(status: number, value: unknown): ProtocolAnswer {
  return { status, contentType: "application/json; charset=utf-8", frames: [JSON.stringify(value)] };
}
