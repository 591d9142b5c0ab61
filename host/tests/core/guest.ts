import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { decodeCoreModule } from "../../component/component.ts";
import { parseDefinition } from "../../doctor/definition.ts";
import type { Guest } from "../../doctor/guest.ts";
import { isHostError } from "../../errors/errors.ts";
import type { PackageInMemory } from "../../index.ts";
import { parseManifest } from "../../manifest/manifest.ts";

const GUESTS = fileURLToPath(new URL("./guests/", import.meta.url));
const RESULTS = readFileSync(new URL("./results.wat", import.meta.url), "utf8");

/** The names of all guests. Throws for a WAT without its JSON, or the reverse. */
export function coreGuestNames(): readonly string[] {
  const files = new Set(readdirSync(GUESTS));
  for (const file of files) {
    const other = file.endsWith(".wat") ? file.replace(/\.wat$/, ".json") : file.replace(/\.json$/, ".wat");
    if (other === file || !files.has(other)) throw new Error(`Guest file ${file} stands alone`);
  }
  return [...files].flatMap((file) => (file.endsWith(".wat") ? [file.slice(0, -".wat".length)] : [])).sort();
}

/** A guest from its WAT, in which the line `;; results` stands for a memory and the functions $result, $print and $write. */
export async function coreGuest(name: string): Promise<Guest> {
  const definition = parseDefinition(readFileSync(`${GUESTS}${name}.json`, "utf8"), name);
  const component = await coreModule(readFileSync(`${GUESTS}${name}.wat`, "utf8"));
  const manifest = manifestOf(`core.${name}`, component, definition.manifest);
  return { ...definition, name, component, manifestText: JSON.stringify(manifest) };
}

export async function coreModule(wat: string): Promise<Uint8Array> {
  return parse(wat.replace(/^\s*;; results$/m, () => RESULTS));
}

/** A core module as a package. `more` are fields of its manifest. */
export async function corePackage(id: string, wat: string, more: object = {}): Promise<PackageInMemory> {
  const component = await coreModule(wat);
  return { component, manifest: parseManifest(JSON.stringify(manifestOf(id, component, more)), id) };
}

function manifestOf(id: string, component: Uint8Array, more: object): object {
  return {
    id,
    version: "1.0.0",
    profile: "core",
    component: "module.wasm",
    sha256: createHash("sha256").update(component).digest("hex"),
    imports: listable(component),
    ...more,
  };
}

/** What the manifest can list; what it cannot, admission refuses whatever the list says. */
function listable(component: Uint8Array): readonly string[] {
  let imports: readonly { readonly module: string; readonly name: string }[];
  try {
    imports = decodeCoreModule(component).info.coreModules[0]!.imports;
  } catch (thrown) {
    if (!isHostError(thrown)) throw thrown;
    return [];
  }
  const names = imports.map(({ module, name }) => `${module}/${name}`);
  return [...new Set(names)].filter((name) => /^(wasi_snapshot_preview1|traverse_host)\/[a-z][a-z0-9_]*$/.test(name));
}
