/**
 * Burns one corpus on every version of Node and prints what each used. Any difference in fuel, result or ending is an
 * error; `-` stands where a version lacks a feature. Run `npm run newer-nodes` first.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { transpileBytes } from "@bytecodealliance/jco-transpile";
import { componentize } from "componentize-qjs";
import fc from "fast-check";
import { KERNELS, kernelBytes } from "../host/bench/kernels.ts";
import type { BurnOrder, BurnReport } from "../host/meter/testing/burn.ts";
import { aroundThrowing, LEGACY_CASES, NEW_CASES } from "../host/meter/testing/exception-cases.ts";
import { around, CASES } from "../host/meter/testing/fuel-cases.ts";
import { assembleText } from "../host/meter/testing/guest.ts";
import { NEWER_CASES } from "../host/meter/testing/newer-cases.ts";
import { burnComponentOn, burnOn, NEWER_NODES } from "../host/meter/testing/newer-nodes.ts";
import { toText } from "../host/meter/testing/program.ts";
import { programsWith } from "../host/meter/testing/random-program.ts";

/** Modules that make one row of the table. */
interface Row {
  readonly name: string;
  readonly orders: readonly BurnOrder[];
}

const QUICKJS_SOURCE = `export function run(x) {
  const counts = {};
  for (let i = 0; i < +x; i++) counts["k" + (i % 97)] = (counts["k" + (i % 97)] || 0) + i;
  let caught = "";
  try { JSON.parse("{bad"); } catch (error) { caught = error.name; }
  return Object.keys(counts).sort().map((k) => k + counts[k]).join() + caught + JSON.stringify([1.5, 2e10]);
}`;

const current = {
  major: Number(process.versions.node.split(".")[0]),
  version: process.versions.node,
  path: process.execPath,
};
const nodes = [current, ...NEWER_NODES.filter(({ major }) => major !== current.major)];
const missing = nodes.filter(({ path }) => !existsSync(path));
if (missing.length > 0) {
  process.stderr.write(`Not installed: ${missing.map(({ version }) => version).join(", ")}; run npm run newer-nodes\n`);
  process.exit(2);
}

const rows = await corpus();
const folder = await buildQuickjs();
const columns = nodes.map((node) => [
  ...rows.map(({ orders }) => burnOn(node, orders)),
  [burnComponentOn(node, folder, ["20", "2000"])],
]);
rmSync(folder, { recursive: true });

const names = [...rows.map(({ name, orders }) => (orders.length > 1 ? `${name} (${orders.length})` : name)), "quickjs"];
const differing: string[] = [];
print(["module", ...nodes.map(({ version }) => `Node ${version}`)]);
for (const [index, name] of names.entries()) {
  const reports = columns.map((column) => column[index]!);
  print([name, ...reports.map(fuelOf)]);
  if (reports.some((each) => differs(reports[0]!, each) || each.some(isUnexpected))) differing.push(name);
}
if (differing.length > 0) {
  process.stderr.write(`Different on some version: ${differing.join(", ")}\n`);
  process.exit(1);
}

async function corpus(): Promise<Row[]> {
  const run = async (text: string): Promise<BurnOrder> => ({
    bytes: encoded(await assembleText(text)),
    calls: [["run"]],
  });
  const all = (texts: readonly string[]) => Promise.all(texts.map(run));
  const random = async (kind: "none" | "legacy" | "new"): Promise<BurnOrder[]> => {
    const programs = fc.sample(programsWith(kind), { numRuns: 200, seed: 7 });
    const order = async (text: string) => ({ ...(await run(text)), calls: [["run", 7, 2] as const], fuel: 1_000_000 });
    return Promise.all(programs.map((program) => order(toText(program))));
  };
  return [
    ...KERNELS.map(({ name, argument }): Row => {
      const bytes = encoded(kernelBytes(name));
      return { name, orders: [{ bytes, calls: [["run", argument]], fuel: 1e12 }] };
    }),
    { name: "instructions up to tail calls", orders: await all(CASES.map(([, body]) => around(body))) },
    { name: "legacy exceptions", orders: await all(LEGACY_CASES.map(([, body]) => aroundThrowing(body))) },
    { name: "exceptions with exnref", orders: await all(NEW_CASES.map(([, body]) => aroundThrowing(body))) },
    ...(await Promise.all(
      NEWER_CASES.map(async ({ feature, cases }) => ({
        name: feature,
        orders: await all(cases.map(({ text }) => text)),
      })),
    )),
    { name: "random programs", orders: await random("none") },
    { name: "random programs, legacy exceptions", orders: await random("legacy") },
    { name: "random programs, exnref", orders: await random("new") },
  ];
}

async function buildQuickjs(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "airlock-matrix-"));
  writeFileSync(join(folder, "world.wit"), "package a:b;\nworld w { export run: func(x: string) -> string; }\n");
  const options = { witPath: folder, jsSource: QUICKJS_SOURCE, sync: true, stubWasi: true, optSize: true };
  const { component } = (await componentize(options)) as { component: Uint8Array };
  const name = { name: "guest", instantiation: "sync" as const, emitTypescriptDeclarations: false };
  const files = (await transpileBytes(component, name)).files as Record<string, Uint8Array>;
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path === "guest.js" ? "guest.mjs" : path), content);
  }
  return folder;
}

function encoded(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

/** The sum over the modules that this version accepts, or `-`. */
function fuelOf(reports: readonly BurnReport[]): string {
  const burnt = reports.filter(({ refused }) => refused === undefined);
  if (burnt.length === 0) return "-";
  const sum = burnt.flatMap(({ calls }) => calls).reduce((total, { used }) => total + used, 0);
  return sum.toLocaleString("en-US") + (burnt.length < reports.length ? ` (${burnt.length})` : "");
}

function differs(some: readonly BurnReport[], others: readonly BurnReport[]): boolean {
  return some.some(({ refused, calls }, index) => {
    const other = others[index]!;
    if (refused !== undefined || other.refused !== undefined) return false;
    return JSON.stringify(calls) !== JSON.stringify(other.calls);
  });
}

/** A version may lack a feature; nothing else is refused. */
function isUnexpected({ refused }: BurnReport): boolean {
  return refused !== undefined && refused.missingInEngine !== true;
}

function print([name, ...cells]: readonly string[]): void {
  process.stdout.write(`${name!.padEnd(40)}${cells.map((cell) => cell.padStart(24)).join("")}\n`);
}
