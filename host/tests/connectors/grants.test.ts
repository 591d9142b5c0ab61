import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Connector, createHost, type Host } from "../../index.ts";
import { parseManifest } from "../../manifest/manifest.ts";
import { any, calling, guest } from "../nested/guest.ts";
import { askingGuest } from "./asking-guest.ts";

const CONNECTORS = "airlock:capability/connectors@1.0.0";
const ASK = { asks: [{ connector: "test.echo", operation: "say", payload: ["x"] }] };

const echo: Connector = {
  id: "test.echo",
  version: "1.0.0",
  invoke: ({ payload }) => ({ resultClass: "success", payload }),
};

describe("grants.connectors", () => {
  const cacheDirectory = mkdtempSync(join(tmpdir(), "airlock-grants-"));
  let host: Host;

  beforeAll(async () => {
    host = await createHost({
      threads: 1,
      limits: { defaults: { wallMs: 300_000 } },
      compile: { cacheDirectory },
      connectors: [echo],
    });
    await host.install(await askingGuest([{ id: "test.echo", range: "^1.0.0" }]));
  });
  afterAll(async () => {
    await host.close();
    rmSync(cacheDirectory, { recursive: true });
  });

  it("is wanted for the import, and shown by the report", async () => {
    const { manifest, component } = await askingGuest([{ id: "test.echo", range: "^1.0.0" }], { id: "test.bold" });
    await expect(host.install({ manifest: { ...manifest, grants: {} }, component })).rejects.toMatchObject({
      code: "AIRLOCK_ADMISSION_UNAUTHORIZED_HOST_IMPORT",
      message: expect.stringContaining("grants.connectors names no connector that it may call"),
    });
    const report = await host.inspect({ manifest, component });
    expect(report.grants.connectors).toEqual(["test.echo@^1.0.0"]);
    expect(report.imports.find(({ name }) => name === CONNECTORS)).toEqual({
      name: CONNECTORS,
      class: "host",
      rule: "grants.connectors names the connectors that it may call",
    });
  });

  it("is refused where the component does not import what it is for", async () => {
    const { manifest, component } = await guest("test.vain");
    const grants = { connectors: [{ id: "test.echo", range: "*" }] };
    await expect(host.install({ manifest: { ...manifest, grants }, component })).rejects.toMatchObject({
      code: "AIRLOCK_ADMISSION_GRANT_DENIED",
      message: expect.stringContaining(
        `grants.connectors names "test.echo", but the component does not import "${CONNECTORS}"`,
      ),
    });
  });

  it.each([
    [
      [
        { id: "a", range: "*" },
        { id: "a", range: "^1.0.0" },
      ],
      'grants.connectors.1 is "a" again: grants.connectors.0 has it already',
    ],
    [[{ id: "a", range: "one" }], 'grants.connectors.0.range is "one": a semver range is wanted'],
    [[{ id: "a" }], "grants.connectors.0.range is missing"],
    [[{ id: "A", range: "*" }], 'grants.connectors.0.id is "A"'],
  ])("with %j is refused in the manifest", (connectors, problem) => {
    const manifest = { id: "a", version: "1.0.0", component: "c.wasm", sha256: "0".repeat(64), grants: { connectors } };
    expect(() => parseManifest(JSON.stringify(manifest), "c")).toThrow(problem);
  });

  it("leaves evidence with a nested run too, and with whoever called it", async () => {
    await host.install(await guest("test.caller", { invoke: any("test.asker") }));
    const outcome = await host.run("test.caller", calling("test.asker", "ask", ASK), { operation: "call" }).outcome;
    const evidence = [
      { connectorId: "test.echo", resolvedVersion: "1.0.0", resultClass: "success", failureClass: null },
    ];
    expect(outcome).toMatchObject({
      kind: "succeeded",
      nested: [{ providerId: "test.asker@1.2.3", connectorCalls: evidence }],
    });
    expect(outcome.connectorCalls).toBeUndefined();
  });

  it("makes no difference between tiers: the same answers, the same fuel", async () => {
    const ends = [];
    for (const tier of [undefined, "fresh", undefined, "fresh"] as const) {
      const { usage, ...outcome } = await host.run("test.asker", ASK, tier === undefined ? {} : { tier }).outcome;
      ends.push({
        output: "output" in outcome ? outcome.output : outcome.kind,
        fuel: usage.fuel,
        calls: outcome.connectorCalls,
      });
    }
    expect(ends[0]!.output).toEqual({ answers: [{ resultClass: "success", payload: ["x"] }] });
    for (const end of ends) expect(end).toEqual(ends[0]);
  });
});
