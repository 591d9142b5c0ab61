import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { MAKER_ROOMS } from "../compile/maker.ts";

const host = dirname(dirname(fileURLToPath(import.meta.url)));
const root = dirname(host);

/** The table of rooms: each with the rooms that it may import, in the order in which data passes through. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  generated: [],
  errors: [],
  binary: [],
  manifest: ["errors"],
  meter: ["errors", "binary"],
  component: ["errors", "binary"],
  linker: ["errors", "component"],
  admission: ["errors", "manifest", "component"],
  compile: ["errors", "manifest", "meter", "component", "linker", "admission"],
  events: ["errors", "manifest"],
  imports: ["generated", "errors", "manifest", "events"],
  pool: ["errors", "manifest", "meter", "linker", "compile", "events", "imports"],
  store: ["errors"],
  gateway: ["errors", "manifest", "store"],
  providers: ["errors", "manifest"],
  invocation: ["errors", "manifest", "component", "admission", "compile", "imports", "pool", "gateway", "providers"],
  measure: ["errors", "manifest", "providers"],
  toolchain: ["errors", "binary", "manifest", "component"],
  doctor: ["host", "errors", "manifest", "component"],
  "faces/cli": ["host", "measure", "toolchain", "doctor", "errors", "manifest", "meter", "component"],
};

/** Files directly in host/: they know all rooms of the core, and no face. */
const HOST_FILES = [
  "host.ts",
  "host-providers.ts",
  "host-stats.ts",
  "installed.ts",
  "thread-slots.ts",
  "options.ts",
  "option-checks.ts",
  "allowance.ts",
  "index.ts",
  "installed.ts",
  "run-options.ts",
  "subscriptions.ts",
  "package-source.ts",
  "providers-file.ts",
  "connectors-file.ts",
  "text-file.ts",
  "bench-ground.ts",
  "cold-start.ts",
  "web-assembly.d.ts",
];
const HOST_ROOMS = Object.keys(ROOMS).filter((room) => !["toolchain", "doctor", "faces/cli"].includes(room));

/**
 * What the room of providers never has: shells, processes, terminals, another working directory, sockets, a database, the
 * sandbox, a face. Its imports are a list of what it may have; these words may not stand in it at all, as an import or otherwise.
 */
