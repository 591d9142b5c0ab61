import {
  addProviders,
  type FileProvider,
  type ProviderInfo,
  type ProvidersFile,
  readProvidersFile,
} from "../../index.ts";
import { addingText, commandHost, type HostFlags } from "./command-host.ts";
import { EXIT } from "./exit-code.ts";
import type { Paint } from "./paint.ts";
import { jsonText, printable } from "./printable.ts";
import { Progress } from "./progress.ts";
import { neededProvidersPath } from "./providers-path.ts";
import { alignedRows } from "./table.ts";
import type { Terminal } from "./terminal.ts";

/** What `airlock providers` understands. */
export interface ProvidersFlags extends HostFlags {
  readonly providers?: string;
  readonly json?: boolean;
}

/** A provider with what the file says of it. */
type Row = ProviderInfo & {
  readonly kind: FileProvider["kind"];
  /** The environment variable of its key that is not set; null when none is missing. */
  readonly missingEnv: string | null;
};

/** Prints the providers of a file as a host has them. */
export async function listProviders(flags: ProvidersFlags, terminal: Terminal): Promise<number> {
  const file = readProvidersFile(neededProvidersPath(flags.providers));
  const rows = rowsOf(file, await described(file, flags, terminal));
  if (flags.json) {
    const pools = Object.entries(file.pools).map(([name, catalog]) => ({ name, ...catalog }));
    terminal.print(jsonText({ providers: rows, pools }, 2));
    return EXIT.good;
  }
  for (const line of [...providerLines(rows, terminal.outPaint), ...poolLines(file, terminal.outPaint)]) {
    terminal.print(line);
  }
  for (const { id, missingEnv } of rows) {
    if (missingEnv === null) continue;
    const text = `${printable(id)} cannot be run: the environment variable ${missingEnv} is not set`;
    terminal.note(terminal.notePaint.warn(text));
  }
  return EXIT.good;
}

async function described(
  file: ProvidersFile,
  flags: ProvidersFlags,
  terminal: Terminal,
): Promise<readonly ProviderInfo[]> {
  const progress = new Progress(terminal);
  const host = await commandHost(flags);
  try {
    await addProviders(host, file, {
      requireKeys: false,
      adding: (provider) => progress.step(addingText(provider)),
    });
    return host.providers.list();
  } finally {
    progress.end();
    await host.close();
  }
}

function rowsOf({ providers }: ProvidersFile, known: readonly ProviderInfo[]): readonly Row[] {
  const kept = new Map(providers.map((each) => [each.id, each]));
  return known.map((info) => {
    const provider = kept.get(info.id)!;
    const name = provider.kind === "component" ? null : provider.apiKeyEnv;
    const missingEnv = name !== null && (process.env[name] ?? "") === "" ? name : null;
    return { ...info, kind: provider.kind, missingEnv };
  });
}

function providerLines(rows: readonly Row[], colours: Paint): readonly string[] {
  if (rows.length === 0) return ["The file has no providers"];
  const head = ["id", "kind", "operations", "capacity", "connected"];
  const body = rows.map(({ id, kind, operations, capacity, connected }) => [
    printable(id),
    kind,
    printable(operations.join(", "), 80),
    String(capacity),
    connected ? "yes" : "no",
  ]);
  return headed(head, body, colours);
}

function poolLines({ pools }: ProvidersFile, colours: Paint): readonly string[] {
  const body = Object.entries(pools).map(([name, { candidates, queue }]) => [
    printable(name),
    printable(candidates.map(({ providerId, capacity }) => `${providerId} (${capacity})`).join(", ")),
    queue === undefined ? "" : String(queue),
  ]);
  return body.length === 0 ? [] : ["", ...headed(["pool", "candidates", "queue"], body, colours)];
}

function headed(head: readonly string[], body: readonly (readonly string[])[], colours: Paint): readonly string[] {
  const style = (text: string, row: number): string => (row === 0 ? colours.faint(text) : text);
  return alignedRows(
    [head, ...body],
    head.map(() => style),
  );
}
