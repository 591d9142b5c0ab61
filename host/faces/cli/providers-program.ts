import type { Command } from "commander";
import { type Act, allowFsOption, cacheDirOption, EXIT_CODES, providersOption } from "./command-parts.ts";
import type { ProvidersFlags } from "./providers.ts";
import type { Terminal } from "./terminal.ts";

const FILE = `
The file:
  { "$schema": "./node_modules/airlock/dist/providers/providers.schema.json",
    "providers": [
      { "kind": "component", "package": "./dist" },
      { "kind": "ollama", "id": "local@1.0.0", "baseUrl": "http://127.0.0.1:11434", "model": "llama3.2" },
      { "kind": "openai-compatible", "id": "cloud@1.0.0", "baseUrl": "https://api.openai.com/v1",
        "model": "gpt-4.1-mini", "apiKeyEnv": "OPENAI_API_KEY", "capacity": 4 } ],
    "pools": { "models": { "candidates": [{ "providerId": "local@1.0.0", "capacity": 2 }], "queue": 100 } } }
  Paths are from its folder. apiKeyEnv is the name of an environment variable; a key has no place in it.`;

/** The command `providers` and what stands below it. */
export function addProviders(program: Command, terminal: Terminal, act: Act): void {
  const providers = program
    .command("providers")
    .description("List the providers of a file: components, servers of models, pools")
    .addOption(providersOption())
    .addOption(allowFsOption())
    .addOption(cacheDirOption())
    .option("--json", "print them as one JSON object")
    .addHelpText(
      "after",
      `
Packages are admitted and compiled for it; no server is asked, and no key is needed.
${FILE}
${EXIT_CODES}

Examples:
  airlock providers
  airlock providers --providers providers.json --json | jq -r '.providers[].id'
  airlock providers command local transport_status
  airlock run local --providers providers.json -o generate --value '{"prompt":"Why is the sky blue?"}'`,
    )
    .action((flags: ProvidersFlags) =>
      act(flags.json === true, null, async () => (await import("./providers.ts")).listProviders(flags, terminal)),
    );
  addCommand(providers, terminal, act);
}

function addCommand(providers: Command, terminal: Terminal, act: Act): void {
  providers
    .command("command")
    .description("Ask a provider a command: capabilities, transport_status or ollama_api; there are no others")
    .argument("<id>", "a provider's id, with or without its version")
    .argument("<command>", "capabilities, transport_status or ollama_api")
    .argument("[json]", "the command's arguments, as one JSON object")
    .addOption(providersOption())
    .addOption(allowFsOption())
    .addOption(cacheDirOption())
    .option("--json", "print errors as one JSON object too; the answer is JSON anyway")
    .addHelpText(
      "after",
      `
  capabilities       operations with their JSON Schemas, events, limits, models; takes no arguments
  transport_status   how it is connected, since when, its runs and its slots; takes no arguments
  ollama_api         reads /api/tags, /api/ps, /api/version, or /api/show of a model: {"path":"/api/tags"}

A command that is not on the list, or asks for what is not, is refused before the file is read; only the provider that is
asked is started. An HTTP status other than 200 is an answer of ollama_api.
${EXIT_CODES}

Examples:
  airlock providers command local capabilities | jq '.operations[].name'
  airlock providers command local@1.0.0 transport_status --providers providers.json
  airlock providers command local ollama_api '{"path":"/api/show","model":"llama3.2"}'`,
    )
    .action((id: string, command: string, json: string | undefined, _own: unknown, self: Command) => {
      // What both levels know is taken by the upper one.
      const flags = self.optsWithGlobals<ProvidersFlags>();
      return act(flags.json === true, null, async () =>
        (await import("./provider-command.ts")).askProvider({ id, command, json }, flags, terminal),
      );
    });
}
