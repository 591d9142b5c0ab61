import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHost, type Host } from "../../index.ts";
import { buildCapability } from "../../toolchain/toolchain.ts";
import { any, calling, guest, PATIENT } from "./guest.ts";

const TYPES = JSON.stringify(
  join(import.meta.dirname, "../../../capabilities/generated/airlock-capability-invoke.d.ts"),
);

/** Adds up what another capability says of each word, and tells of the words on which it did not succeed. */
const SOURCE = `
import { invoke } from "airlock:capability/invoke@1.0.0";
import type { InvokeError } from ${TYPES};
export const handler = {
  handle(input: string): string {
    const { words } = JSON.parse(input) as { readonly words: readonly string[] };
    const answers = words.map((word) => {
      try {
        if (word === "") return invoke("test.leaf", "trap", "{}");
        return JSON.parse(invoke("test.leaf", "echo", JSON.stringify({ text: word })));
      } catch (thrown) {
        const { payload } = thrown as { readonly payload: InvokeError };
        return payload.tag === "ended" ? payload.val.kind : payload.tag;
      }
    });
    return JSON.stringify({ answers });
  },
};
`;

describe("a capability in TypeScript that calls others", () => {
  let host: Host;
  let folder: string;

  beforeAll(async () => {
    host = await createHost({ threads: 1, limits: PATIENT });
    await host.install(await guest("test.leaf"));
    folder = mkdtempSync(join(tmpdir(), "airlock-composite-"));
    mkdirSync(join(folder, "src"));
    const manifest = {
      id: "test.words",
      version: "1.0.0",
      operations: [{ name: "ask", input: { type: "object" }, output: { type: "object" } }],
      grants: { invoke: any("test.leaf") },
    };
    writeFileSync(join(folder, "capability.json"), JSON.stringify(manifest));
    writeFileSync(join(folder, "src", "capability.ts"), SOURCE);
  }, 60_000);
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await host.close();
  });

  it("is built against a world that has the import because of its grant, and catches errors with their payload", async () => {
    const { manifest, componentPath } = await buildCapability(folder);
    expect(manifest.imports).toContain("airlock:capability/invoke@1.0.0");
    await host.install({ manifest, component: new Uint8Array(readFileSync(componentPath)) });
    for (let round = 0; round < 2; round++) {
      const outcome = await host.run("test.words", { words: ["a", "", "b"] }).outcome;
      expect(outcome).toMatchObject({ kind: "succeeded", output: { answers: ["a", "trapped", "b"] } });
      expect(outcome.nested?.map(({ kind }) => kind)).toEqual(["succeeded", "trapped", "succeeded"]);
      if (round === 1) expect(outcome.evidence?.tier).toBe("reset");
    }
  }, 60_000);
});

describe("a component that generated glue carries", () => {
  it("calls others, and gets answers and errors, as the linker's do", async () => {
    const host = await createHost({ threads: 1, limits: PATIENT });
    await host.install(await guest("test.leaf"));
    await host.install(await guest("test.linked", { invoke: any("test.leaf") }));
    await host.install(await guest("test.glued", { invoke: any("test.leaf"), glue: true }));
    for (const input of [
      calling("test.leaf", "echo", { text: "hé" }),
      calling("test.leaf", "trap", {}),
      calling("test.leaf", "refuse", { text: "no" }),
      calling("test.none", "trap", {}),
    ]) {
      const [linked, glued] = await Promise.all(
        ["test.linked", "test.glued"].map((id) => host.run(id, input, { operation: "call" }).outcome),
      );
      const essence = ({ kind, output, failure, nested }: Record<string, unknown>) => ({
        kind,
        output,
        failure,
        nested: (nested as { kind: string; fuel: number }[] | undefined)?.map((each) => [each.kind, each.fuel]),
      });
      expect(essence(glued as never)).toEqual(essence(linked as never));
      expect(glued!.evidence?.tier).toBe("recycled");
    }
    await host.close();
  }, 60_000);
});
