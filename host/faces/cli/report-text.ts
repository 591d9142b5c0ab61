import type { AdmissionReport } from "../../index.ts";
import { LIMIT_KEYS, type LimitKey } from "../../manifest/manifest.ts";
import type { Paint } from "./paint.ts";
import { printable } from "./printable.ts";
import { alignedRows } from "./table.ts";
import { counted, shownBytes, shownLimit } from "./units.ts";

/** An admission report for people: the verdict first, then everything that led to it. */
export function reportLines(report: AdmissionReport, colours: Paint): readonly string[] {
  return [
    ...verdict(report, colours),
    "",
    ...facts(report),
    ...section("violations", violationRows(report), colours, [colours.bad]),
    ...section("imports", importRows(report), colours, [undefined, classColour(report, colours)]),
    ...section("exports", report.exports.map(cell), colours),
    ...section("operations", report.operations.map(cell), colours),
    ...section("grants", grantRows(report), colours),
    ...section("limits", limitRows(report), colours),
  ];
}

function verdict({ accepted, capability, kind, violations }: AdmissionReport, colours: Paint): readonly string[] {
  const bare = kind === "core-module" ? "core module" : "component";
  const what = capability === null ? bare : `${printable(capability.id)}@${printable(capability.version)}`;
  if (accepted) return [`${colours.good("admitted")}  ${colours.strong(what)}`];
  const count = violations.length === 1 ? "1 violation" : `${violations.length} violations`;
  return [`${colours.bad("refused")}  ${colours.strong(what)}  ${count}`];
}

function facts({ bytes, sha256, kind, hostAbi, coreModules, memories }: AdmissionReport): readonly string[] {
  const parts = {
    component: `, ${counted(coreModules, "core module")}, ${counted(memories, "memory")}`,
    "core-module": `, ${counted(memories, "memory")}`,
    unknown: "",
  }[kind];
  if (sha256 === "") return alignedRows([["component", "not read"]]);
  return alignedRows([
    ["kind", `${{ component: "component", "core-module": "core module", unknown: "not WebAssembly" }[kind]}${parts}`],
    ["size", shownBytes(bytes)],
    ["sha256", sha256],
    ["host ABI", `${printable(hostAbi.requested)} (supported: ${hostAbi.supported.join(", ")})`],
  ]);
}

function violationRows({ violations }: AdmissionReport): readonly (readonly string[])[] {
  return violations.map(({ code, message }) => [code, printable(message, 1_000)]);
}

function importRows({ imports }: AdmissionReport): readonly (readonly string[])[] {
  return imports.map(({ name, class: kind, rule }) => [printable(name), kind, printable(rule)]);
}

function grantRows({ grants }: AdmissionReport): readonly (readonly string[])[] {
  return [
    ...(grants.fs === null ? [] : [["fs", `${printable(grants.fs)} (read only)`]]),
    ...grants.imports.map((name) => ["import", printable(name)]),
    ...grants.invoke.map((name) => ["invoke", printable(name)]),
    ...grants.connectors.map((name) => ["connector", printable(name)]),
  ];
}

function limitRows({ limits }: AdmissionReport): readonly (readonly string[])[] {
  return LIMIT_KEYS.map((key: LimitKey) => [key, shownLimit(key, limits[key])]);
}

function section(
  title: string,
  rows: readonly (readonly string[])[],
  colours: Paint,
  styles: Parameters<typeof alignedRows>[1] = [],
): readonly string[] {
  // Nothing to violate is said by the verdict; nothing to import or to grant is worth a word.
  if (rows.length === 0 && title === "violations") return [];
  const lines = rows.length === 0 ? ["none"] : alignedRows(rows, styles);
  return ["", colours.strong(title), ...lines.map((line) => `  ${line}`)];
}

function classColour({ imports }: AdmissionReport, colours: Paint): (text: string, row: number) => string {
  return (text, row) => {
    const kind = imports[row]!.class;
    if (kind === "refused") return colours.bad(text);
    return kind === "real" || kind === "embedder" ? colours.warn(text) : colours.good(text);
  };
}

function cell(name: string): readonly string[] {
  return [printable(name)];
}
