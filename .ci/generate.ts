/**
 * Writes the files that are made from others: the guest's types and the host's types from `wit/`, the JSON Schemas of the
 * manifest, of a bench's results, of files of providers and of connectors, and of the answers to provider commands, README's example and its table of limits. `--check`
 * writes nothing and fails when one is stale.
 *
 *     npm run generate [-- --check]
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
// The room of `generateGuestTypes` itself. That function reads the WIT by path, which preview2-shim 0.26 no longer lets it.
import { $init, generateTypes } from "@bytecodealliance/jco-transpile/component";
import { CONNECTOR_LIST_SCHEMA } from "../host/gateway/gateway.ts";
import { LIMITS, MANIFEST_SCHEMA, NATIVE_CONDITION } from "../host/manifest/manifest.ts";
import { RESULTS_SCHEMA } from "../host/measure/measure.ts";
import { COMMAND_SCHEMAS, PROVIDER_LIST_SCHEMA } from "../host/providers/providers.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const WIT = join(ROOT, "wit/capability");
/** The example of a capability that brings WIT of its own. */
const EXAMPLE = "examples/offer-functions/capability";
/** The world that has every interface. */
const WORLD = "complete";
const NOTICE = "// Made from wit/ by .ci/generate.ts. Do not edit.\n";

const wanted = new Map<string, string>([
  ["host/manifest/capability.schema.json", editorSchema()],
  ["host/measure/bench-results.schema.json", formatted(RESULTS_SCHEMA)],
  ["host/providers/providers.schema.json", formatted(PROVIDER_LIST_SCHEMA)],
  ["host/gateway/connectors.schema.json", formatted(CONNECTOR_LIST_SCHEMA)],
  ...Object.entries(COMMAND_SCHEMAS).map(([command, schema]): [string, string] => [
    `host/providers/command-${command.replace("_", "-")}.schema.json`,
    formatted(schema),
  ]),
  ...(await typesOf("guest", "capabilities/generated", witText())),
  ...(await typesOf("host", "host/generated", witText())),
  ...(await typesOf("guest", `${EXAMPLE}/generated`, exampleWit())),
  ["README.md", readme()],
]);
const stale = [...wanted].filter(([path, text]) => textOf(path) !== text).map(([path]) => path);
const orphans = ["capabilities/generated", "host/generated", `${EXAMPLE}/generated`]
  .flatMap(filesIn)
  .filter((path) => !wanted.has(path));

if (process.argv.includes("--check")) {
  for (const path of stale) console.error(`${path} is stale: run npm run generate`);
  for (const path of orphans) console.error(`${path} is made by nothing: run npm run generate`);
  process.exitCode = stale.length + orphans.length > 0 ? 1 : 0;
} else {
  for (const path of stale) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true });
    writeFileSync(join(ROOT, path), wanted.get(path)!);
    console.log(`wrote ${path}`);
  }
  for (const path of orphans) {
    rmSync(join(ROOT, path));
    console.log(`removed ${path}`);
  }
}

/** An editor mostly sees source manifests, in which the build has not filled in anything yet. */
function editorSchema(): string {
  return formatted({ ...MANIFEST_SCHEMA, required: ["id", "version"], ...NATIVE_CONDITION });
}

function formatted(schema: object): string {
  const biome = join(ROOT, "node_modules/@biomejs/biome/bin/biome");
  const { status, stdout, stderr } = spawnSync(process.execPath, [biome, "format", "--stdin-file-path=schema.json"], {
    cwd: ROOT,
    input: JSON.stringify(schema, null, 2),
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`biome format failed: ${stderr}`);
  return stdout;
}

/** README with what stands between its markers made anew. */
function readme(): string {
  const example = `\`\`\`ts\n${readFileSync(join(ROOT, "examples/embed.ts"), "utf8").trimEnd()}\n\`\`\``;
  const rows = Object.entries(LIMITS).map(([key, { default: fallback, cap, description }]) => {
    const number = (value: number | null): string => (value === null ? "none" : value.toLocaleString("en"));
    return `| \`${key}\` | ${number(fallback)} | ${number(cap)} | ${description} |`;
  });
  const limits = ["| key | default | cap | what it bounds |", "|---|---|---|---|", ...rows].join("\n");
  return between(between(readFileSync(join(ROOT, "README.md"), "utf8"), "example", example), "limits", limits);
}

function between(text: string, name: string, content: string): string {
  const [from, to] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const start = text.indexOf(from);
  const end = text.indexOf(to);
  if (start < 0 || end < start) throw new Error(`README.md lacks the markers ${from} and ${to}`);
  return `${text.slice(0, start + from.length)}\n${content}\n${text.slice(end)}`;
}

async function typesOf(side: "guest" | "host", folder: string, wit: string): Promise<[string, string][]> {
  await $init;
  const files = generateTypes(WORLD, {
    wit: { tag: "source", val: wit },
    world: WORLD,
    guest: side === "guest",
    features: { tag: "list", val: [] },
  });
  const interfaces = files.filter(([name]) => name.startsWith("interfaces/"));
  return interfaces.map(([name, bytes]) => {
    const text = new TextDecoder().decode(bytes);
    const file = name.replace("interfaces/", "").replace(/\.d\.ts$/, "");
    return side === "guest"
      ? [`${folder}/${file}.d.ts`, NOTICE + asGuestTypes(text)]
      : [`${folder}/${file}.ts`, NOTICE + asHostTypes(text)];
  });
}

/** What QuickJS really hands over: a number for a u64, rounded past 2^53, and null for an option that is none. */
function asGuestTypes(text: string): string {
  return text
    .replace(/^\/\/\/ <reference.*\n/gm, "")
    .replaceAll("bigint", "number")
    .replace(/(\w+)\?: ([^,\n]+),/g, "$1?: $2 | null,");
}

/** A `.d.ts` would not reach the built package, so types go into modules that hold nothing but types. */
function asHostTypes(text: string): string {
  return text.replaceAll("export function", "export declare function").replaceAll(".js')", ".ts')");
}

/** One text with the package's name first, as if it were one file. */
function witText(): string {
  const texts = readdirSync(WIT)
    .filter((name) => name.endsWith(".wit"))
    .sort()
    .map((name) => readFileSync(join(WIT, name), "utf8"));
  return texts.sort((a, b) => Number(b.startsWith("package")) - Number(a.startsWith("package"))).join("\n");
}

/** The interface of the application alone, in a world that imports it. */
function exampleWit(): string {
  return `${readFileSync(join(ROOT, EXAMPLE, "wit/deps/acme-crm/lookup.wit"), "utf8")}world ${WORLD} { import lookup; }\n`;
}

function textOf(path: string): string | null {
  try {
    return readFileSync(join(ROOT, path), "utf8");
  } catch {
    return null;
  }
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).replaceAll("\\", "/"));
  } catch {
    return [];
  }
}
