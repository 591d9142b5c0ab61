import type { ModelProviderDefinition } from "./model-provider.ts";
import { ollamaProvider } from "./ollama-provider.ts";
import { openAiCompatibleProvider } from "./openai-compatible-provider.ts";
import type { Provider, RunEvent, RunRequest } from "./provider.ts";
import type { ProviderRun } from "./provider-run.ts";
import { ProviderRuns } from "./provider-runs.ts";
import { TestClock } from "./test-clock.ts";
import type { ModelServer } from "./test-model-server.ts";
import { OLLAMA_MODEL, ollamaServer } from "./test-ollama-server.ts";
import { OPENAI_KEY, OPENAI_MODEL, openAiServer } from "./test-openai-server.ts";
import { requestFor } from "./test-requests.ts";

/** One of the model providers and the server that it is tested with. */
export interface Dialect {
  readonly name: string;
  readonly id: string;
  readonly model: string;
  /** Whether the server streams server-sent events, or lines. */
  readonly events: boolean;
  readonly listen: () => Promise<ModelServer>;
  readonly provider: (url: string, clock: TestClock, more?: Partial<ModelProviderDefinition>) => Provider;
}

export const DIALECTS: readonly Dialect[] = [
  {
    name: "ollama",
    id: "acme.ollama@1.0.0",
    model: OLLAMA_MODEL,
    events: false,
    listen: ollamaServer,
    provider: (url, clock, more = {}) =>
      ollamaProvider({ id: "acme.ollama@1.0.0", baseUrl: url, model: OLLAMA_MODEL, ...more }, { clock }),
  },
  {
    name: "openai-compatible",
    id: "acme.openai@1.0.0",
    model: OPENAI_MODEL,
    events: true,
    listen: openAiServer,
    provider: (url, clock, more = {}) =>
      openAiCompatibleProvider(
        { id: "acme.openai@1.0.0", baseUrl: `${url}/v1`, apiKey: OPENAI_KEY, model: OPENAI_MODEL, ...more },
        { clock },
      ),
  },
];

export const ASK = { messages: [{ role: "user", content: "Hello?" }] };

/** Everything that a test of a model provider needs, and how it is put away. */
export class ModelBench {
  readonly clock = new TestClock();
  readonly runs = new ProviderRuns({ clock: this.clock });
  readonly server: ModelServer;
  readonly dialect: Dialect;
  #count = 0;

  private constructor(dialect: Dialect, server: ModelServer) {
    this.dialect = dialect;
    this.server = server;
  }

  /** `baseUrl` in place of the server's own, for who wants to lead elsewhere. */
  static async open(
    dialect: Dialect,
    more: Partial<ModelProviderDefinition> & { readonly toward?: string } = {},
  ): Promise<ModelBench> {
    const { toward, ...definition } = more;
    const bench = new ModelBench(dialect, await dialect.listen());
    await bench.runs.add(dialect.provider(toward ?? bench.server.url, bench.clock, definition), { capacity: 4 });
    return bench;
  }

  start(input: unknown = ASK, more: Partial<RunRequest> = {}, sink: (event: RunEvent) => void = () => {}): ProviderRun {
    const request = requestFor(this.dialect.id, { runId: `r${this.#count++}`, operation: "chat", input, ...more });
    return this.runs.start(request, { sink });
  }

  /** A run to its end: its outcome and its events. */
  async run(input: unknown = ASK, more: Partial<RunRequest> = {}) {
    const events: RunEvent[] = [];
    const outcome = await this.start(input, more, (event) => void events.push(event)).outcome;
    return { outcome, events, deltas: deltasOf(events) };
  }

  async close(): Promise<void> {
    await this.runs.close();
    await this.server.close();
  }
}

export function deltasOf(events: readonly RunEvent[]): string[] {
  return events.flatMap((event) => (event.kind === "delta" ? [event.text] : []));
}
