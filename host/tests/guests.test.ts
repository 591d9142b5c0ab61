import { beforeAll, describe, expect, it } from "vitest";
import { VIOLATION_CODES } from "../admission/admission.ts";
import { type DoctorReport, examine, listGuests, ROWS } from "../doctor/doctor.ts";
import { CODES, ENDINGS, NATIVE_ENDINGS } from "../errors/errors.ts";
import { LIMIT_KEYS } from "../manifest/manifest.ts";

// Every guest is run once on recycled memories and once on fresh ones; a difference in ending or fuel is a problem.
describe("examine()", () => {
  let report: DoctorReport;

  beforeAll(async () => {
    report = await examine();
  }, 300_000);

  it.each(listGuests())("$name: $description", ({ name }) => {
    const result = report.guests.find((each) => each.name === name);
    expect(result?.ok ? null : (result?.note ?? "was not examined")).toBeNull();
  });

  it("proves every row", () => {
    expect(report.rows.filter(({ ok }) => !ok)).toEqual([]);
    expect(report.ok).toBe(true);
  });
});

describe("the suite of guests", () => {
  const proved = new Set(listGuests().map(({ proves }) => proves));

  it.each([...LIMIT_KEYS, "deadlineMs"])("has a guest that trips the limit %s", (limit) => {
    expect(proved).toContain(limit);
  });

  it.each(Object.keys(ENDINGS).filter((kind) => !NATIVE_ENDINGS.has(kind)))("has a guest that ends %s", (kind) => {
    expect(proved).toContain(`ending:${kind}`);
  });

  // Those need a file, or another policy: host/tests/admission.
  it.each(VIOLATION_CODES.filter((code) => !["binary_load_failed", "unsupported_profile"].includes(code)))(
    "has a guest that is refused as %s",
    (code) => {
      expect(proved).toContain(code);
    },
  );

  it("names nothing that is not promised", () => {
    const rows = new Set(ROWS.map(({ name }) => name));
    expect([...proved].filter((name) => !rows.has(name) && !Object.hasOwn(CODES, name))).toEqual([]);
  });
});

describe("examine() of a selection", () => {
  it("judges only the rows that the selection is about, in the order asked for", async () => {
    const report = await examine({ guests: ["trap-unreachable", "loop-forever"], tier: "fresh" });
    expect(report.guests.map(({ name, ok }) => [name, ok])).toEqual([
      ["trap-unreachable", true],
      ["loop-forever", true],
    ]);
    expect(report.rows).toEqual([
      { kind: "limit", name: "fuel", provedBy: ["loop-forever"], ok: true },
      { kind: "ending", name: "ending:trapped", provedBy: ["trap-unreachable"], ok: true },
    ]);
    expect(report.ok).toBe(true);
  });

  it("refuses a guest that does not exist", async () => {
    await expect(examine({ guests: ["no-such-guest"] })).rejects.toThrow('No guest "no-such-guest"');
  });
});
