import { describe, expect, it } from "vitest";
import { privacyProblem } from "./privacy.ts";

describe("privacyProblem()", () => {
  it("takes a body of any length for opaque when it is base64, and for a text when it is not", () => {
    const long = `/${"A".repeat(16 * 1024 * 1024 - 1)}`;
    expect(privacyProblem({ body: long })).toBe(null);
    expect(privacyProblem({ body: `${long}*` })).toContain('begins with "/"');
    for (const body of ["", "/w==", "//8=", "////"]) expect(privacyProblem({ body })).toBe(null);
    for (const body of ["/", "/w", "/w=", "/w===", "/===", "/w==/w==", "/-_/"])
      expect(privacyProblem({ body })).not.toBe(null);
  });
});
