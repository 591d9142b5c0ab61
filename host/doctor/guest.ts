import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { decodeComponent, decodeCoreModule, kindOf } from "../component/component.ts";
import { isHostError } from "../errors/errors.ts";
import { type Definition, parseDefinition } from "./definition.ts";
import { OFFERED } from "./offers.ts";

/** A guest as it is installed. */
export interface Guest extends Definition {
  readonly name: string;
  readonly component: Uint8Array;
  /** Text of its capability.json. */
  readonly manifestText: string;
}

const DIRECTORY = fileURLToPath(new URL("./guests/", import.meta.url));

/** The names of all guests, sorted. Throws a plain Error for a WAT without its JSON, or the reverse. */
export function guestNames(): readonly string[] {
  const files = readdirSync(DIRECTORY);
  for (const file of files) {
    const other = file.endsWith(".wat") ? file.replace(/\.wat$/, ".json") : file.replace(/\.json$/, ".wat");
    if (other === file || !files.includes(other)) throw new Error(`Guest file ${file} stands alone`);
  }
  return files.flatMap((file) => (file.endsWith(".wat") ? [file.slice(0, -".wat".length)] : [])).sort();
}

/** What is known of a guest without building it. */
export function guestDefinition(name: string): Definition {
  return parseDefinition(readFileSync(`${DIRECTORY}${name}.json`, "utf8"), name);
}

/** Builds a guest from its WAT. */
export async function loadGuest(name: string): Promise<Guest> {
  if (!existsSync(`${DIRECTORY}${name}.wat`)) throw new Error(`No guest ${JSON.stringify(name)}`);
  const definition = guestDefinition(name);
  const component = await parse(expandRepeats(readFileSync(`${DIRECTORY}${name}.wat`, "utf8")));
  const imports = importsOf(component);
  const manifest = {
    id: `doctor.${name}`,
    version: "1.0.0",
    component: "component.wasm",
    sha256: createHash("sha256").update(component).digest("hex"),
    imports,
    grants: { imports: imports.filter((each) => Object.hasOwn(OFFERED, each)) },
    ...definition.manifest,
  };
  return { ...definition, name, component, manifestText: JSON.stringify(manifest) };
}

/** `;; repeat 3: (nop)` stands for three lines; `{i}` in it is the number of the line from 0 on, `{i+1}` the next. */
function expandRepeats(wat: string): string {
  return wat.replace(/^\s*;; repeat (\d+): (.*)$/gm, (_line, times: string, body: string) =>
    Array.from({ length: Number(times) }, (_, index) =>
      body.replaceAll("{i}", String(index)).replaceAll("{i+1}", String(index + 1)),
    ).join("\n"),
  );
}

/** What the manifest lists; a guest that does not decode is refused for that, whatever the list says. */
function importsOf(component: Uint8Array): readonly string[] {
  try {
    if (kindOf(component) === "core-module") return coreImportsOf(component);
    return decodeComponent(component)
      .imports.filter(({ sort }) => sort !== "type")
      .map(({ name }) => name);
  } catch (thrown) {
    if (!isHostError(thrown)) throw thrown;
    return [];
  }
}

/** Those that a manifest can list at all; whoever has others is refused for them. */
function coreImportsOf(module: Uint8Array): readonly string[] {
  const imports = decodeCoreModule(module).info.coreModules.flatMap((each) => each.imports);
  const names = imports.map((each) => `${each.module}/${each.name}`);
  return names.filter((name) => /^(wasi_snapshot_preview1|traverse_host)\//.test(name));
}
