import { join } from "node:path";
import type { BuildFailure, Message } from "esbuild";
import { messageOf } from "../errors/errors.ts";
import { buildFailure } from "./build-failure.ts";
import { loadOptional } from "./optional-package.ts";

/**
 * The source and everything it imports as one ES module, which depends on nothing but their text: no paths, no
 * comments, no names of this machine. Imports of the host (`airlock:…`, `wasi:…`, any `namespace:package/…`) stay.
 * Throws AIRLOCK_TOOLCHAIN_BUILD_FAILED with file, line and text of each error.
 */
export async function bundleSource(directory: string, entry: string): Promise<string> {
  const esbuild = await loadOptional("esbuild", () => import("esbuild"));
  let output: string | undefined;
  let exported: readonly string[] = [];
  try {
    const result = await esbuild.build({
      absWorkingDir: directory,
      entryPoints: [join(directory, entry)],
      outfile: "capability.js",
      write: false,
      metafile: true,
      bundle: true,
      format: "esm",
      platform: "neutral",
      mainFields: ["module", "main"],
      // What QuickJS-ng runs.
      target: "es2022",
      charset: "utf8",
      legalComments: "none",
      minifyWhitespace: true,
      minifySyntax: true,
      logLevel: "silent",
      plugins: [hostInterfaces],
    });
    output = result.outputFiles[0]?.text;
    exported = Object.values(result.metafile.outputs)[0]?.exports ?? [];
  } catch (error) {
    if (!isBuildFailure(error)) throw buildFailure(directory, [messageOf(error)], error);
    throw buildFailure(directory, error.errors.map(lineOf), error);
  }
  if (!exported.includes("handler")) {
    throw buildFailure(directory, [
      `${entry} exports no handler: \`export const handler = { handle(input) { … } }\` is wanted`,
    ]);
  }
  return output ?? "";
}

/** Names of WIT interfaces are no paths: they are resolved when the component is made. */
const hostInterfaces: import("esbuild").Plugin = {
  name: "host-interfaces",
  setup(build) {
    build.onResolve({ filter: /^[a-z][a-z0-9-]*:[a-z][a-z0-9-]*\// }, ({ path }) =>
      path.startsWith("node:") || path.startsWith("file:") ? null : { path, external: true },
    );
  },
};

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && "errors" in error && Array.isArray(error.errors) && error.errors.length > 0;
}

function lineOf({ text, location, notes }: Message): string {
  const line = text.replace(/\s+/g, " ");
  if (location === null) return line;
  const where = `${location.file}:${location.line}:${location.column + 1}`;
  const hint = /^Could not resolve "(node:)?[a-z_/]+"/.test(line) && notes.length > 0 ? NO_NODE : "";
  return `${where}: ${line}${hint}`;
}

const NO_NODE = " (a capability has no Node.js around it: only its own code and the interfaces of the host)";
