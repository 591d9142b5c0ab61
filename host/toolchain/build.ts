import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import { decodeComponent } from "../component/component.ts";
import { checkPackageSchemas, type Manifest, parseManifest, readSourceManifest } from "../manifest/manifest.ts";
import { buildFailure } from "./build-failure.ts";
import { bundleSource } from "./bundle.ts";
import { componentizeSource } from "./componentize.ts";
import { entryOf } from "./entry.ts";
import { writePackageFiles } from "./package-files.ts";
import { readWitFiles } from "./wit-files.ts";
import { HANDLER, NO_HANDLER, withWitFolder, worldOf } from "./wit-folder.ts";

/** What a build is doing; steps come in this order. */
export interface BuildProgress {
  readonly kind: "reading" | "bundling" | "componentizing" | "writing" | "done";
  /** One line for a person. */
  readonly text: string;
}

/** How to build. */
export interface BuildOptions {
  /** Where the package goes, made when missing; `dist` inside the source folder by default. */
  readonly outDir?: string;
  readonly onProgress?: (progress: BuildProgress) => void;
}

/** A package as it was written. */
export interface BuildResult {
  /** The package's folder, absolute. */
  readonly directory: string;
  readonly manifestPath: string;
  readonly componentPath: string;
  readonly manifest: Manifest;
  /** Length of the component. */
  readonly bytes: number;
  /** Length of the bundled JavaScript inside it. */
  readonly sourceBytes: number;
  /** False when the engine's own clock and random numbers got into the component, so that its digest changes. */
  readonly reproducible: boolean;
}

/**
 * Builds the capability in `folder`, for the one world of its `wit/` or, without that, for the one of its service type.
 * Throws AIRLOCK_MANIFEST_UNREADABLE and AIRLOCK_MANIFEST_INVALID for its manifest, AIRLOCK_TOOLCHAIN_BUILD_FAILED for
 * its source and its WIT (`details.problems` has one line each, with file and line where the tools know them) and
 * AIRLOCK_TOOLCHAIN_MISSING when esbuild or componentize-qjs is not installed.
 */
export async function buildCapability(folder: string, options: BuildOptions = {}): Promise<BuildResult> {
  const report = (kind: BuildProgress["kind"], text: string) => options.onProgress?.({ kind, text });

  report("reading", `Reading ${folder}`);
  const {
    directory: sourceDirectory,
    manifestPath: sourcePath,
    text: sourceText,
    manifest,
  } = readSourceManifest(folder);
  const schemaProblems = checkPackageSchemas(manifest);
  if (schemaProblems.length > 0) throw buildFailure(sourcePath, schemaProblems);
  if (manifest.profile !== "component") {
    throw buildFailure(sourcePath, [
      `profile is "${manifest.profile}": "component" is wanted, core modules are not built`,
    ]);
  }
  const entry = entryOf(sourceDirectory);
  const wit = await readWitFiles(sourceDirectory);

  report("bundling", `Bundling ${entry}`);
  const jsSource = await bundleSource(sourceDirectory, entry);

  report(
    "componentizing",
    `Making a component for ${wit === null ? `a ${manifest.serviceType} capability` : "the world in wit"}`,
  );
  const { bytes, reproducible } = await withWitFolder(wit ?? worldOf(manifest), (folder) =>
    componentizeSource(jsSource, folder, entry),
  );
  const { imports, exports } = decodeComponent(bytes);
  if (!exports.some(({ name }) => name === HANDLER)) throw buildFailure(sourceDirectory, [NO_HANDLER]);

  const directory = resolve(options.outDir ?? join(sourceDirectory, "dist"));
  report("writing", `Writing ${directory}`);
  const manifestPath = join(directory, "capability.json");
  const text = packageManifest(sourceText, bytes, imports.map(({ name }) => name).sort());
  const built = parseManifest(text, manifestPath);
  // The manifest comes last: until it is there, the digest in the old one refuses the new component.
  await writePackageFiles(directory, [
    { name: COMPONENT_NAME, content: bytes },
    { name: "capability.json", content: text },
  ]);

  report("done", `Built ${built.id}@${built.version}: ${bytes.length} bytes, sha256 ${built.sha256}`);
  return Object.freeze({
    directory,
    manifestPath,
    componentPath: join(directory, COMPONENT_NAME),
    manifest: built,
    bytes: bytes.length,
    sourceBytes: Buffer.byteLength(jsSource),
    reproducible,
  });
}

const COMPONENT_NAME = "component.wasm";

/** The source manifest with what only the component can say. `$schema` goes: its path would not hold elsewhere. */
function packageManifest(sourceText: string, bytes: Uint8Array, imports: readonly string[]): string {
  const { $schema: _, id, version, ...rest } = JSON.parse(sourceText) as Record<string, unknown>;
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return `${JSON.stringify({ id, version, component: COMPONENT_NAME, sha256, imports, ...rest }, null, 2)}\n`;
}
