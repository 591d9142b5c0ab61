import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import v8 from "node:v8";
import vm from "node:vm";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { describe, expect, it } from "vitest";
import { createHost, type HostOptions, type PackageInMemory, parseManifest } from "../../index.ts";

// Each is compiled in a process of its own, which starts slowly from sources.
const MANY = process.env["AIRLOCK_TESTS_ON"] === "dist" ? 24 : 8;

v8.setFlagsFromString("--expose-gc");
const collectGarbage = vm.runInNewContext("gc") as () => void;

/** A component that knows its number. */
async function numbered(number: number): Promise<PackageInMemory> {
  const component = await parse(`(component
    (core module $m (func (export "number") (result i32) (i32.const ${number})))
    (core instance $i (instantiate $m))
    (func (export "number") (result u32) (canon lift (core func $i "number"))))`);
  const manifest = parseManifest(
    JSON.stringify({
      id: `test.number-${number}`,
      version: "1.0.0",
      artifactType: "wasm",
      component: "component.wasm",
      sha256: createHash("sha256").update(component).digest("hex"),
      imports: [],
    }),
    "numbered",
  );
  return { manifest, component };
}

/** Installs `count`, runs all of them in several rounds, and gives the host's numbers. */
async function runAll(count: number, rounds: number, compile: NonNullable<HostOptions["compile"]>) {
  const host = await createHost({ threads: 2, compile });
  try {
    const ids: string[] = [];
    for (let number = 0; number < count; number++) ids.push((await host.install(await numbered(number))).id);
    for (let round = 0; round < rounds; round++) {
      const outcomes = await Promise.all(ids.map((id) => host.run(id, {}).outcome));
      expect(outcomes.map((outcome) => outcome.kind === "succeeded" && outcome.output)).toEqual([...ids.keys()]);
    }
    await expect
      .poll(() => {
        collectGarbage();
        return host.stats().cache.artifactsInMemory;
      })
      .toBeLessThanOrEqual(compile.cacheEntries!);
    return host.stats();
  } finally {
    await host.close();
  }
}

describe("an idle capability", () => {
  it("costs no compiled code beyond the cache bound, and gets it back from the disk when it runs", async () => {
    const directory = mkdtempSync(join(tmpdir(), "airlock-cache-"));
    try {
      const { capabilities, cache } = await runAll(MANY, 2, { cacheDirectory: directory, cacheEntries: 3 });
      expect(capabilities).toBe(MANY);
      expect(cache.entries).toBe(3);
      expect(cache.disk).toMatchObject({ rejected: 0, misses: 2 * MANY });
      expect(cache.disk!.hits).toBeGreaterThan(MANY);
    } finally {
      rmSync(directory, { recursive: true });
    }
  }, 180_000);

  it("is compiled again from its bytes where nothing is kept on disk", async () => {
    const { cache } = await runAll(2, 1, { cacheEntries: 1 });
    expect(cache).toMatchObject({ entries: 1, disk: null });
    expect(cache.misses).toBeGreaterThan(2);
  });

  it("whose code cannot be had again ends its run as lost, and the host goes on", async () => {
    const directory = mkdtempSync(join(tmpdir(), "airlock-cache-"));
    const compile = { cacheDirectory: directory, cacheEntries: 1, spares: 0 };
    try {
      const packages = [await numbered(1), await numbered(2)];
      const maker = await createHost({ threads: 1, compile });
      for (const each of packages) await maker.install(each);
      await maker.close();
      // In a millisecond nothing is compiled: all that this host can run is what is kept.
      const host = await createHost({ threads: 1, compile: { ...compile, timeoutMs: 1 } });
      for (const each of packages) await host.install(each);
      for (const name of readdirSync(directory)) rmSync(join(directory, name));
      expect(await host.run("test.number-1", {}).outcome).toMatchObject({
        kind: "lost",
        message: expect.stringContaining("more than 1 ms"),
      });
      expect(await host.run("test.number-2", {}).outcome).toMatchObject({ kind: "succeeded", output: 2 });
      await host.close();
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
