// Builds dist/: compiles host/, copies what is not TypeScript beside it, marks the command executable.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, "dist");
rmSync(dist, { recursive: true, force: true });
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
const { status } = spawnSync(process.execPath, [tsc, "-p", join(root, "tsconfig.build.json")], { stdio: "inherit" });
if (status !== 0) process.exit(status ?? 1);
// A thread starts in a third of the time when its code is one file. Packages that the file holds keep their licences beside it.
buildSync({
  entryPoints: [join(dist, "pool", "worker.js")],
  outfile: join(dist, "pool", "worker.js"),
  allowOverwrite: true,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  legalComments: "linked",
  banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
});
for (const entry of readdirSync(join(root, "host"), { recursive: true, withFileTypes: true })) {
  const from = join(entry.parentPath, entry.name);
  const below = from.slice(join(root, "host").length);
  if (
    !entry.isFile() ||
    !/\.(wat|json)$|^report-page\.(js|css)$/.test(entry.name) ||
    /^[\\/](tests|bench)[\\/]/.test(below)
  )
    continue;
  cpSync(from, join(dist, below));
}
// The plots of a bench's report: a copy, so that the package needs no further dependency. The file names its licence.
const charts = dirname(createRequire(import.meta.url).resolve("chart.js"));
cpSync(join(charts, "chart.umd.min.js"), join(dist, "measure", "chart.umd.min.js"));
const command = join(dist, "faces", "cli", "main.js");
if (existsSync(command)) chmodSync(command, 0o755);
