import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadGuest } from "../doctor/guest.ts";
import { createHost, type Host } from "../host.ts";
import { parseManifest, parseNativeManifest } from "../index.ts";

const NATIVE = {
  id: "app.adder",
  version: "1.0.0",
  artifactType: "native",
  serviceType: "subscribable",
  operations: [{ name: "add", input: { type: "array", items: { type: "number" } }, output: { type: "number" } }],
  emits: [{ type: "added", version: "1.0.0", schema: { type: "number" } }],
} as const;

const refused = { code: "AIRLOCK_MANIFEST_ARTIFACT_TYPE", failure: "admission_rejected" };

describe("native capabilities of a host", () => {
  let host: Host;
  const root = mkdtempSync(join(tmpdir(), "airlock-native-"));

  beforeAll(async () => {
    host = await createHost({ threads: 1, compile: { spares: 0 } });
    writeFileSync(join(root, "capability.json"), JSON.stringify(NATIVE));
  });

  afterAll(async () => {
    await host.close();
    rmSync(root, { recursive: true });
  });

  it("run like any other, and commit the events of those that succeed alone", async () => {
    const committed: unknown[] = [];
    host.subscribe({ capability: "app.adder" }, ({ type, payload }) => committed.push([type, payload]));
    const executor = host.providers.nativeExecutor({ capacity: 2 });
    const { id } = await executor.install(parseNativeManifest(JSON.stringify(NATIVE), "native"), (input, { event }) => {
      const sum = (input as number[]).reduce((a, b) => a + b, 0);
      event({ type: "added", version: "1.0.0", payload: sum });
      if (sum < 0) event({ type: "below-zero", version: "1.0.0", payload: sum });
      if (sum === 0) throw new Error("nothing to add");
      return sum;
    });
    expect(await host.run(id, [1, 2]).outcome).toMatchObject({ kind: "succeeded", output: 3, providerId: id });
    expect(await host.run("app.adder", [-1]).outcome).toMatchObject({ kind: "invalid-output" });
    expect(await host.run("app.adder", []).outcome).toMatchObject({ kind: "provider-failed" });
    expect(await host.run("app.adder", "1").outcome).toMatchObject({ kind: "invalid-input" });
    expect(await host.run("app.adder", [4]).outcome).toMatchObject({ output: 4 });
    expect(committed).toEqual([
      ["added", 3],
      ["added", 4],
    ]);
    expect(() => host.uninstall(id)).toThrow(expect.objectContaining({ code: "AIRLOCK_PROVIDERS_MISSING" }));
    await executor.uninstall(id);
    expect(() => host.run(id, [1])).toThrow(expect.objectContaining({ code: "AIRLOCK_PROVIDERS_MISSING" }));
  });

  it("stand in no pool's catalog: its slots would take them past the capacity of their executor", async () => {
    const candidates = [{ providerId: "app.pooled@1.0.0", capacity: 8 }];
    host.providers.addPool("pooled", { candidates });
    const executor = host.providers.nativeExecutor({ capacity: 1 });
    const manifest = parseNativeManifest(JSON.stringify({ ...NATIVE, id: "app.pooled" }), "native");
    await expect(executor.install(manifest, () => 0)).rejects.toMatchObject({ code: "AIRLOCK_PROVIDERS_DUPLICATE" });
  });

  it("hold slots of their executor, which the host's stats have", async () => {
    const before = host.stats().executors.length;
    const executor = host.providers.nativeExecutor({ capacity: 1 });
    const release: (() => void)[] = [];
    const call = (): Promise<number> => new Promise((resolve) => release.push(() => resolve(0)));
    const { id } = await executor.install(NATIVE, call);
    const runs = [host.run(id, [1]), host.run(id, [2])];
    expect(host.stats().executors[before]).toMatchObject({ capacity: 1, inUse: 1, waiting: 1, granted: 1 });
    release[0]!();
    await runs[0]!.outcome;
    release[1]!();
    await runs[1]!.outcome;
    expect(host.stats().executors[before]).toMatchObject({ inUse: 0, waiting: 0, granted: 2, releasedAgain: 0 });
    await executor.uninstall(id);
  });

  it("have a capacity from 1 to 256", () => {
    expect(() => host.providers.nativeExecutor({ capacity: 257 })).toThrow(
      expect.objectContaining({ code: "AIRLOCK_PROVIDERS_CAPACITY_INVALID", failure: "invalid_capacity" }),
    );
  });

  it("never come to the Wasm path: install() and inspect() say where they go", async () => {
    const message = expect.stringContaining("host.providers.nativeExecutor({ capacity }).install(manifest, call)");
    await expect(host.install(root)).rejects.toMatchObject({ ...refused, message });
    await expect(host.inspect(root)).rejects.toMatchObject({ ...refused, message });
    const { component } = await loadGuest("answers");
    const inMemory = { manifest: NATIVE as never, component };
    await expect(host.install(inMemory)).rejects.toMatchObject({ ...refused, message });
    expect(host.list()).toEqual([]);
  });

  it("are no Wasm: an installed component answers its own requests, and no function can take its name", async () => {
    const { component, manifestText } = await loadGuest("answers");
    const manifest = parseManifest(manifestText, "answers");
    const executor = host.providers.nativeExecutor({ capacity: 1 });
    const calls: unknown[] = [];
    const call = (input: unknown): unknown => calls.push(input);
    await expect(executor.install(manifest as never, call)).rejects.toMatchObject(refused);
    const { id } = await host.install({ manifest, component });
    const name = { ...NATIVE, id: manifest.id, version: manifest.version };
    await expect(executor.install(name, call)).rejects.toMatchObject({ code: "AIRLOCK_PROVIDERS_DUPLICATE" });
    const outcome = await host.run(id, { input: "hello" }).outcome;
    expect(outcome).toMatchObject({ kind: "succeeded", output: "hello", evidence: { scheduleId: expect.any(String) } });
    expect(calls).toEqual([]);
    host.uninstall(id);
  });
});
