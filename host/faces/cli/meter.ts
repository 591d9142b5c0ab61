import { setFlagsFromString } from "node:v8";
import { decodeComponent, kindOf } from "../../component/component.ts";
import { HostError, isHostError, quote } from "../../errors/errors.ts";
import { explain, type FunctionReport, type MeterErrorDetails } from "../../meter/meter.ts";
import { readBareFile } from "./bare-file.ts";
import { EXIT } from "./exit-code.ts";
import { componentLines, type MeteredPart, meteredLine, meteredLines } from "./meter-text.ts";
import { jsonText } from "./printable.ts";
import { Progress } from "./progress.ts";
import type { Terminal } from "./terminal.ts";
import { writeWholeFile } from "./whole-file.ts";

/** What `airlock meter` understands. */
export interface MeterFlags {
  readonly out?: string;
  readonly report?: boolean;
  readonly all?: boolean;
  readonly exact?: boolean;
  readonly json?: boolean;
}

/** Meters a core module, or each of a component's. Answers 0; whatever is refused is thrown. */
export async function meter(path: string, flags: MeterFlags, terminal: Terminal): Promise<number> {
  const bytes = readBareFile(path);
  const isComponent = kindOf(bytes) === "component";
  if (isComponent && flags.out !== undefined) {
    throw new HostError("AIRLOCK_CLI_USAGE", `--out wants a core module: ${quote(path)} is a component`);
  }
  const progress = new Progress(terminal);
  progress.step(`Metering ${path}`);
  try {
    if (isComponent) tellComponent(path, meterComponent(bytes, flags), flags, terminal);
    else tellModule(meterPart(bytes, path, flags), flags, terminal);
  } finally {
    progress.end();
  }
  return EXIT.good;
}

interface Part extends MeteredPart {
  readonly bytes: Uint8Array;
}

function meterPart(original: Uint8Array, name: string, { exact = false }: MeterFlags): Part {
  const startedAt = performance.now();
  const { bytes, report, functions } = explain(original, { callDepth: exact, canonicalNan: exact });
  const ms = Number((performance.now() - startedAt).toFixed(2));
  const ratio = Number((report.bytesOut / report.bytesIn).toFixed(3));
  return { name, bytes, report, ms, ratio, functions: () => [...functions()].sort(byCost) };
}

/** The dearest first; those that cost the same by index. */
function byCost(a: FunctionReport, b: FunctionReport): number {
  return b.staticCost - a.staticCost || a.index - b.index;
}

function meterComponent(bytes: Uint8Array, flags: MeterFlags): readonly Part[] {
  return decodeComponent(bytes).coreModules.map(({ path, start, end }) => {
    try {
      return meterAsHost(bytes.subarray(start, end), path, flags);
    } catch (thrown) {
      if (!isHostError(thrown)) throw thrown;
      const { code, message, details } = thrown;
      throw new HostError(code, `In ${quote(path)}: ${message}`, { details, cause: thrown });
    }
  });
}

/** As where it is compiled: a component may use extended constants, which are behind a flag of V8 on Node 20. */
function meterAsHost(original: Uint8Array, name: string, flags: MeterFlags): Part {
  try {
    return meterPart(original, name, flags);
  } catch (thrown) {
    const details = isHostError(thrown) ? (thrown.details as MeterErrorDetails) : {};
    if (!details.missingInEngine || details.feature !== "extended constant expressions") throw thrown;
  }
  try {
    setFlagsFromString("--experimental-wasm-extended-const");
    return meterPart(original, name, flags);
  } finally {
    setFlagsFromString("--no-experimental-wasm-extended-const");
  }
}

function tellModule(part: Part, flags: MeterFlags, terminal: Terminal): void {
  const { out } = flags;
  if (out !== undefined) writeWholeFile(out, part.bytes);
  const { ms, ratio, report, functions } = part;
  if (flags.json) {
    terminal.print(jsonText({ kind: "core-module", out: out ?? null, ms, ratio, report, functions: functions() }, 2));
  } else if (out !== undefined && !flags.report) terminal.print(meteredLine(part, terminal.outPaint));
  else for (const line of meteredLines(part, mostShown(flags), terminal.outPaint)) terminal.print(line);
}

function tellComponent(path: string, parts: readonly Part[], flags: MeterFlags, terminal: Terminal): void {
  if (flags.json) {
    const coreModules = parts.map(({ name, functions, ms, ratio, report }) => {
      return { path: name, ms, ratio, report, functions: functions() };
    });
    terminal.print(jsonText({ kind: "component", coreModules }, 2));
    return;
  }
  for (const line of componentLines(path, parts, mostShown(flags), terminal.outPaint)) terminal.print(line);
}

/** Functions that people are told of unless they ask for all. */
const SHOWN_FUNCTIONS = 20;

function mostShown({ all = false }: MeterFlags): number {
  return all ? Number.POSITIVE_INFINITY : SHOWN_FUNCTIONS;
}
