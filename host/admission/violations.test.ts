import { describe, expect, it } from "vitest";
import { Violations } from "./violations.ts";

describe("Violations", () => {
  it("sorted() gives the order of the codes, then of the texts", () => {
    const violations = new Violations();
    violations.add("grant_denied", "b");
    violations.add("grant_denied", "a");
    violations.add("too_large", "z", { bytes: 9 });
    expect(violations.sorted()).toEqual([
      { code: "too_large", message: "z", details: { bytes: 9 } },
      { code: "grant_denied", message: "a" },
      { code: "grant_denied", message: "b" },
    ]);
    expect([violations.has("too_large"), violations.has("unsafe_name")]).toEqual([true, false]);
  });

  it("keeps a hundred of a kind and counts the rest", () => {
    const violations = new Violations();
    for (let i = 0; i < 100_000; i++) violations.add("unauthorized_host_import", `import ${i}`);
    expect(violations.sorted()).toHaveLength(101);
    expect(violations.sorted().at(-1)).toEqual({
      code: "unauthorized_host_import",
      message: "and 99900 more of this kind",
    });
  });
});