const PROVIDERS_MAY_IMPORT = ["node:diagnostics_channel", "semver", "eventsource-parser"];
/** The one file that opens sockets, as a client of HTTP: for providers that are servers elsewhere. */
const HTTP_CLIENT = { file: join(host, "providers", "http-exchange.ts"), imports: ["node:http", "node:https"] };
const FORBIDDEN_IN_PROVIDERS =
  /child_process|node-pty|\bpty\b|\bchdir\b|worker_threads|node:(?:net|http|https|http2|tls|dgram|tty|repl|cluster|sqlite|fs)\b|better-sqlite|\bspawn|\bexec(?:File|Sync)|process\.(?!env\b)\w|\bfetch\(|\bWebSocket\b|createRequire|\brequire\(|\bimport\(/;

interface Import {
  readonly from: string;
  readonly specifier: string;
}

const files = sourceFiles(host);

describe("architecture", () => {
  it("holds every file of host/ in a room of the table", () => {
    const homeless = files.filter((file) => roomOf(file) === null && !HOST_FILES.includes(relative(host, file)));
    expect(homeless.map((file) => relative(root, file))).toEqual([]);
  });

  it("lets a room import only the rooms that the table names, and only through their doors", () => {
    const breaches = files.flatMap(importsOf).flatMap((each) => {
      const breach = breachOf(each);
      return breach === null ? [] : [`${relative(root, each.from)} imports ${each.specifier}: ${breach}`];
    });
    expect(breaches).toEqual([]);
  });

  it("names what is kept on disk after every room that has a part in it", () => {
    expect([...MAKER_ROOMS].sort()).toEqual(["compile", ...ROOMS["compile"]!].concat("binary").sort());
    for (const room of MAKER_ROOMS) expect(MAKER_ROOMS).toEqual(expect.arrayContaining([...ROOMS[room]!]));
  });

  it("gives every room a door with a comment of two to six lines", () => {
    for (const room of Object.keys(ROOMS)) {
      if (room === "generated" || room === "faces/cli") continue;
      const text = readFileSync(join(host, room, `${room.split("/").at(-1)}.ts`), "utf8");
      const comment = /^\/\*\*\n((?: \*.*\n)+?) \*\/\n/.exec(text)?.[1];
      expect(comment, room).toBeDefined();
      const lines = comment!.trimEnd().split("\n").length;
      expect(lines, room).toBeGreaterThanOrEqual(2);
      expect(lines, room).toBeLessThanOrEqual(6);
    }
  });

  it("keeps providers free of processes, sockets, terminals, databases, faces and the sandbox", () => {
    const room = files.filter((each) => roomOf(each) === "providers");
    expect(room.length).toBeGreaterThan(10);
    expect(room.flatMap((file) => providerBreaches(file, readFileSync(file, "utf8")))).toEqual([]);
  });

  it.each([
    ['import { spawn } from "node:child_process";'],
    ['import { spawn } from "child_process";'],
    ['export { spawn } from "node:child_process";'],
    ['import "node-pty";'],
    ['const pty = await import("node-pty");'],
    ['const { fork } = createRequire(import.meta.url)("child_process");'],
    ['process.chdir("/");'],
    ['import { chdir } from "node:process";'],
    ['import net from "node:net";'],
    ['import { request } from "node:http";'],
    ['await fetch("http://127.0.0.1/");'],
    ['new WebSocket("ws://127.0.0.1/");'],
    ['import { DatabaseSync } from "node:sqlite";'],
    ['import Database from "better-sqlite3";'],
    ['import { Pool } from "../pool/pool.ts";'],
    ['import type { Pool } from "../pool/pool.ts";'],
    ['import { linkComponent } from "../linker/linker.ts";'],
    ['import { Compiler } from "../compile/compile.ts";'],
    ['import { meter } from "../meter/meter.ts";'],
    ['import { run } from "../faces/cli/run.ts";'],
    ['import { Host } from "../host.ts";'],
    ['import { Stop } from "../invocation/stop.ts";'],
    ['import { Subscription } from "../generated/events.pb.ts";'],
  ])("would find %j in the room of providers", (line) => {
    expect(providerBreaches(join(host, "providers", "planted.ts"), `${line}\n`)).not.toEqual([]);
  });

  it("would find any other socket in the one file of providers that may be a client of HTTP", () => {
    expect(providerBreaches(HTTP_CLIENT.file, 'import { request } from "node:https";\n')).toEqual([]);
    for (const line of ['import net from "node:net";', 'const http = await import("node:http");']) {
      expect(providerBreaches(HTTP_CLIENT.file, `${line}\n`)).not.toEqual([]);
    }
  });

  it("names no bundled capability in host/ and imports nothing of host/ in capabilities/", () => {
    const capabilities = readdirSync(join(root, "capabilities"), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && statSync(join(root, "capabilities", entry.name)).isDirectory())
      .map(({ name }) => name)
      .filter((name) => !["types", "node_modules"].includes(name));
    for (const file of files) {
      const text = readFileSync(file, "utf8");
      for (const name of capabilities)
        expect(text.includes(`capabilities/${name}`), `${file} names ${name}`).toBe(false);
    }
    for (const file of sourceFiles(join(root, "capabilities"), true)) {
      for (const { specifier } of importsOf(file)) expect(specifier, file).not.toMatch(/host\//);
    }
  });

  it("lets examples import the public names only", () => {
    for (const file of sourceFiles(join(root, "examples"), true)) {
      for (const { specifier } of importsOf(file)) expect(specifier, file).not.toMatch(/(\.\.\/)+(host|dist)/);
    }
  });

  it("keeps files at most 300 lines long and named after a noun", () => {
    const long = files.flatMap((file) => {
      const lines = readFileSync(file, "utf8").trimEnd().split("\n").length;
      return lines > 300 ? [`${relative(root, file)}: ${lines}`] : [];
    });
    expect(long).toEqual([]);
    const empty = /(^|\/)(utils?|helpers?|common|misc|shared|types|manager)\.ts$/;
    expect(files.filter((file) => empty.test(file))).toEqual([]);
  });

  it("has no default export, no export star and no console outside the faces", () => {
    const found: string[] = [];
    for (const file of files) {
      const text = readFileSync(file, "utf8").replace(/^\s*(\/\/|\*|\/\*).*$/gm, "");
      if (/^export default /m.test(text)) found.push(`${file}: export default`);
      if (/^export \* /m.test(text)) found.push(`${file}: export *`);
      if (/\bconsole\./.test(text) && !file.includes(`${sep}faces${sep}`)) found.push(`${file}: console`);
    }
    expect(found).toEqual([]);
  });
});

function sourceFiles(folder: string, withTests = false): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/[\\/](node_modules|dist)[\\/]/.test(file))
    .filter(
      (file) =>
        withTests ||
        !(
          /(\.test|[\\/]test-[^\\/]*)\.ts$|[\\/]testing[\\/]/.test(file) ||
          file.includes(join("host", "tests")) ||
          file.includes(join("host", "bench"))
        ),
    );
}

function roomOf(file: string): string | null {
  const parts = relative(host, file).split(sep);
  if (parts.length === 1) return null;
  const nested = `${parts[0]}/${parts[1]}`;
  if (nested in ROOMS) return nested;
  return parts[0]! in ROOMS ? parts[0]! : null;
}

/** What a text of the room of providers has that it may not have. */
function providerBreaches(file: string, text: string): string[] {
  const also = file === HTTP_CLIENT.file ? HTTP_CLIENT.imports : [];
  const judged = also.reduce((rest, specifier) => rest.replace(` from "${specifier}";`, ";"), text);
  const word = FORBIDDEN_IN_PROVIDERS.exec(judged)?.[0];
  const imports = importsIn(file, text).flatMap((each) => {
    const { specifier } = each;
    const allowed = specifier.startsWith(".")
      ? breachOf(each) === null
      : [...PROVIDERS_MAY_IMPORT, ...also].includes(specifier);
    return allowed ? [] : [`${relative(root, file)} imports ${specifier}`];
  });
  return word === undefined ? imports : [...imports, `${relative(root, file)} says ${word}`];
}

function importsOf(file: string): Import[] {
  return importsIn(file, readFileSync(file, "utf8"));
}

function importsIn(file: string, text: string): Import[] {
  const pattern =
    /(?:^|\n)\s*(?:import|export)\s[^;'"]*?from\s*["']([^"']+)["']|import\(\s*["']([^"']+)["']\s*\)|(?:^|\n)\s*import\s*["']([^"']+)["']/g;
  return [...text.matchAll(pattern)].map((match) => ({ from: file, specifier: (match[1] ?? match[2] ?? match[3])! }));
}

function breachOf({ from, specifier }: Import): string | null {
  if (!specifier.startsWith(".")) return null;
  const target = resolve(dirname(from), specifier);
  const room = roomOf(from);
  const other = roomOf(target);
  if (room === other && room !== null) return null;
  if (other === null) {
    if (room === null) return null;
    const file = relative(host, target);
    if (ROOMS[room]!.includes("host") && (file === "host.ts" || file === "index.ts")) return null;
    return "only rooms with host in the table may import it";
  }
  if (room === null ? !HOST_ROOMS.includes(other) : !ROOMS[room]!.includes(other)) return "the table does not allow it";
  // Made from wit/: each file is an interface, and there is no door among them.
  if (other === "generated") return null;
  const door = `${other.split("/").at(-1)}.ts`;
  return relative(join(host, other), target) === door ? null : `the door is ${other}/${door}`;
}
