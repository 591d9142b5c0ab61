import type { JsonSchema } from "../manifest/manifest.ts";

/** Every command that a provider can be asked. The list is closed: any other name is refused before the provider is looked up. */
export const COMMANDS = ["capabilities", "transport_status", "ollama_api"] as const;

export type CommandName = (typeof COMMANDS)[number];

/** Paths of Ollama's HTTP API that can be read through the command `ollama_api`. */
export const OLLAMA_PATHS = ["/api/tags", "/api/show", "/api/ps", "/api/version"] as const;

export type OllamaPath = (typeof OLLAMA_PATHS)[number];

/** A command that was checked. */
export type CommandRequest =
  | { readonly command: "capabilities" }
  | { readonly command: "transport_status" }
  /** `model` is for `/api/show` alone, which wants one. */
  | { readonly command: "ollama_api"; readonly path: OllamaPath; readonly model?: string };

/** What a provider can do. */
export interface Capabilities {
  readonly operations: readonly {
    readonly name: string;
    readonly input: JsonSchema;
    readonly output: JsonSchema;
  }[];
  /** Types of events that it may emit. */
  readonly events: readonly { readonly type: string; readonly version: string; readonly schema?: JsonSchema }[];
  /** Upper bounds of a run, by the names of the limits; null is none. */
  readonly limits: Readonly<Record<string, number | null>>;
  /** Names of the language models that it serves. */
  readonly models: readonly string[];
}

/** How a provider is reached. */
export type TransportKind = "thread" | "process" | "http" | "function";

/** How a provider is connected. */
export interface TransportStatus {
  readonly kind: TransportKind;
  readonly connected: boolean;
  /** Since when it is so, in milliseconds since the epoch. */
  readonly since: number;
  /** Its runs that hold a slot now. */
  readonly inFlight: number;
  /** Slots, of which others may hold some where they are shared, as components share threads. */
  readonly capacity: number;
}

/** What Ollama answered, unchanged. */
export interface OllamaAnswer {
  /** HTTP status. */
  readonly status: number;
  /** The JSON of its body. */
  readonly body: unknown;
}

/** The answer to each command. `COMMAND_SCHEMAS` says the same as JSON Schemas. */
export interface CommandAnswers {
  readonly capabilities: Capabilities;
  readonly transport_status: TransportStatus;
  readonly ollama_api: OllamaAnswer;
}
