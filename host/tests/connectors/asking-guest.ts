import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeComponent } from "../../component/component.ts";
import type { PackageInMemory } from "../../index.ts";
import { parseManifest } from "../../manifest/manifest.ts";
import { buildCapability } from "../../toolchain/toolchain.ts";

const TYPES = JSON.stringify(
  join(import.meta.dirname, "../../../capabilities/generated/airlock-capability-connectors.d.ts"),
);

/** Asks connectors as it is told, one after the other, and tells what came. */
const SOURCE = `
import { invoke } from "airlock:capability/connectors@1.0.0";
import type { ConnectorError } from ${TYPES};
export const handler = {
  handle(input: string): string {
    const { asks } = JSON.parse(input) as { asks: { connector: string; operation: string; payload?: unknown; text?: string }[] };
    const answers = asks.map(({ connector, operation, payload, text }) => {
      try {
        const { resultClass, payload: said } = invoke(connector, operation, text ?? JSON.stringify(payload));
        return { resultClass, payload: JSON.parse(said) };
      } catch (thrown) {
        const { tag, val } = (thrown as { payload: ConnectorError }).payload;
        return { tag, val };
      }
    });
    return JSON.stringify({ answers });
  },
};
`;

/** What the guest is asked to ask. `text` stands for the payload where it is no JSON. */
export interface Ask {
  readonly connector: string;
  readonly operation: string;
  readonly payload?: unknown;
  readonly text?: string;
}

let built: Promise<Uint8Array> | undefined;

/** A capability in TypeScript that asks connectors. It is built once. */
export async function askingGuest(
  connectors: readonly { readonly id: string; readonly range: string }[],
  { id = "test.asker", limits = {} }: { readonly id?: string; readonly limits?: Record<string, number> } = {},
): Promise<PackageInMemory> {
  built ??= build();
  const component = await built;
  const manifest = parseManifest(
    JSON.stringify({
      id,
      version: "1.2.3",
      component: "component.wasm",
      sha256: createHash("sha256").update(component).digest("hex"),
      imports: decodeComponent(component).imports.map(({ name }) => name),
      operations: [{ name: "ask", input: { type: "object" }, output: { type: "object" } }],
      grants: { connectors },
      limits,
    }),
    id,
  );
  return { manifest, component };
}

async function build(): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), "airlock-asker-"));
  try {
    mkdirSync(join(folder, "src"));
    const manifest = {
      id: "test.asker",
      version: "1.2.3",
      operations: [{ name: "ask", input: { type: "object" }, output: { type: "object" } }],
      grants: { connectors: [{ id: "any", range: "*" }] },
    };
    writeFileSync(join(folder, "capability.json"), JSON.stringify(manifest));
    writeFileSync(join(folder, "src", "capability.ts"), SOURCE);
    const { componentPath } = await buildCapability(folder);
    return new Uint8Array(readFileSync(componentPath));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
