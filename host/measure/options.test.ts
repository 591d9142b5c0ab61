import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readCases } from "./cases.ts";
import { type BenchOptions, resolveBench } from "./options.ts";

describe("resolveBench()", () => {
  it("fills in what is left out and sorts the loads", () => {
    expect(resolveBench({ package: "p", concurrency: [8, 1, 8] })).toMatchObject({
      sources: ["p"],
      cases: null,
      concurrency: [1, 8],
      durationMs: 1_000,
      rounds: 7,
      warmUpMs: 300,
      cold: false,
      signal: null,
    });
  });

  it.each([
    [{}, "package is undefined, a path or a package in memory is wanted"],
    [{ package: "p", round: 3 }, 'the unknown option "round"; did you mean "rounds"?'],
    [{ package: "p", rounds: 0 }, "rounds is 0, a whole number from 1 to 30 is wanted"],
    [{ package: "p", concurrency: [] }, "a list of whole numbers is wanted"],
    [{ package: "p", concurrency: [0] }, "concurrency is 0, a whole number from 1 to 1000 is wanted"],
    [{ package: "p", durationMs: 1e9 }, "durationMs is 1000000000, a whole number from 1 to 60000 is wanted"],
    [{ package: "p", cold: "yes" }, 'cold is "yes", true or false is wanted'],
    [{ package: "p", cases: [] }, "cases is a list of 0, a list of 1 to 1000 cases is wanted"],
    [{ package: "p", cases: [{ input: 1 }] }, "cases.0.name is undefined, a text is wanted"],
    [{ package: "p", cases: [{ name: "a" }, { name: "a" }] }, 'cases.1.name is "a", a name that no other case has'],
    [{ package: "p", cases: [{ name: "a", expect: "x" }] }, 'cases.0.expect is "x", "succeeded" or "failed" is wanted'],
  ])("refuses %j", (options, message) => {
    expect(() => resolveBench(options as unknown as BenchOptions)).toThrow(
      expect.objectContaining({ code: "AIRLOCK_MEASURE_OPTIONS_INVALID", message: expect.stringContaining(message) }),
    );
  });
});

describe("readCases()", () => {
  let folder: string;
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "airlock-cases-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it("reads each file as a case, in order of their names", () => {
    mkdirSync(join(folder, "good"));
    write("good/b.json", '{ "operation": "run", "input": 1, "expect": { "failure": { "code": "x" } }, "events": [] }');
    write("good/a.json", '\ufeff{ "input": null, "expect": { "output": 2 } }');
    write("good/README.md", "no case");
    expect(readCases(join(folder, "good"))).toEqual([
      { name: "a", input: null, expect: "succeeded" },
      { name: "b", operation: "run", input: 1, expect: "failed" },
    ]);
  });

  it.each([
    ["missing", null, "there is no such folder"],
    ["empty", [], "it holds no .json file"],
    ["text", ["x"], "is not JSON"],
    ["list", ["[]"], 'has no "input"'],
    ["number", ['{ "operation": 1, "input": 1 }'], "an operation that is no text"],
  ])("refuses the folder %s", (name, texts, message) => {
    if (texts !== null) mkdirSync(join(folder, name));
    for (const [index, text] of (texts ?? []).entries()) write(`${name}/${index}.json`, text);
    expect(() => readCases(join(folder, name))).toThrow(
      expect.objectContaining({ code: "AIRLOCK_MEASURE_CASES_INVALID", message: expect.stringContaining(message) }),
    );
  });
});
