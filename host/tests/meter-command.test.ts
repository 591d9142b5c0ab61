import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCounters } from "../meter/meter.ts";
import { airlock } from "./airlock-command.ts";

const ADDS = `(module
  (func (export "add") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1))))`;

let folder: string;
const path = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "airlock-cli-meter-"));
  writeFileSync(path("adds.wasm"), await parse(ADDS));
  writeFileSync(path("zero.wasm"), "");
  writeFileSync(path("reserved.wasm"), await parse('(module (import "$airlock" "\\1b[2J" (func)))'));
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
