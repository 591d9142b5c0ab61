/**
 * Installs the versions of Node that some tests of the meter run beside the one that runs the tests. They come as npm
 * packages that hold nothing but the program and have no install script; what is there already is kept.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NEWER_NODES, NEWER_NODES_FOLDER, type NewerNode, NODE_PACKAGE } from "../host/meter/testing/newer-nodes.ts";

const missing = NEWER_NODES.filter((node) => versionOf(node) !== `v${node.version}`);
if (missing.length > 0) {
  mkdirSync(NEWER_NODES_FOLDER, { recursive: true });
  writeFileSync(join(NEWER_NODES_FOLDER, "package.json"), '{ "private": true }\n');
  const specifiers = NEWER_NODES.map(({ major, version }) => `node-${major}@npm:${NODE_PACKAGE}@${version}`);
  const options = ["--prefix", NEWER_NODES_FOLDER, "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact"];
  const { status } = spawnSync("npm", ["install", ...options, ...specifiers], { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
for (const node of NEWER_NODES) process.stdout.write(`${node.path}: ${versionOf(node)}\n`);

function versionOf({ path }: NewerNode): string | undefined {
  if (!existsSync(path)) return undefined;
  return spawnSync(path, ["--version"], { encoding: "utf8" }).stdout.trim();
}
