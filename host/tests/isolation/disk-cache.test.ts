import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadGuest } from "../../doctor/guest.ts";
import { createHost, type Host, type HostOptions, parseManifest } from "../../index.ts";
import { answeringDesk, workbench } from "./workbench.ts";

const PROGRAM = fileURLToPath(new URL("install-program.ts", import.meta.url));
const TSX = ["--import", pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href];
const INDEX = new URL(
  process.env["AIRLOCK_TESTS_ON"] === "dist" ? "../../../dist/index.js" : "../../index.ts",
  import.meta.url,
).href;

let top: string;
let directory: string;
const hosts: Host[] = [];

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), "airlock-cache-"));
  directory = join(top, "cache");
});

afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
  rmSync(top, { recursive: true });
});

async function open(compile: HostOptions["compile"] = {}): Promise<Host> {
  const host = await createHost({
    threads: 1,
    imports: answeringDesk,
    compile: { spares: 0, cacheDirectory: directory, ...compile },
  });
  hosts.push(host);
  return host;
}

const entries = (): string[] => readdirSync(directory).filter((name) => name !== "airlock.secret");

describe("a cache directory", () => {
  it("is shared by processes that install the same component at once, and by those that come later", async () => {
    const run = promisify(execFile);
    const answers = await Promise.all(
      [1, 2].map(() => run(process.execPath, [...TSX, PROGRAM, INDEX, directory], { timeout: 50_000 })),
    );
    for (const { stdout } of answers) expect(JSON.parse(stdout)).toMatchObject({ output: 42, disk: { rejected: 0 } });
    expect(entries()).toHaveLength(2);
    const host = await open();
    const { id } = await host.install(await workbench());
    expect(host.stats().cache.disk).toEqual({ hits: 2, misses: 0, rejected: 0 });
    expect(await host.run(id, { text: "kept" }, { operation: "echo" }).outcome).toMatchObject({ output: "kept" });
  });

  it.runIf(process.platform === "linux")("spares an install every process", async () => {
    await (await open()).install(await workbench());
    await hosts[0]!.close();
    await expect.poll(childProcesses).toEqual([]);
    await (await open({ spares: 1 })).install(await workbench());
    expect(childProcesses()).toEqual([]);
  });

  it("decides nothing: what policy refuses is refused, though all that was found in the bytes is kept", async () => {
    await (await open()).install(await workbench());
    await hosts[0]!.close();
    const host = await open();
    const { manifest, component } = await workbench();
    await expect(host.install({ manifest: { ...manifest, grants: {} }, component })).rejects.toMatchObject({
      code: "AIRLOCK_ADMISSION_UNAUTHORIZED_HOST_IMPORT",
    });
    expect(host.stats().cache.disk).toEqual({ hits: 1, misses: 0, rejected: 0 });
  });

  it("keeps what is profiled apart from what is not", async () => {
    const visit = async (host: Host) =>
      (await host.run("test.workbench", {}, { operation: "visits" }).outcome).fuelProfile;
    const first = await open();
    await first.install(await workbench(), { fuelProfile: true });
    const profile = await visit(first);
    expect(profile).toMatchObject({ fuel: expect.any(Number), frames: expect.anything() });
    await first.close();
    const plain = await open();
    await plain.install(await workbench());
    // The check is the same, the code is not.
    expect(plain.stats().cache.disk).toEqual({ hits: 1, misses: 1, rejected: 0 });
    expect(await visit(plain)).toBeUndefined();
    await plain.close();
    // Without artifacts in memory, the run reads it once more.
    const again = await open({ cacheEntries: 0 });
    await again.install(await workbench(), { fuelProfile: true });
    expect(await visit(again)).toEqual(profile);
    expect(again.stats().cache.disk).toEqual({ hits: 3, misses: 0, rejected: 0 });
  });

  it("keeps what generated glue carries, too", async () => {
    const { manifestText, component, run, expect: expected } = await loadGuest("sleep-for-years");
    for (const disk of [
      { hits: 0, misses: 2 },
      { hits: 2, misses: 0 },
    ]) {
      const host = await open();
      const { id } = await host.install({ manifest: parseManifest(manifestText, "guest"), component });
      const { operation } = run;
      const outcome = await host.run(id, run.input, operation === undefined ? {} : { operation }).outcome;
      expect(outcome).toMatchObject({ kind: "outcome" in expected ? expected.outcome : "" });
      expect(host.stats().cache.disk).toMatchObject(disk);
      await host.close();
    }
  });

  it("compiles again what was swapped for the files of another capability", async () => {
    const other = await loadGuest("answers");
    const first = await open();
    await first.install(await workbench());
    await first.close();
    const mine = entries();
    const second = await open();
    await second.install({ manifest: parseManifest(other.manifestText, "guest"), component: other.component });
    await second.close();
    const theirs = entries().filter((name) => !mine.includes(name));
    const largest = (names: string[]): string =>
      names.sort((a, b) => size(b) - size(a)).map((name) => join(directory, name))[0]!;
    renameSync(largest(theirs), largest(mine));
    const host = await open();
    const { id } = await host.install(await workbench());
    expect(host.stats().cache.disk).toEqual({ hits: 1, misses: 1, rejected: 1 });
    expect(await host.run(id, { x: 1, y: 2 }, { operation: "add" }).outcome).toMatchObject({ output: 3 });
  });

  it("of which other users could write is refused before anything is installed", async () => {
    await (await open()).close();
    chmodSync(directory, 0o777);
    await expect(open()).rejects.toMatchObject({ code: "AIRLOCK_COMPILE_CACHE_UNSAFE" });
  });
});

function size(name: string): number {
  return readFileSync(join(directory, name)).length;
}

function childProcesses(): readonly string[] {
  return readdirSync("/proc/self/task").flatMap((thread) =>
    readFileSync(`/proc/self/task/${thread}/children`, "utf8").split(" ").filter(Boolean),
  );
}
