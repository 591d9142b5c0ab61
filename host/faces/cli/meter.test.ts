import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { meter as meterModule } from "../../meter/meter.ts";
import { runCommandLine } from "./command-line.ts";
import { Terminal } from "./terminal.ts";

const MODULE = `(module (memory 1 4) (table 3 funcref)
  (func $note (param i32)) (func (export "run") (local i32)
    loop local.get 0 i32.const 1 i32.add local.tee 0 call $note local.get 0 i32.const 9 i32.lt_u br_if 0 end
    i32.const 1 memory.grow drop))`;
const COMPONENT = `(component (core module (func)) (component (core module
  (func unreachable) (func) (global i32 (i32.add (i32.const 1) (i32.const 2))))))`;
const REFUSED = `(component (core module (func)) (core module (import "$airlock" "\\1b[2J" (func))))`;

/** 25 functions, of which function n holds n constants; one has a name that would clear a terminal. */
const MANY = `(module ${Array.from({ length: 25 }, (_, index) => {
  const name = index === 24 ? '(@name "\\1b[2Jdear\\e2\\80\\ae")' : "";
  return `(func ${name} (export "f${index}") ${"i32.const 7 drop ".repeat(index)})`;
}).join("\n")})`;

let folder: string;
const path = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "airlock-meter-"));
  writeFileSync(path("module.wasm"), await parse(MODULE));
  writeFileSync(path("component.wasm"), await parse(COMPONENT));
  writeFileSync(path("many.wasm"), await parse(MANY));
  writeFileSync(path("refused.wasm"), await parse(REFUSED));
  writeFileSync(path("bad\u202e.wasm"), await parse("(module)"));
  writeFileSync(path("text.wasm"), "(module)");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("airlock meter", () => {
  it("prints functions by mode, what was added, memories and tables", async () => {
    const { exit, out } = await airlock("meter", path("module.wasm"));
    expect(exit).toBe(0);
    const { report } = meterModule(readFileSync(path("module.wasm")));
    expect(out).toMatch(
      /^metered {2}\S+module\.wasm {2}2 functions, \d+ bytes to \d+ bytes \(\d\.\d\d\), in \S+ ms\n\n/,
    );
    expect(out).toContain(`\nschedule  ${report.scheduleId}\ncharges   ${report.charges}\ntests     ${report.tests}\n`);
    expect(out).toContain("\nfunctions\n  free       1  50%\n  direct     0  0%\n  cached     1  50%\n");
    expect(out).toContain("\nadded imports\n  $airlock fuel     i64 global\n");
    expect(out).toContain("\nmemory\n  its own  64 KiB  at most 256 KiB\n");
    expect(out).toContain("\ntables\n  its own  3 elements  at most ");
  });

  it("writes what the meter gives, with one line or the report, and leaves nothing else behind", async () => {
    const original = readFileSync(path("module.wasm"));
    const line = await airlock("meter", path("module.wasm"), "-o", path("out.wasm"));
    expect(line).toMatchObject({ exit: 0, out: expect.stringMatching(/^metered [^\n]+\n$/) });
    expect(readFileSync(path("out.wasm"))).toEqual(Buffer.from(meterModule(original).bytes));
    symlinkSync(path("out.wasm"), path("link.wasm"));
    const whole = await airlock("meter", path("module.wasm"), "-o", path("link.wasm"), "--exact", "--report");
    expect(whole).toMatchObject({ exit: 0, out: expect.stringContaining("  $airlock depth    i64 global\n") });
    const exact = meterModule(original, { callDepth: true, canonicalNan: true });
    expect(readFileSync(path("out.wasm"))).toEqual(Buffer.from(exact.bytes));
    expect(readdirSync(folder).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("shows the functions that cost most, and all of them when asked; a name cannot steer the terminal", async () => {
    const most = await airlock("meter", path("many.wasm"));
    expect(most.exit).toBe(0);
    expect(rows(most.out)).toHaveLength(20);
    expect(most.out).toContain("\n  and 5 more functions: --all shows them\n");
    expect(rows(most.out)[0]).toMatch(/^ {2}24 +direct +1 +0 +74 to 81 +24 \\u001b\[2Jdear\\u202e$/);
    const all = await airlock("meter", path("many.wasm"), "--all");
    expect(rows(all.out)).toHaveLength(25);
    expect(all.out).not.toContain("--all");
  });

  it("gives all functions as JSON, the dearest first", async () => {
    const { out } = await airlock("meter", path("many.wasm"), "--json");
    const { functions } = JSON.parse(out);
    expect(functions.map(({ index }: { index: number }) => index)).toEqual(
      Array.from({ length: 25 }, (_, index) => 24 - index),
    );
    expect(functions[0]).toEqual({
      index: 24,
      name: "\u001b[2Jdear\u202e",
      mode: "direct",
      staticCost: 24,
      charges: 1,
      tests: 0,
      bytesIn: 74,
      bytesOut: 81,
    });
  });

  it("prints the meter's report with --json", async () => {
    const { out } = await airlock("meter", path("module.wasm"), "--json");
    const { report } = meterModule(readFileSync(path("module.wasm")));
    const ratio = Number((report.bytesOut / report.bytesIn).toFixed(3));
    const functions = [
      expect.objectContaining({ index: 1, mode: "cached", staticCost: 50_017 }),
      expect.objectContaining({ index: 0, mode: "free", staticCost: 0 }),
    ];
    expect(JSON.parse(out)).toEqual({
      kind: "core-module",
      out: null,
      ms: expect.any(Number),
      ratio,
      report,
      functions,
    });
  });

  it("meters each core module of a component, however deep, with extended constants on every version", async () => {
    const { exit, out } = await airlock("meter", path("component.wasm"));
    expect(exit).toBe(0);
    expect(out).toMatch(/^component {2}\S+component\.wasm {2}2 core modules\n\nmetered {2}core module 0 {2}/);
    const { coreModules } = JSON.parse((await airlock("meter", path("component.wasm"), "--json")).out);
    expect(coreModules).toEqual([1, 2].map((defined) => inComponent(defined)));
  });

  it("escapes every name", async () => {
    const { out } = await airlock("meter", path("bad\u202e.wasm"));
    expect(out).toContain("bad\\u202e.wasm  0 functions");
    const { err } = await airlock("meter", path("refused.wasm"));
    expect(`${out}${err}`.replaceAll("\n", "")).not.toMatch(/[\u0000-\u001f\u202e]/);
  });

  it.each([
    [["text.wasm"], 3, "AIRLOCK_METER_MALFORMED", /^Cannot meter core module: /],
    [["refused.wasm"], 3, "AIRLOCK_METER_RESERVED_NAME", /^In "core module 1": Cannot meter core module: /],
    [["missing.wasm"], 2, "AIRLOCK_CLI_INPUT_UNREADABLE", /there is no such file$/],
    [["component.wasm", "-o", "x.wasm"], 2, "AIRLOCK_CLI_USAGE", /^--out wants a core module: ".*" is a component$/],
    [["module.wasm", "-o", "."], 2, "AIRLOCK_CLI_USAGE", /^--out is ".*": a regular file or a new one is wanted$/],
    [["module.wasm", "-o", "no/x.wasm"], 2, "AIRLOCK_CLI_USAGE", /^--out is ".*": there is no such folder$/],
  ])("%j ends with %i and %s", async (args, exit, code, message) => {
    const answer = await airlock("meter", "--json", ...args.map((arg) => (arg === "-o" ? arg : path(arg))));
    expect(answer).toMatchObject({ exit, err: "" });
    expect(JSON.parse(answer.out).error).toMatchObject({ code, message: expect.stringMatching(message) });
  });
});

function inComponent(defined: number): unknown {
  return {
    path: expect.stringMatching(/core module 0$/),
    ms: expect.any(Number),
    ratio: expect.any(Number),
    report: expect.objectContaining({ functions: expect.objectContaining({ defined }) }),
    functions: Array.from({ length: defined }, (_, index) => expect.objectContaining({ index, staticCost: 0 })),
  };
}

/** The lines that tell of one function each. */
function rows(text: string): readonly string[] {
  return text.split("\n").filter((line) => / to \d+ +\d+/.test(line));
}

async function airlock(...argv: string[]): Promise<{ exit: number; out: string; err: string }> {
  const [out, err] = [new PassThrough(), new PassThrough()];
  const exit = await runCommandLine(argv, new Terminal(out, err, {}), false);
  return { exit, out: String(out.read() ?? ""), err: String(err.read() ?? "") };
}
