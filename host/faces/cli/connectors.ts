import { type BoundConnector, openConnectors, readConnectorsFile } from "../../index.ts";
import { commandHost } from "./command-host.ts";
import { neededConnectorsPath } from "./connectors-path.ts";
import { EXIT } from "./exit-code.ts";
import type { Paint } from "./paint.ts";
import { jsonText, printable } from "./printable.ts";
import { alignedRows } from "./table.ts";
import type { Terminal } from "./terminal.ts";
import { shownBytes } from "./units.ts";

/** What `airlock connectors` understands. */
export interface ConnectorsFlags {
  readonly connectors?: string;
  readonly json?: boolean;
}

/** Prints the connectors of a file as a host has them bound. */
export async function listConnectors(flags: ConnectorsFlags, terminal: Terminal): Promise<number> {
  const bound = await boundBy(readConnectorsFile(neededConnectorsPath(flags.connectors)));
  if (flags.json) terminal.print(jsonText({ connectors: bound }, 2));
  else for (const line of connectorLines(bound, terminal.outPaint)) terminal.print(line);
  return EXIT.good;
}

async function boundBy(file: ReturnType<typeof readConnectorsFile>): Promise<readonly BoundConnector[]> {
  const { bindings, close } = await openConnectors(file);
  try {
    const host = await commandHost({}, { connectors: bindings });
    const bound = host.connectors.list();
    await host.close();
    return bound;
  } finally {
    await close();
  }
}

function connectorLines(bound: readonly BoundConnector[], colours: Paint): readonly string[] {
  if (bound.length === 0) return ["The file has no connectors"];
  const head = ["id", "version", "for", "request", "response", ""];
  const body = bound.map(({ id, version, capabilities, requestBytes, responseBytes, description }) => [
    printable(id),
    printable(version),
    capabilities === null ? "all that declare it" : printable(capabilities.join(", "), 80),
    shownBytes(requestBytes),
    shownBytes(responseBytes),
    printable(description ?? "", 80),
  ]);
  const style = (text: string, row: number): string => (row === 0 ? colours.faint(text) : text);
  return alignedRows(
    [head, ...body],
    head.map(() => style),
  );
}
