import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { EntryPoint } from "./entry-point.ts";

/** The rooms whose code decides what the throw-away process answers: this one and all that it imports. */
export const MAKER_ROOMS = ["errors", "binary", "manifest", "meter", "component", "linker", "admission", "compile"];

/**
 * Names all that makes results beside the component: every file of the code, the dependencies' versions, the engine. A version
 * number that somebody has to raise would one day not be raised, and a kept plan be read by code that means something else.
 */
export function identifyMaker({ file }: EntryPoint): string {
  const root = dirname(dirname(file));
  const hash = createHash("sha256");
  const add = (name: string, text: string): void => {
    hash.update(`${name}\n${Buffer.byteLength(text)}\n${text}`);
  };
  add("engine", [process.version, process.versions.v8, process.arch].join(" "));
  add("transpiler", transpilerVersion());
  // The other dependencies: all are named there with one version each.
  add("package.json", readFileSync(join(root, "..", "package.json"), "utf8"));
  for (const room of MAKER_ROOMS) {
    for (const name of readdirSync(join(root, room)).sort()) {
      if (!/\.(ts|js)$/.test(name) || /\.(test|d)\.ts$/.test(name)) continue;
      add(`${room}/${name}`, readFileSync(join(root, room, name), "utf8"));
    }
  }
  return hash.digest("hex");
}

let knownVersion: string | undefined;

export function transpilerVersion(): string {
  knownVersion ??= versionOf("@bytecodealliance/jco-transpile");
  return knownVersion;
}

function versionOf(name: string): string {
  // The package exports no package.json, so it is found from the file that it does export.
  const entry = createRequire(import.meta.url).resolve(name);
  const root = entry.slice(0, entry.lastIndexOf(name) + name.length);
  return (JSON.parse(readFileSync(`${root}/package.json`, "utf8")) as { version: string }).version;
}
