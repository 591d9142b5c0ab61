import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { airlock, airlockWith, ended, root, start } from "./airlock-command.ts";

/** Functions that succeed, decline in words that would clear a terminal, loop, and answer with 300,000 letters. */
const GUEST = `(component
  (core module $m
    (memory (export "memory") 8)
    (data (i32.const 64) "no\\1b[2J\\e2\\80\\ae")
    (global $next (mut i32) (i32.const 1024))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
      (global.get $next)
      (global.set $next (i32.add (global.get $next) (local.get 3))))
    (func (export "echo") (param i32 i32) (result i32)
      (i32.store (i32.const 16) (local.get 0)) (i32.store (i32.const 20) (local.get 1)) (i32.const 16))
    (func (export "decline") (result i32)
      (i32.store8 (i32.const 16) (i32.const 1))
      (i32.store (i32.const 20) (i32.const 64)) (i32.store (i32.const 24) (i32.const 9)) (i32.const 16))
    (func (export "loop") (loop $again (br $again)))
    (func (export "long") (result i32)
      (memory.fill (i32.const 2048) (i32.const 120) (i32.const 300000))
      (i32.store (i32.const 16) (i32.const 2048)) (i32.store (i32.const 20) (i32.const 300000)) (i32.const 16)))
  (core instance $m (instantiate $m))
  (alias core export $m "memory" (core memory $memory))
  (alias core export $m "realloc" (core func $realloc))
  (func (export "echo") (param "input" string) (result string)
    (canon lift (core func $m "echo") (memory $memory) (realloc $realloc)))
  (func (export "decline") (result (result string (error string)))
    (canon lift (core func $m "decline") (memory $memory) (realloc $realloc)))
  (func (export "loop") (canon lift (core func $m "loop")))
  (func (export "long") (result string)
    (canon lift (core func $m "long") (memory $memory) (realloc $realloc))))`;

const SOCKETS = "wasi:sockets/instance-network@0.2.0";
const REFUSED = `(component
  (import "${SOCKETS}" (instance (export "network" (type (sub resource)))))
  (core module $m (func (export "run")))
  (core instance $m (instantiate $m))
  (func (export "run") (canon lift (core func $m "run"))))`;

const CORE_MODULE = Buffer.from("\0asm\u0001\0\0\0");

