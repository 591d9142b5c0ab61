import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { transpileBytes } from "@bytecodealliance/jco-transpile";
import { componentize } from "componentize-qjs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createCounters, type MeterReport, meter } from "./meter.ts";
import { PLENTY, wasm } from "./testing/guest.ts";

const WIT = "package a:b;\nworld w { export run: func(x: string) -> string; }\n";

const SOURCE = `export function run(x) {
  const counts = {};
  for (let i = 0; i < +x; i++) counts["k" + (i % 97)] = (counts["k" + (i % 97)] || 0) + i;
  let caught = "";
  try { JSON.parse("{bad"); } catch (error) { caught = error.name; }
  return Object.keys(counts).sort().map((k) => k + counts[k]).join() + caught + /a+b/.test("aaab") + JSON.stringify([1.5, 2e10]);
}`;

let folder: string;
let files: Record<string, Uint8Array>;
let glue: { instantiate(get: unknown, imports: object, core: unknown): { run(x: string): string } };

beforeAll(async () => {
  // The engine's modules place their data with extended constant expressions.
  setFlagsFromString("--experimental-wasm-extended-const");
  folder = mkdtempSync(join(tmpdir(), "airlock-meter-"));
  writeFileSync(join(folder, "world.wit"), WIT);
  const options = { witPath: folder, jsSource: SOURCE, sync: true, stubWasi: true, optSize: true };
  const { component } = (await componentize(options)) as { component: Uint8Array };
  const transpiled = await transpileBytes(component, {
    name: "guest",
    instantiation: "sync",
    emitTypescriptDeclarations: false,
  });
  files = transpiled.files as Record<string, Uint8Array>;
  writeFileSync(join(folder, "guest.mjs"), files["guest.js"]!);
  glue = await import(join(folder, "guest.mjs"));
});

afterAll(() => {
  setFlagsFromString("--no-experimental-wasm-extended-const");
  rmSync(folder, { recursive: true });
});

/** Instantiates the component with every core module metered, or none. */
function start(isMetered: boolean, exact = false) {
  const counters = createCounters({ ...PLENTY, fuel: 10n ** 12n });
  const reports: MeterReport[] = [];
  const get = (path: string): object => {
    if (!isMetered) return new wasm.Module(files[path]!);
    const { bytes, report } = meter(files[path]!, { callDepth: exact, canonicalNan: exact });
    reports.push(report);
    return new wasm.Module(bytes);
  };
  const guest = glue.instantiate(
    get,
    {},
    (module: object, imports: object) => new wasm.Instance(module, { ...imports, $airlock: counters }),
  );
  return { guest, counters, reports };
}

function fuelOf({ guest, counters }: ReturnType<typeof start>, x: string): bigint {
  const before = counters.fuel.value;
  guest.run(x);
  return before - counters.fuel.value;
}

test("a JavaScript engine computes the same metered, and burns the same fuel in every instance and variant", () => {
  const expected = start(false).guest.run("500");
  const instances = [start(true), start(true), start(true, true)];
  for (const { guest } of instances) expect(guest.run("500")).toBe(expected);
  const [first, ...others] = instances.map((instance) => [fuelOf(instance, "20"), fuelOf(instance, "2000")]);
  expect(first![1]).toBeGreaterThan(1_000_000n);
  for (const other of others) expect(other).toEqual(first);
});

test("a JavaScript engine out of fuel stops with the counter just below zero", () => {
  const { guest, counters } = start(true);
  counters.fuel.value = 1_000_000n;
  expect(() => guest.run("1000000")).toThrow();
  expect(counters.fuel.value).toBeLessThan(0n);
  expect(counters.fuel.value).toBeGreaterThan(-20_000n);
});

test("the modules of a JavaScript engine pass the caps and grow by less than half", () => {
  const { reports } = start(true);
  const size = (key: "bytesIn" | "bytesOut") => reports.reduce((sum, report) => sum + report[key], 0);
  expect(reports.length).toBeGreaterThan(5);
  expect(size("bytesOut") / size("bytesIn")).toBeLessThan(1.5);
  expect(new Set(reports.map(({ scheduleId }) => scheduleId)).size).toBe(1);
});
