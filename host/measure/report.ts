import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BenchResults } from "./results.ts";

/** Chart.js, in the file of its package that needs no bundler. */
const LIBRARY = "chart.umd.min.js";

/**
 * Results as one self-contained page: plots, and a table with the numbers of each. Nothing of the results becomes markup: they
 * are data in the page, and the page's script makes text of them. A policy in the page forbids all requests and every script
 * and style but its own.
 */
export function reportPage(results: BenchResults): string {
  const scripts = [libraryText(), besideThis("report-page.js")].map(scriptText);
  const style = besideThis("report-page.css");
  const policy = [
    "default-src 'none'",
    `script-src ${scripts.map(digestSource).join(" ")}`,
    `style-src ${digestSource(style)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>airlock bench</title>
<style>${style}</style>
</head>
<body>
<main id="report"></main>
<noscript>This page draws with a script of its own. results.json has the same numbers.</noscript>
<script type="application/json" id="results">${dataText(results)}</script>
${scripts.map((script) => `<script>${script}</script>`).join("\n")}
</body>
</html>
`;
}

/** JSON in which no end of an element and no comment can begin. */
function dataText(results: BenchResults): string {
  return JSON.stringify(results).replaceAll("<", "\\u003c");
}

/** Within strings and expressions of JavaScript both spellings mean the same. */
function scriptText(script: string): string {
  return script.replace(/<\/(script)/gi, "<\\/$1");
}

function digestSource(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** The build puts a copy beside this file, so that who installs Airlock installs no library for it. */
function libraryText(): string {
  const beside = pathBeside(LIBRARY);
  if (existsSync(beside)) return withoutSourceMap(readFileSync(beside, "utf8"));
  const folder = dirname(createRequire(import.meta.url).resolve("chart.js"));
  return withoutSourceMap(readFileSync(join(folder, LIBRARY), "utf8"));
}

/** A browser's developer tools would ask for it. */
function withoutSourceMap(script: string): string {
  return script.replace(/^\/\/# sourceMappingURL=.*$/m, "");
}

function besideThis(name: string): string {
  return readFileSync(pathBeside(name), "utf8");
}

function pathBeside(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}
