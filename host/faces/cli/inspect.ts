import { statSync } from "node:fs";
import { type AdmissionReport, createHost, type Host } from "../../index.ts";
import { MAX_COMPONENT_BYTES, readBareFile } from "./bare-file.ts";
import { EXIT } from "./exit-code.ts";
import { jsonText } from "./printable.ts";
import { Progress } from "./progress.ts";
import { reportLines } from "./report-text.ts";
import type { Terminal } from "./terminal.ts";

/** What `airlock inspect` understands. */
export interface InspectFlags {
  readonly json?: boolean;
  readonly allowFs?: readonly string[];
}

/** Prints what admission says of a package or of a component by itself. Answers 0 when it would be let in, else 3. */
export async function inspect(path: string, flags: InspectFlags, terminal: Terminal): Promise<number> {
  const progress = new Progress(terminal);
  // Read before a host is made: what cannot be read is told at once.
  const component = isBareFile(path) ? readBareFile(path) : null;
  const host = await createHost({
    threads: 1,
    // A process started ahead for a second component would only slow down the one there is.
    compile: { spares: 0 },
    maxComponentBytes: MAX_COMPONENT_BYTES,
    allow: { fs: flags.allowFs ?? [] },
  });
  let report: AdmissionReport;
  try {
    progress.step(`Inspecting ${path}`);
    report = await inspectWith(host, component ?? path);
  } finally {
    progress.end();
    await host.close();
  }
  if (flags.json) terminal.print(jsonText(report, 2));
  else for (const line of reportLines(report, terminal.outPaint)) terminal.print(line);
  return report.accepted ? EXIT.good : EXIT.refused;
}

function inspectWith(host: Host, source: string | Uint8Array): Promise<AdmissionReport> {
  return host.inspect(typeof source === "string" ? source : { component: source });
}

/** A folder and a `.json` are a package; everything else that exists is looked at as a component. */
function isBareFile(path: string): boolean {
  if (path.toLowerCase().endsWith(".json")) return false;
  try {
    return !statSync(path).isDirectory();
  } catch {
    return false;
  }
}
