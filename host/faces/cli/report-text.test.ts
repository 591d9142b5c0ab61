import { describe, expect, it } from "vitest";
import type { AdmissionReport } from "../../index.ts";
import { effectiveLimits, resolvePolicy } from "../../manifest/manifest.ts";
import { paint } from "./paint.ts";
import { reportLines } from "./report-text.ts";

const plain = paint(false);

describe("reportLines()", () => {
  it("shows the verdict and everything that led to it", () => {
    const lines = reportLines(REPORT, plain);
    expect(lines.slice(0, 23)).toEqual([
      "admitted  acme.rows@1.0.0",
      "",
      "kind      component, 1 core module, 2 memories",
      "size      2 KiB",
      `sha256    ${"ab".repeat(32)}`,
      "host ABI  1.0.0 (supported: 1.0.0)",
      "",
      "imports",
      "  airlock:capability/log@1.0.0  host   host ABI 1.0.0",
      "  wasi:cli/exit@0.2.3           empty  linked, holds nothing",
      "",
      "exports",
      "  airlock:capability/handler@1.0.0",
      "",
      "operations",
      "  count",
      "",
      "grants",
      "  fs  /data (read only)",
      "",
      "limits",
      "  fuel             2,000,000,000",
      "  setupFuel        1,000,000,000",
    ]);
  });

  it("shows every violation of a refusal", () => {
    const violations = [
      { code: "checksum_mismatch", message: "other bytes" },
      { code: "missing_export", message: "no way in" },
    ] as const;
    const lines = reportLines({ ...REPORT, accepted: false, capability: null, violations }, plain);
    expect(lines[0]).toBe("refused  component  2 violations");
    expect(lines.slice(7, 10)).toEqual([
      "violations",
      "  checksum_mismatch  other bytes",
      "  missing_export     no way in",
    ]);
  });

  it("lets no name of a component reach the terminal unescaped", () => {
    const name = "x\u001b[2J\u202ey\n";
    const lines = reportLines(
      {
        ...REPORT,
        accepted: false,
        capability: { id: name, version: name },
        imports: [{ name, class: "refused", rule: name }],
        exports: [name],
        operations: [name],
        grants: { fs: name, imports: [name], invoke: [name], connectors: [] },
        hostAbi: { requested: name, supported: ["1.0.0"] },
        violations: [{ code: "unsafe_name", message: name }],
      },
      plain,
    );
    for (const line of lines) expect(line).not.toMatch(/[\u0000-\u001f\u202e]/);
  });
});

const REPORT: AdmissionReport = {
  accepted: true,
  capability: { id: "acme.rows", version: "1.0.0" },
  bytes: 2_048,
  sha256: "ab".repeat(32),
  kind: "component",
  hostAbi: { requested: "1.0.0", supported: ["1.0.0"] },
  coreModules: 1,
  memories: 2,
  imports: [
    { name: "airlock:capability/log@1.0.0", class: "host", rule: "host ABI 1.0.0" },
    { name: "wasi:cli/exit@0.2.3", class: "empty", rule: "linked, holds nothing" },
  ],
  exports: ["airlock:capability/handler@1.0.0"],
  operations: ["count"],
  grants: { fs: "/data", imports: [], invoke: [], connectors: [] },
  limits: effectiveLimits(resolvePolicy()),
  violations: [],
};
