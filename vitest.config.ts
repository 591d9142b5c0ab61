import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const root = dirname(fileURLToPath(import.meta.url));
const host = join(root, "host");
const tests = join(host, "tests");

/** Lets the tests of host/tests run against dist/, which is what users run: the same files, other imports. */
const builtHost: Plugin = {
  name: "built-host",
  enforce: "pre",
  resolveId(source, importer) {
    if (importer === undefined || !importer.startsWith(tests) || !source.startsWith(".")) return null;
    const target = resolve(dirname(importer), source);
    // A server for tests is no part of what is built, and imports nothing of it.
    if (/^test-[a-z-]+-server\.ts$/.test(basename(target))) return null;
    // Nor are the packages that the benches share: they import sources, which import sources.
    if (target.startsWith(join(host, "bench"))) return null;
    if (!target.startsWith(host) || target.startsWith(tests) || !target.endsWith(".ts")) return null;
    const built = join(root, "dist", target.slice(host.length).replace(/\.ts$/, ".js"));
    if (!existsSync(built)) throw new Error(`${built} is missing: run npm run build`);
    return { id: built, external: true };
  },
};

/** Tests of the whole host: they run on dist/. */
const WHOLE_HOST = [
  "host/tests/!(architecture).test.ts",
  "host/tests/isolation/*.test.ts",
  "host/tests/core/*.test.ts",
  "host/tests/connectors/*.test.ts",
  "host/tests/nested/*.test.ts",
] as const;

const timeouts = { testTimeout: 60_000, hookTimeout: 120_000 };

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: "sources",
          include: ["host/**/*.test.ts", "capabilities/**/*.test.ts", "examples/**/*.test.ts"],
          // Once is enough, and what users run is dist/. `check:architecture` wants no build.
          exclude: [...WHOLE_HOST],
          ...timeouts,
        },
      },
      {
        plugins: [builtHost],
        test: {
          name: "built",
          include: [...WHOLE_HOST],
          // Tests that start a process choose its file by this: no import leads there.
          env: { AIRLOCK_TESTS_ON: "dist" },
          ...timeouts,
        },
      },
    ],
  },
});
