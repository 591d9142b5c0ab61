import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BenchOptions, type BenchResults, createHost, parseManifest } from "../index.ts";

/** `airlock bench` as a person starts it, and `host.bench()`. No time that it measures is held against anything. */

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const COMMAND =
  process.env["AIRLOCK_TESTS_ON"] === "dist"
    ? [join(root, "dist/faces/cli/main.js")]
    : [
        "--import",
        pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href,
        join(root, "host/faces/cli/main.ts"),
      ];
const QUICK = ["--rounds", "2", "--duration", "30ms", "--warm-up", "0ms"];

/** `count` loops as often as it is told, times `weight`; `decline` says no; `trap` traps. */
const guest = (weight: number): string => `(component
  (core module $m
    (memory (export "memory") 1)
    (data (i32.const 64) "no")
    (func (export "count") (param $times i32) (result i32) (local $left i32)
      (local.set $left (i32.mul (local.get $times) (i32.const ${weight})))
      (loop $again (br_if $again (i32.gt_s (local.tee $left (i32.sub (local.get $left) (i32.const 1))) (i32.const 0))))
      (local.get $times))
    (func (export "decline") (result i32)
      (i32.store8 (i32.const 16) (i32.const 1))
      (i32.store (i32.const 20) (i32.const 64)) (i32.store (i32.const 24) (i32.const 2)) (i32.const 16))
    (func (export "trap") unreachable))
  (core instance $m (instantiate $m))
  (alias core export $m "memory" (core memory $memory))
  (func (export "count") (param "times" u32) (result u32) (canon lift (core func $m "count")))
  (func (export "decline") (result (result (error string)))
    (canon lift (core func $m "decline") (memory $memory) string-encoding=utf8))
  (func (export "trap") (canon lift (core func $m "trap"))))`;

