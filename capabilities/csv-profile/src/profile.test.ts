import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { kindOf, STRING } from "./kind.ts";
import { type ProfileInput, profile } from "./profile.ts";
import { detectDelimiter, linesOf, readRows } from "./rows.ts";

const KINDS = ["missing", "integer", "number", "boolean", "date", "string"];

function rowsOf(csv: string, delimiter = ","): (readonly string[])[] {
  const rows: (readonly string[])[] = [];
  readRows(linesOf(csv), delimiter, (fields) => rows.push(fields));
  return rows;
}

function run(input: ProfileInput) {
  const events: { type: string; payload: unknown }[] = [];
  return { ...profile(input, (type, payload) => events.push({ type, payload })), events };
}

describe("kindOf()", () => {
  const kinds: Record<string, readonly string[]> = {
    missing: ["", "  ", "NA", " NA ", "null", "NaN"],
    integer: ["0", "-7", "+7", " 42 ", "9007199254740993", "-0"],
    number: ["0.5", "-.5", "1e3", "1.0", "0e3", "1E-9", " 3.25", "5."],
    boolean: ["true", "No", "YES", " false"],
    date: ["2024-05-31", "2024/05/31", "2024-05-31T12:00:00Z", "2024-05-31 23:59", " 2024-05-31 "],
    string: [
      "abc",
      "007",
      "-007",
      "0x1f",
      "0b1",
      "Infinity",
      "-Infinity",
      "2024-13-01",
      "2024-05-31x",
      "2024-05/31",
      "-",
    ],
  };
  for (const [kind, cells] of Object.entries(kinds)) {
    test(`takes ${cells.map((cell) => JSON.stringify(cell)).join(", ")} for ${kind}`, () => {
      expect(cells.map((cell) => KINDS[kindOf(cell, +cell)])).toEqual(cells.map(() => kind));
    });
  }

  test("takes any finite number that JavaScript writes for a number", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(["integer", "number"]).toContain(KINDS[kindOf(String(value), value)]);
      }),
    );
  });
});

describe("readRows()", () => {
  test("reads back what a writer after RFC 4180 wrote, with any line end", () => {
    const field = fc.string({ unit: fc.constantFrom("a", "é", '"', ",", "\n", " ", "\ud83d\ude00") });
    const table = fc.array(fc.array(field, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(table, fc.constantFrom("\n", "\r\n"), fc.boolean(), (rows, lineEnd, lastEnd) => {
        const text = rows.map((row) => row.map((value) => `"${value.replaceAll('"', '""')}"`).join(",")).join(lineEnd);
        expect(rowsOf(lastEnd ? text + lineEnd : text)).toEqual(rows);
      }),
    );
  });

  test("takes a quote inside of an unquoted field, and text after a closing one, as they are", () => {
    expect(rowsOf('5" pipe,"a"b,"c"\n1,2,3\n')).toEqual([
      ['5" pipe', "ab", "c"],
      ["1", "2", "3"],
    ]);
  });

  test("names the line on which a record begins", () => {
    const lines: number[] = [];
    readRows(linesOf('a,b\n"x\ny",1\nc,d\n'), ",", (_, line) => lines.push(line));
    expect(lines).toEqual([1, 2, 4]);
  });

  test("ends lines at a carriage return alone", () => {
    expect(rowsOf("a,b\r1,2\r")).toEqual([
      ["a", "b"],
      ["1", "2"],
    ]);
  });
});

test("detectDelimiter() counts outside of quotes only", () => {
  expect(detectDelimiter(linesOf('"a,b,c";d;e\n'))).toBe(";");
  expect(detectDelimiter(linesOf("one column\n"))).toBe(",");
});

describe("profile()", () => {
  test("tells the same of a column whether its values are remembered or not", () => {
    const column = fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(column, (values) => {
        const csv = `n\n${values.join("\n")}\n`;
        const all = run({ csv, maxDistinct: 1_000 }).columns[0]!;
        const few = run({ csv, maxDistinct: 1 }).columns[0]!;
        expect(few.type).toBe(all.type);
        expect(few.numbers?.quantiles).toEqual(all.numbers?.quantiles);
        expect(few.numbers?.mean).toBeCloseTo(all.numbers!.mean, 9);
      }),
    );
  });

  test("gives a table wider than its rows a missing value for each cell that is not there", () => {
    const { columns, raggedRows } = run({ csv: "a,b\n1\n2\n" });
    expect(raggedRows).toBe(2);
    expect(columns[1]).toMatchObject({ type: "empty", missing: 2, distinct: 0, top: [] });
  });

  test("tells of twenty ragged rows at most and counts them all", () => {
    const { events, raggedRows } = run({ csv: `a,b\n${"1\n".repeat(30)}` });
    expect(events.filter(({ type }) => type === "ragged-row")).toHaveLength(20);
    expect(raggedRows).toBe(30);
  });

  test("declines a table of more than a thousand columns", () => {
    expect(() => run({ csv: `${"a,".repeat(1_000)}a\n` })).toThrow("at most 1000");
  });

  test("keeps names apart when a header repeats what the numbering makes", () => {
    expect(run({ csv: "a,a (2),a\n1,2,3\n" }).columns.map(({ name }) => name)).toEqual(["a", "a (2)", "a (3)"]);
  });

  test("clips what it quotes", () => {
    const { columns } = run({ csv: `${"h".repeat(500)}\n${"v".repeat(500)}\n` });
    expect(columns[0]!.name).toHaveLength(201);
    expect(columns[0]!.top[0]!.value).toHaveLength(81);
    expect(kindOf("v".repeat(500), Number.NaN)).toBe(STRING);
  });

  test("profiles a real table", () => {
    const path = new URL("../../../node_modules/vega-datasets/data/airports.csv", import.meta.url);
    const { rows, columns } = run({ csv: readFileSync(path, "utf8") });
    expect(rows).toBe(3376);
    expect(columns.map(({ name, type }) => `${name}: ${type}`)).toEqual([
      "iata: string",
      "name: string",
      "city: string",
      "state: string",
      "country: string",
      "latitude: number",
      "longitude: number",
    ]);
    expect(columns[3]!.top[0]).toEqual({ value: "AK", count: 263 });
  });
});