let folder: string;
const path = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "airlock-cli-"));
  const guest = await parse(GUEST);
  writePackage("guest", guest, { limits: { fuel: 50_000_000_000, wallMs: 60_000 } });
  writePackage("refused", await parse(REFUSED), { imports: [SOCKETS] });
  writePackage("core", CORE_MODULE, {});
  writePackage("wrong-digest", guest, { sha256: "0".repeat(64) });
  writePackage("native", guest, { artifactType: "native" });
  mkdirSync(path("empty"));
  writeFileSync(path("zero.wasm"), "");
  writeFileSync(path("input.json"), '{ "input": "hello" }');
  writeFileSync(path("bad.json"), "{ no json");
  writeFileSync(path("rows.csv"), "city,people\nBern,134591\nBasel\n");
  spawnSync("mkfifo", [path("pipe")]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("airlock", () => {
  it.each(["inspect", "run", "bench", "build"])("%s says of a native capability where it goes", async (command) => {
    const { status, stdout, stderr } = await airlock(command, path("native"));
    expect({ status, stdout }).toEqual({ status: 3, stdout: "" });
    expect(stderr).toContain(
      'artifactType is "native", "wasm" is wanted here; a native capability is a function of an',
    );
    expect(stderr).toContain("host.providers.nativeExecutor({ capacity }).install(manifest, call)");
  });

  it("prints its help without arguments, and its version", async () => {
    const help = await airlock();
    expect(help).toMatchObject({ status: 0, stderr: "", stdout: expect.stringContaining("Examples:") });
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    expect(await airlock("--version")).toEqual({ status: 0, stdout: `${version}\n`, stderr: "" });
  });

  it.each([
    [["run", "x", "--jsn"], "Unknown option '--jsn': did you mean \"--json\"?"],
    [["run", "x", "--limit", "fule=1"], 'limits has the unknown limit "fule": did you mean "fuel"?'],
  ])("%j is bad input, said in one line or as one JSON object", async (args, message) => {
    expect(await airlock(...args)).toEqual({ status: 2, stdout: "", stderr: `airlock: ${message}\n` });
    const json = await airlock(...args, "--json");
    expect(json).toMatchObject({ status: 2, stderr: "" });
    expect(JSON.parse(json.stdout).error).toMatchObject({ message });
  });
});

describe("airlock inspect", () => {
  it("prints the report of a package that would be admitted", async () => {
    const { status, stdout } = await airlock("inspect", path("guest"));
    expect(status).toBe(0);
    expect(stdout).toContain("admitted  cli.guest@1.0.0\n");
    expect(stdout).toContain("\noperations\n  echo\n  decline\n  loop\n");
    expect(stdout).toContain("\n  wallMs           60 s\n");
  });

  it("prints the whole report of what would be refused and ends with 3", async () => {
    const { status, stdout } = await airlock("inspect", path("refused/component.wasm"));
    expect(status).toBe(3);
    expect(stdout).toContain("refused  component  1 violation\n");
    expect(stdout).toMatch(/\nimports\n {2}wasi:sockets\/instance-network@0\.2\.0 {2}refused {2}sockets are refused/);
    const json = await airlock("inspect", path("refused/capability.json"), "--json");
    expect(json.status).toBe(3);
    expect(JSON.parse(json.stdout)).toMatchObject({
      accepted: false,
      capability: { id: "cli.refused", version: "1.0.0" },
      violations: [{ code: "unauthorized_host_import" }],
    });
  });

  it.each([
    ["zero.wasm", "malformed_wasm_artifact"],
    ["core/component.wasm", "missing_export"],
  ])("%s is refused with %s", async (name, code) => {
    const { status, stdout } = await airlock("inspect", path(name), "--json");
    expect(status).toBe(3);
    expect(JSON.parse(stdout).violations).toEqual([expect.objectContaining({ code })]);
  });

  it.each([
    ["missing", "there is no such file"],
    ["missing.wasm", "there is no such file"],
    ["empty", "there is no such file"],
    ["pipe", "it is a pipe, a regular file is wanted"],
    ["bad.json", "it is not JSON"],
  ])("%s cannot be read and does not hang", async (name, reason) => {
    const { status, stdout, stderr } = await airlock("inspect", path(name));
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(/^airlock: [^\n]+\n$/);
    expect(stderr).toContain(reason);
  });
});

describe("airlock run", () => {
  it("prints the ending, the output and what was used", async () => {
    const { status, stdout } = await airlock("run", path("guest"), "-o", "echo", "--input", path("input.json"));
    expect(status).toBe(0);
    expect(stdout).toMatch(/^succeeded {2}cli\.guest@1\.0\.0 echo\n"hello"\n\nfuel +\d+ +of 50,000,000,000\n/);
  });

  it("takes text from stdin for the one string that a function wants, and prints the outcome as one JSON object", async () => {
    const { status, stdout } = await airlockWith(
      "\ufeffzwölf\n",
      "run",
      path("guest"),
      "-o",
      "echo",
      "--text",
      "-i",
      "-",
      "--json",
    );
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      kind: "succeeded",
      output: "\ufeffzwölf\n",
      providerId: "cli.guest@1.0.0",
      operation: "echo",
      emitted: [],
      committed: true,
      logs: [],
    });
  });

  it.each([
    ["decline", [], "failed"],
    ["loop", ["--limit", "fuel=1_000"], "out-of-fuel"],
  ])("%s %j ends with 1 and says that it %s", async (operation, more, kind) => {
    const { status, stdout } = await airlock("run", path("guest"), "-o", operation, ...more);
    expect(status).toBe(1);
    expect(stdout.split("\n")[0]).toBe(`${kind}  cli.guest@1.0.0 ${operation}`);
    expect(stdout.replaceAll("\n", "")).not.toMatch(/[\u0000-\u001f\u202e]/);
  });

  it("keeps compiled code in the folder that --cache-dir names, and refuses one that others can write to", async () => {
    const again = () =>
      airlock("run", path("guest"), "-o", "echo", "--value", '{"input":"kept"}', "--cache-dir", path("cache"));
    for (let turn = 0; turn < 2; turn++) {
      expect(await again()).toMatchObject({ status: 0, stdout: expect.stringContaining("kept") });
      expect(readdirSync(path("cache"))).toHaveLength(3);
    }
    if (process.platform === "win32") return;
    chmodSync(path("cache"), 0o777);
    expect(await again()).toMatchObject({ status: 2, stderr: expect.stringContaining("other users must not have") });
  });

  it("loses nothing of a long output in a pipe that is read slowly, and minds no pipe that closes early", async () => {
    const { status, stdout } = await airlock("run", path("guest"), "-o", "long", "--json");
    expect(status).toBe(0);
    expect(JSON.parse(stdout).output).toBe("x".repeat(300_000));
    const child = start("run", path("guest"), "-o", "long");
    child.stdout.destroy();
    expect(await ended(child)).toMatchObject({ status: 0, stderr: expect.not.stringContaining("EPIPE") });
  });

  it("is cancelled by an interrupt and still says how it ended", async () => {
    const child = start("run", path("guest"), "-o", "loop", "--json");
    child.stderr.on("data", (text) => {
      if (String(text).includes("Running")) child.kill("SIGINT");
    });
    const { status, stdout } = await ended(child);
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ kind: "cancelled", reason: "interrupted by SIGINT", committed: false });
  });

  it.each([
    ["guest", ["-o", "echo", "--input", "bad.json"], /^Input ".*bad\.json" is not JSON: /],
    [
      "guest",
      ["-o", "echo", "--input", "missing.json"],
      /^Input ".*missing\.json" cannot be read: there is no such file$/,
    ],
    ["guest", ["-o", "ecko"], /^Cannot run cli\.guest@1\.0\.0: it has no operation "ecko"; did you mean "echo"\?$/],
    ["pipe", [], /^Cannot read the manifest ".*": it is a pipe, a regular file is wanted$/],
    ["empty", [], /^Cannot read the manifest ".*": there is no such file$/],
  ])("%s %j is bad input", async (name, args, message) => {
    const { status, stdout, stderr } = await airlock(
      "run",
      path(name),
      ...args.map((arg) => (arg.endsWith(".json") ? path(arg) : arg)),
    );
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(/^airlock: (.*)$/m.exec(stderr)?.[1]).toMatch(message);
  });

  it.each([
    ["refused", "AIRLOCK_ADMISSION_UNAUTHORIZED_HOST_IMPORT"],
    ["core", "AIRLOCK_ADMISSION_PROFILE_MISMATCH"],
    ["wrong-digest", "AIRLOCK_ADMISSION_CHECKSUM_MISMATCH"],
  ])("the package %s is refused with %s and its report", async (name, code) => {
    const { status, stdout } = await airlock("run", path(name), "--json");
    expect(status).toBe(3);
    expect(JSON.parse(stdout).error).toMatchObject({ code, details: { accepted: false } });
  });
});