let folder: string;
const path = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "airlock-bench-"));
  writePackage("light", await parse(guest(1)));
  writePackage("heavy", await parse(guest(3)));
  mkdirSync(path("cases"));
  writeFileSync(path("cases/long.json"), '{ "operation": "count", "input": { "times": 1000 } }');
  writeFileSync(path("cases/no.json"), '{ "operation": "decline", "input": {}, "expect": { "failure": {} } }');
  writeFileSync(path("input.json"), '{ "times": 5 }');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("airlock bench", () => {
  let results: BenchResults;

  it("prints a table and writes results that fit the published schema, and a page", async () => {
    const out = ["--out", path("out/deep")];
    const loads = ["--concurrency", "2,1"];
    const { status, stdout, stderr } = await airlock(
      path("light"),
      "--cases",
      path("cases"),
      ...loads,
      ...out,
      ...QUICK,
    );
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: expect.stringMatching(/wrote .*results\.json\nwrote .*report/),
    });
    expect(stdout).toMatch(/^bench\.light@1\.0\.0 {2}sha256 [0-9a-f]{12}$/m);
    expect(stdout).toMatch(/^long +succeeded +[\d,]+ +0 +64 KiB +0 +0$/m);
    expect(stdout).toMatch(/^no +failed +\d+ +0 +64 KiB +0 +0$/m);
    expect(stdout).toMatch(/^2 in flight {2}[\d,.]+\/s \(/m);
    results = JSON.parse(readFileSync(path("out/deep/results.json"), "utf8"));
    expect(problemsOf(results)).toBeNull();
    const [{ loads: measured, cases }] = results.subjects as [BenchResults["subjects"][number]];
    expect(measured.map(({ concurrency }) => concurrency)).toEqual([1, 2]);
    expect(cases.map(({ name, outcome, fuelExact }) => ({ name, outcome, fuelExact }))).toEqual([
      { name: "long", outcome: "succeeded", fuelExact: true },
      { name: "no", outcome: "failed", fuelExact: true },
    ]);
    for (const { calls, cases: each } of measured) {
      const buckets = each.flatMap(({ histogram }) => histogram);
      expect(buckets.reduce((sum, [, count]) => sum + count, 0)).toBe(calls);
      for (const { latencyMs } of each) expect(latencyMs.p50.rounds).toHaveLength(2);
    }
    expect(readFileSync(path("out/deep/report.html"), "utf8")).toMatch(/^<!doctype html>/);
  });

  it("ends with 1 and names what is worse than the baseline; fuel is exact", async () => {
    const [subject] = results.subjects;
    const cases = subject!.cases.map((each) => ({ ...each, fuel: each.name === "long" ? each.fuel - 1 : each.fuel }));
    const admissionMs = { median: 1e-6, min: 1e-6, max: 1e-6, rounds: [1e-6, 1e-6] };
    writeFileSync(
      path("doctored.json"),
      JSON.stringify({ ...results, subjects: [{ ...subject, cases, admissionMs, name: "other@1.0.0" }] }),
    );
    const guard = ["--baseline", path("doctored.json"), "--fail-over", "1000%"];
    const { status, stdout } = await airlock(path("light"), "--cases", path("cases"), ...guard, ...QUICK);
    expect(status).toBe(1);
    expect(stdout).toMatch(/^warning {2}the capability was other and is bench\.light: is this the right baseline\?$/m);
    expect(stdout).toMatch(/^failed {2}\d+ measures of \d+ got worse$/m);
    expect(stdout).toMatch(/^fuel +long +[\d,]+ +[\d,]+ +\+\d+\.\d % +more$/m);
    expect(stdout).toMatch(/^admission +1?[\d.]+ ms .* slower$/m);
  });

  it("compares two packages: more fuel is named exactly, and all goes to stdout as one JSON object", async () => {
    const args = ["-o", "count", "--input", path("input.json"), "--compare", path("heavy"), "--json", ...QUICK];
    const { status, stdout } = await airlock(path("light"), ...args);
    expect(status).toBe(0);
    const compared: BenchResults = JSON.parse(stdout);
    expect(problemsOf(compared)).toBeNull();
    const fuel = compared.comparison!.find(({ measure }) => measure === "fuel")!;
    expect(fuel).toMatchObject({ case: path("input.json"), unit: "fuel", verdict: "worse", probability: null });
    expect(fuel.second).toBeGreaterThan(fuel.first);
    // Two rounds cannot tell a difference of times, however large.
    const timed = compared.comparison!.filter(({ unit }) => unit === "ms");
    expect(new Set(timed.map(({ verdict }) => verdict))).toEqual(new Set(["unclear"]));
  });

  it.each<[readonly string[], RegExp]>([
    [["--cases", "missing"], /Cannot read the cases ".*missing": there is no such folder/],
    [["--baseline", "missing.json"], /Cannot read the baseline ".*missing\.json": there is no such file/],
    [["--baseline", "input.json"], /is not the results\.json of a bench: it must have required property 'format'/],
    [["--fail-over", "much"], /--fail-over is "much": 15% or 0\.15 is wanted/],
    [["--concurrency", "1,many"], /--concurrency is "many"/],
    [["--rounds", "99"], /rounds is 99, a whole number from 1 to 30 is wanted/],
    [["--out", "input.json"], /--out is ".*input\.json": a folder that can be made is wanted/],
    [["--compare", "missing"], /Cannot read the package ".*missing": there is no such file/],
    [["-o", "count", "--value", "{"], /The input of --value is not JSON/],
  ])("%j is bad input", async (args, message) => {
    const files = args.map((arg) => (/^(missing|input)/.test(arg) ? path(arg) : arg));
    const { status, stdout, stderr } = await airlock(path("light"), ...files);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(message);
  });
});

