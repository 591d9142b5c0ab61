/**
 * Builds the component of `npm run bench -- fuel-overhead` that runs its program in StarlingMonkey. The package that does it is
 * too big for a development dependency; it has no install script. What is there already is kept.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PROGRAM, PROGRAM_WIT } from "../host/bench/program.ts";
import {
  COMPONENTIZE_JS,
  DISABLED_FEATURES,
  STARLINGMONKEY_FOLDER,
  STARLINGMONKEY_PATH,
} from "../host/bench/starlingmonkey.ts";

if (!existsSync(STARLINGMONKEY_PATH)) {
  mkdirSync(STARLINGMONKEY_FOLDER, { recursive: true });
  writeFileSync(join(STARLINGMONKEY_FOLDER, "package.json"), '{ "private": true }\n');
  writeFileSync(join(STARLINGMONKEY_FOLDER, "program.js"), PROGRAM);
  writeFileSync(join(STARLINGMONKEY_FOLDER, "world.wit"), PROGRAM_WIT);
  const options = ["--prefix", STARLINGMONKEY_FOLDER, "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact"];
  run("npm", ["install", ...options, `${COMPONENTIZE_JS.name}@${COMPONENTIZE_JS.version}`]);
  const command = join(STARLINGMONKEY_FOLDER, "node_modules", COMPONENTIZE_JS.name, "src", "cli.js");
  const disabled = DISABLED_FEATURES.flatMap((feature) => ["--disable", feature]);
  run(process.execPath, [command, "program.js", "--wit", "world.wit", ...disabled, "--out", STARLINGMONKEY_PATH]);
}
process.stdout.write(`${STARLINGMONKEY_PATH}: ${statSync(STARLINGMONKEY_PATH).size} bytes\n`);

function run(program: string, parameters: readonly string[]): void {
  const { status } = spawnSync(program, parameters, { cwd: STARLINGMONKEY_FOLDER, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
