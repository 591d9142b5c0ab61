import type { Command } from "commander";
import { type Act, connectorsOption, EXIT_CODES } from "./command-parts.ts";
import type { ConnectorsFlags } from "./connectors.ts";
import type { Terminal } from "./terminal.ts";

/** The command `connectors`. */
export function addConnectors(program: Command, terminal: Terminal, act: Act): void {
  program
    .command("connectors")
    .description("List the connectors that a file binds: ways to the outside that capabilities may declare")
    .addOption(connectorsOption())
    .option("--json", "print them as one JSON object")
    .addHelpText(
      "after",
      `
They are made for it, with the directories that they want; nobody is asked anything. airlock run binds the same ones.

The file:
  { "$schema": "./node_modules/airlock/dist/gateway/connectors.schema.json",
    "store": "./state",
    "connectors": [
      { "kind": "http", "capabilities": ["acme.weather"],
        "options": { "hosts": [{ "host": "api.example.com", "headersEnv": { "authorization": "API_AUTHORIZATION" } }] } },
      { "kind": "kv-store" },
      { "kind": "object-store", "options": { "directory": "./objects" }, "responseBytes": 1048576 },
      { "kind": "env", "options": { "names": ["GREETING"] } },
      { "kind": "scheduler" },
      { "kind": "module", "module": "./rates-connector.js", "export": "connector" } ] }
  Paths are from its folder. headersEnv names environment variables; a key has no place in the file. A module is code of
  yours that the host loads and trusts. A capability gets what is bound for it and declared in its grants.connectors.
${EXIT_CODES}

Examples:
  airlock connectors
  airlock connectors --connectors connectors.json --json | jq -r '.connectors[].id'
  airlock run ./dist --connectors connectors.json --value '{"city":"Delft"}'`,
    )
    .action((flags: ConnectorsFlags) =>
      act(flags.json === true, null, async () => (await import("./connectors.ts")).listConnectors(flags, terminal)),
    );
}