describe("host.bench()", () => {
  const quick = { rounds: 1, durationMs: 10, warmUpMs: 0 };
  const count = { name: "count", operation: "count", input: { times: 3 } };

  it("measures a package in memory, cold starts too, tells how far it is and leaves the host as it was", async () => {
    await using host = await createHost({ threads: 1, compile: { spares: 0 } });
    const seen: number[] = [];
    const results = await host.bench({
      ...quick,
      package: await inMemory(guest(1)),
      cases: [count],
      cold: true,
      tier: "fresh",
      onProgress: ({ done, total }) => seen.push(done / total),
    });
    expect(problemsOf(results)).toBeNull();
    const [subject] = results.subjects;
    expect(subject).toMatchObject({ name: "bench.memory@1.0.0", title: "A \u2028title", source: null });
    expect(subject!.coldStartMs!.median).toBeGreaterThan(0);
    expect(results.settings).toMatchObject({ tier: "fresh", threads: 1, cold: true });
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect([seen[0], seen.at(-1)]).toEqual([0, 1]);
    expect(host.stats()).toMatchObject({ capabilities: 0, runsStarted: 0, pool: { gc: null } });
  });

  it.each<[string, Partial<BenchOptions>, string, RegExp]>([
    [
      "a case that traps",
      { cases: [{ name: "t", operation: "trap", input: {} }] },
      "AIRLOCK_MEASURE_CASE_FAILED",
      /ended "trapped"/,
    ],
    [
      "another ending than expected",
      { cases: [{ ...count, expect: "failed" }] },
      "AIRLOCK_MEASURE_CASE_FAILED",
      /failed is wanted/,
    ],
    [
      "a case without operation",
      { cases: [{ name: "x", input: 1 }] },
      "AIRLOCK_MEASURE_OPTIONS_INVALID",
      /"x" names no operation/,
    ],
    ["no round", { rounds: 0 }, "AIRLOCK_MEASURE_OPTIONS_INVALID", /rounds is 0/],
  ])("refuses %s", async (_name, more, code, message) => {
    await using host = await createHost({ threads: 1, compile: { spares: 0 } });
    await expect(host.bench({ ...quick, package: await inMemory(guest(1)), ...more })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });

  it("refuses a cold start on a host whose functions no other process can have, and a tier that there is not", async () => {
    await using host = await createHost({ threads: 1, imports: { "acme:crm/lookup@1.0.0": { find: () => 1 } } });
    const code = "AIRLOCK_MEASURE_OPTIONS_INVALID";
    await expect(host.bench({ package: path("light"), cold: true })).rejects.toMatchObject({ code });
    const tier = "warm" as "fresh";
    await expect(host.bench({ package: path("light"), tier })).rejects.toThrow('tier is "warm"');
  });

  it("counts the garbage collections of the threads where that was asked for", async () => {
    await using host = await createHost({ threads: 1, gcTimes: true, compile: { spares: 0 } });
    const { id } = await host.install(await inMemory(guest(1)));
    // A thread's young generation is full after some dozens of instances; the test's own time limit is the bound.
    while (host.stats().pool.gc!.pauses === 0) await host.run(id, { times: 1 }, { operation: "count" }).outcome;
    expect(host.stats().pool.gc!.totalMs).toBeGreaterThan(0);
  });

  it("ends with the reason of its signal", async () => {
    await using host = await createHost({ threads: 1, compile: { spares: 0 } });
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(host.bench({ ...quick, package: path("light"), cases: [count], signal })).rejects.toThrow("enough");
  });
});

function problemsOf(results: unknown): unknown {
  const schema = JSON.parse(readFileSync(join(root, "host/measure/bench-results.schema.json"), "utf8"));
  const check = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true }).compile(schema);
  return check(results) ? null : check.errors;
}

async function inMemory(wat: string): Promise<Extract<BenchOptions["package"], object>> {
  const component = await parse(wat);
  const text = JSON.stringify({ ...manifestOf("memory", component), title: "A \u2028title" });
  return { manifest: parseManifest(text, "memory"), component };
}

function writePackage(name: string, component: Uint8Array): void {
  mkdirSync(path(name));
  writeFileSync(path(`${name}/component.wasm`), component);
  writeFileSync(path(`${name}/capability.json`), JSON.stringify(manifestOf(name, component)));
}

function manifestOf(name: string, component: Uint8Array): Readonly<Record<string, unknown>> {
  const sha256 = createHash("sha256").update(component).digest("hex");
  return { id: `bench.${name}`, version: "1.0.0", component: "component.wasm", sha256, imports: [] };
}

function airlock(...args: string[]): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [...COMMAND, "bench", ...args], { timeout: 55_000 });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  return new Promise((resolve) => child.on("close", (status) => resolve({ status, stdout, stderr })));
}