describe("airlock build", () => {
  const source = join(root, "capabilities/csv-profile");

  it("builds a package that runs on the text of a file, with its events", async () => {
    const built = await airlock("build", source, "--out", path("csv"), "--json");
    expect(built.status).toBe(0);
    const { sha256, componentPath, bytes } = JSON.parse(built.stdout);
    const component = readFileSync(path("csv/component.wasm"));
    expect({ sha256, componentPath, bytes }).toEqual({
      sha256: createHash("sha256").update(component).digest("hex"),
      componentPath: path("csv/component.wasm"),
      bytes: component.length,
    });
    const { status, stdout } = await airlock("run", path("csv"), "--text", "--input", path("rows.csv"), "--json");
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      kind: "succeeded",
      output: { rows: 2, raggedRows: 1 },
      emitted: [{ type: "ragged-row", version: "1.0.0" }],
    });
  });

  it("says of a source folder that it is to be built, and of a package that it is no source", async () => {
    const run = await airlock("run", source);
    expect(run).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(`Build it first: airlock build ${source}\n`),
    });
    const build = await airlock("build", path("guest"));
    expect(build.status).toBe(2);
    expect(build.stderr).toMatch(/^airlock: .*the build fills it in, remove it/m);
  });
});

describe("airlock doctor", () => {
  it("shows for each guest how it ended and for each limit who proved it", async () => {
    const { status, stdout, stderr } = await airlock("doctor", "-g", "loop-forever");
    expect(status).toBe(0);
    expect(stderr).toMatch(/^ok +loop-forever +out-of-fuel \(fuel\) /m);
    expect(stdout).toMatch(/^ {2}fuel +proven by loop-forever$/m);
    expect(stdout).toContain("1 of 1 guests ended as they must");
  });
});

function writePackage(name: string, component: Uint8Array, more: Readonly<Record<string, unknown>>): void {
  mkdirSync(path(name));
  writeFileSync(path(`${name}/component.wasm`), component);
  const sha256 = createHash("sha256").update(component).digest("hex");
  const manifest = { id: `cli.${name}`, version: "1.0.0", component: "component.wasm", sha256, imports: [], ...more };
  writeFileSync(path(`${name}/capability.json`), JSON.stringify(manifest));
}
