import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BurnOrder, BurnReport } from "./burn.ts";

/** A version of Node that runs what the one that runs the tests may lack. */
export interface NewerNode {
  readonly major: number;
  readonly version: string;
  readonly path: string;
}

/** The npm package that holds Node's program for this system. */
export const NODE_PACKAGE = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;

/** Outside node_modules proper, so that `npm ci` and the lock file know nothing of it. */
export const NEWER_NODES_FOLDER = fileURLToPath(new URL("../../../node_modules/.cache/airlock-nodes", import.meta.url));

/** The exact versions that `npm run newer-nodes` installs, newest last. */
export const NEWER_NODES: readonly NewerNode[] = [
  [22, "22.23.5"],
  [24, "24.22.3"],
].map(([major, version]) => ({ major: Number(major), version: String(version), path: pathOf(Number(major)) }));

/** Why the tests on this version are skipped, or undefined when it is there. In CI it must be. */
export function reasonToSkip({ path, version }: NewerNode): string | undefined {
  if (existsSync(path) || process.env["CI"]) return undefined;
  return `Node ${version} is not installed: run npm run newer-nodes`;
}

/** The version that runs the tests. */
export const THIS_NODE: NewerNode = {
  major: Number(process.versions.node.split(".")[0]),
  version: process.versions.node,
  path: process.execPath,
};

/** Burns the orders on that version, with these flags of V8. */
export function burnOn(node: NewerNode, orders: readonly BurnOrder[], flags: readonly string[] = []): BurnReport[] {
  return JSON.parse(runOn(node, "burn-main.ts", [], JSON.stringify(orders), flags)) as BurnReport[];
}

/** Calls the function `run` of a transpiled component on that version, once with each argument. */
export function burnComponentOn(node: NewerNode, folder: string, parameters: readonly string[]): BurnReport {
  return JSON.parse(runOn(node, "burn-component.ts", [folder, ...parameters], "")) as BurnReport;
}

function runOn(
  { path, major }: NewerNode,
  file: string,
  parameters: readonly string[],
  input: string,
  flags: readonly string[] = [],
): string {
  const program = fileURLToPath(new URL(file, import.meta.url));
  // Node runs TypeScript by itself from 22.18 on.
  const options = major < 22 ? ["--import", "tsx"] : ["--no-warnings"];
  const { status, stdout, stderr, error } = spawnSync(path, [...flags, ...options, program, ...parameters], {
    input,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${path} failed: ${stderr}`);
  return stdout;
}

function pathOf(major: number): string {
  const program = process.platform === "win32" ? "node.exe" : "node";
  return join(NEWER_NODES_FOLDER, "node_modules", `node-${major}`, "bin", program);
}
