import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { linkImports } from "../../imports/imports.ts";
import { fakeScope } from "./fake-scope.ts";

const deps = new URL("../../../wit/deps/", import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, deps), "utf8");
const files = readdirSync(deps, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".wit"));

/** Interfaces that a component calls the host through, as far as this version serves them. */
const SERVED = [
  "wasi:cli/environment",
  "wasi:cli/exit",
  "wasi:cli/stderr",
  "wasi:cli/stdin",
  "wasi:cli/stdout",
  "wasi:cli/terminal-input",
  "wasi:cli/terminal-output",
  "wasi:cli/terminal-stderr",
  "wasi:cli/terminal-stdin",
  "wasi:cli/terminal-stdout",
  "wasi:clocks/monotonic-clock",
  "wasi:clocks/wall-clock",
  "wasi:filesystem/preopens",
  "wasi:filesystem/types",
  "wasi:io/error",
  "wasi:io/poll",
  "wasi:io/streams",
  "wasi:random/insecure",
  "wasi:random/insecure-seed",
  "wasi:random/random",
];

describe("the vendored WIT of WASI", () => {
  test("is what SHA256SUMS says, and nothing else", () => {
    const said = read("SHA256SUMS").match(/^[0-9a-f]{64} {2}.*$/gm) ?? [];
    const found = files.map((file) => `${createHash("sha256").update(read(file)).digest("hex")}  ${file}`);
    expect(found.sort()).toEqual([...said].sort());
  });

  test.each(SERVED)("%s is served whole", (name) => {
    const { version, functions } = interfaceIn(name);
    const served = linkImports([{ kind: "host", name: `${name}@${version}` }], fakeScope())[`${name}@${version}`]!;
    const missing = functions.filter(({ resource, key }) => {
      if (resource === null) return typeof served[key] !== "function";
      const made = served[resource] as { prototype: Record<string, unknown> } | undefined;
      return key !== "" && typeof made?.prototype[key] !== "function";
    });
    expect(missing).toEqual([]);
    const resources = functions.flatMap(({ resource }) => (resource === null ? [] : [resource]));
    expect(resources.filter((resource) => typeof served[resource] !== "function")).toEqual([]);
    expect(functions.length).toBeGreaterThan(0);
  });
});

/** The functions, resources (with an empty key) and methods of an interface, as the glue spells them. */
function interfaceIn(name: string): {
  version: string;
  functions: { resource: string | null; key: string }[];
} {
  const [packageName, interfaceName] = name.split("/") as [string, string];
  const file = files.find((path) => path.startsWith(`${packageName.replace(":", "-")}@`))!;
  const text = read(file).replaceAll(/\/\/.*$/gm, "");
  const version = /^package [^@]+@(.+);/m.exec(text)![1]!;
  const body = new RegExp(`^interface ${interfaceName} \\{$(.*?)^\\}`, "ms").exec(text)![1]!;
  const functions: { resource: string | null; key: string }[] = [];
  let resource: string | null = null;
  for (const line of body.split("\n")) {
    const opened = /^ {2}resource ([a-z-]+)( \{|;)/.exec(line);
    if (opened !== null) {
      const resourceName = camel(`-${opened[1]}`);
      functions.push({ resource: resourceName, key: "" });
      resource = opened[2] === ";" ? null : resourceName;
    }
    if (line === "  }") resource = null;
    const declared = /^ +%?([a-z0-9-]+): func\(/.exec(line);
    if (declared !== null) functions.push({ resource, key: camel(declared[1]!) });
  }
  return { version, functions };
}

function camel(name: string): string {
  return name.replaceAll(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
