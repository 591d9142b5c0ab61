// A server of language models as a provider: read what it says as it says it, then the outcome, which has the whole.
// Run with: npm run example:model (a stand-in answers), or with an Ollama: npm run example:model -- http://127.0.0.1:11434 llama3.2
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createHost, type ModelOutput, ollamaProvider } from "airlock";

const [baseUrl = await standIn(), model = "stand-in"] = process.argv.slice(2);

await using host = await createHost({ threads: 1 });
// `openAiCompatibleProvider` is the same for whatever has OpenAI's API; its apiKey may be a function.
await host.providers.add(ollamaProvider({ id: "acme.model@1.0.0", baseUrl, model }), { capacity: 4 });
console.log("version", (await host.providers.command("acme.model", "ollama_api", { path: "/api/version" })).body);

const ask = { messages: [{ role: "user", content: "What is a capability?" }] };
const run = host.run<unknown, ModelOutput>("acme.model", ask, { operation: "chat", deadlineMs: 120_000 });
// Live and provisional: a run that breaks off has said something, and has not succeeded.
for await (const event of run) if (event.kind === "delta") console.log("delta", JSON.stringify(event.text));
const outcome = await run.outcome;
if (outcome.kind === "succeeded") console.log("output", outcome.output.text);
else console.log("ended", outcome.kind, "message" in outcome ? outcome.message : "");
console.log("tokens", outcome.tokens);

/** Speaks as much of Ollama's protocol as this example needs. */
async function standIn(): Promise<string> {
  const said = ["A name, ", "a version ", "and a promise."].map((content) => ({ message: { content }, done: false }));
  const last = { message: { content: "" }, done: true, done_reason: "stop", prompt_eval_count: 5, eval_count: 3 };
  const server = createServer((request, response) => {
    if (request.url === "/api/version") return response.end('{"version":"stand-in"}');
    for (const chunk of [...said, last]) response.write(`${JSON.stringify(chunk)}\n`);
    return response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
