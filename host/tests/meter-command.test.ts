import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCounters } from "../meter/meter.ts";
import { airlock } from "./airlock-command.ts";

const ADDS = `(module
  (func (export "add") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1))))`;

/** 25 functions, of which function n holds n constants; one has a name that would clear a terminal. */
const MANY = `(module ${Array.from({ length: 25 }, (_, index) => {
  const name = index === 24 ? '(@name "\\1b[2Jdear\\e2\\80\\ae")' : "";
  return `(func ${name} (export "f${index}") ${"i32.const 7 drop ".repeat(index)})`;
}).join("\n")})`;

let folder: string;
const path = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "airlock-cli-meter-"));
  writeFileSync(path("adds.wasm"), await parse(ADDS));
  writeFileSync(path("many.wasm"), await parse(MANY));
  writeFileSync(path("zero.wasm"), "");
  writeFileSync(path("reserved.wasm"), await parse('(module (import "$airlock" "\\1b[2J" (func)))'));
  writeFileSync(path("component.wasm"), await parse(`(component (core ${ADDS.slice(1)})`));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("airlock meter", () => {
  it("writes a module that runs under its counters, and says what was done to it", async () => {
    const { status, stdout } = await airlock("meter", path("adds.wasm"), "-o", path("metered.wasm"));
    expect(status).toBe(0);
    expect(stdout).toMatch(/^metered {2}.*adds\.wasm {2}1 function, [^\n]+\n$/);
    const counters = createCounters({ fuel: 100, pages: 0, elements: 0 });
    const module = new WebAssembly.Module(readFileSync(path("metered.wasm")));
    const { exports } = new WebAssembly.Instance(module, { $airlock: { ...counters } });
    expect((exports["add"] as (a: number, b: number) => number)(2, 3)).toBe(5);
    expect(counters.fuel.value).toBeLessThan(100n);
  });

  it("shows the functions that cost most, and all of them when asked; a name cannot steer the terminal", async () => {
    const most = await airlock("meter", path("many.wasm"));
    expect(most.status).toBe(0);
    expect(rows(most.stdout)).toHaveLength(20);
    expect(most.stdout).toContain("\n  and 5 more functions: --all shows them\n");
    expect(rows(most.stdout)[0]).toMatch(/^ {2}24 +direct +1 +0 +74 to 81 +24 \\u001b\[2Jdear\\u202e$/);
    const all = await airlock("meter", path("many.wasm"), "--all");
    expect(rows(all.stdout)).toHaveLength(25);
    expect(all.stdout).not.toContain("--all");
  });

  it("gives all functions as JSON, the dearest first, of a component those of each core module", async () => {
    const { stdout } = await airlock("meter", path("many.wasm"), "--json");
    const { functions } = JSON.parse(stdout);
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
    const component = await airlock("meter", path("component.wasm"), "--json");
    const [module] = JSON.parse(component.stdout).coreModules;
    expect(module.functions).toEqual([expect.objectContaining({ index: 0, staticCost: 3 })]);
  });

  it.each([
    ["missing.wasm", 2, "AIRLOCK_CLI_INPUT_UNREADABLE"],
    ["zero.wasm", 3, "AIRLOCK_METER_MALFORMED"],
    ["reserved.wasm", 3, "AIRLOCK_METER_RESERVED_NAME"],
  ])("%s ends with %i and %s", async (name, exit, code) => {
    const { status, stdout } = await airlock("meter", path(name), "--json");
    expect(status).toBe(exit);
    expect(JSON.parse(stdout).error).toMatchObject({ code });
  });
});

/** The lines that tell of one function each. */
function rows(text: string): readonly string[] {
  return text.split("\n").filter((line) => / to \d+ +\d+/.test(line));
}
