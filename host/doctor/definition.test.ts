import { describe, expect, it } from "vitest";
import { parseDefinition } from "./definition.ts";

const least = { description: "Loops.", proves: "fuel", expect: { outcome: "out-of-fuel" } };

describe("parseDefinition()", () => {
  it("fills in what is left out", () => {
    expect(parseDefinition(JSON.stringify(least), "loop")).toEqual({ ...least, manifest: {}, run: {} });
  });

  it("refuses an unknown key at any depth, and a definition without an expectation", () => {
    const parse = (more: object) => () => parseDefinition(JSON.stringify({ ...least, ...more }), "loop");
    expect(parse({ expects: {} })).toThrow('Guest loop: it has the unknown key "expects"');
    expect(parse({ run: { fuel: 1 } })).toThrow('Guest loop: run has the unknown key "fuel"');
    expect(parse({ expect: { kind: "trapped" } })).toThrow('Guest loop: expect has the unknown key "kind"');
    expect(parse({ expect: undefined })).toThrow("description, proves and expect are wanted");
  });

  it("takes the expectation for newer engines where the engine is one", () => {
    const { expect: chosen } = parseDefinition(
      JSON.stringify({ ...least, expectFromNode22: { outcome: "trapped" } }),
      "loop",
    );
    const newer = Number(process.versions.node.split(".")[0]) >= 22;
    expect(chosen).toEqual({ outcome: newer ? "trapped" : "out-of-fuel" });
  });
});
