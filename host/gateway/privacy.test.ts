import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mayCross, privacyProblem } from "./privacy.ts";

const WORDS = ["config", "credential", "secret", "password", "path", "device", "endpoint", "bucket"];

/** JSON without anything that may not cross. */
const harmless = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, false, "", "plain", "a/b", "a:/b", "x//y", "base64+/=="),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom("a", "name", "pat", "buck et", "body", "__proto__"), tie("value"), { maxKeys: 4 }),
  ),
})).value;

/** A way down into JSON, at whose end something is put. */
const way = fc.array(fc.oneof(fc.constant(0), fc.constantFrom("a", "constructor", "__proto__", "0")), { maxLength: 8 });

function putAt(steps: readonly (string | number)[], end: unknown): unknown {
  return steps.reduceRight<unknown>(
    (inner, step) =>
      typeof step === "number" ? [null, inner] : JSON.parse(`{${JSON.stringify(step)}:${JSON.stringify(inner)}}`),
    end,
  );
}

describe("privacyProblem()", () => {
  it("finds nothing in what may cross", () => {
    fc.assert(
      fc.property(harmless, (value) => {
        expect(privacyProblem(value)).toBeNull();
      }),
    );
  });

  it("finds a key with a word of the host at any depth, in any case, in any company", () => {
    const key = fc
      .tuple(fc.string({ maxLength: 5 }), fc.constantFrom(...WORDS), fc.string({ maxLength: 5 }), fc.boolean())
      .map(([before, word, after, upper]) => before + (upper ? word.toUpperCase() : word) + after);
    fc.assert(
      fc.property(way, key, harmless, (steps, name, value) => {
        const planted = JSON.parse(`{"z":1,${JSON.stringify(name)}:${JSON.stringify(value)}}`) as unknown;
        expect(privacyProblem(putAt(steps, planted))).toMatch(/^the payload has a key that contains "/);
      }),
    );
  });

  it("finds a text that looks like a path or an address at any depth", () => {
    const text = fc.oneof(
      fc.string().map((rest) => `/${rest}`),
      fc.tuple(fc.string(), fc.string()).map(([before, after]) => `${before}://${after}`),
    );
    fc.assert(
      fc.property(way, text, (steps, planted) => {
        // A body at the top that is base64 is opaque, and only there.
        expect(privacyProblem(putAt(steps, planted))).toMatch(/^the payload has a text that (begins|contains)/);
      }),
    );
  });

  it.each([
    [{ body: "/9j/4AAQSkZJRg==" }, null],
    [{ body: "////" }, null],
    [{ body: "/etc/passwd" }, "begins"],
    [{ body: "aGk=://" }, "contains"],
    [{ inner: { body: "/9j/4AAQSkZJRg==" } }, "begins"],
    [[{ body: "////" }], "begins"],
    [{ "/etc": 1 }, "a key that begins"],
    [{ a: [{ "x://y": 1 }] }, "a key that contains"],
    [{ body: { text: "/" } }, "begins"],
    [{ Body: "////" }, "begins"],
    ["/", "begins"],
    ["a://b", "contains"],
  ])("looks into %j as it must", (value, found) => {
    if (found === null) expect(privacyProblem(value)).toBeNull();
    else expect(privacyProblem(value)).toContain(found);
  });

  it("takes a body of any length for opaque when it is base64, and for a text when it is not", () => {
    const long = `/${"A".repeat(16 * 1024 * 1024 - 1)}`;
    expect(privacyProblem({ body: long })).toBe(null);
    expect(privacyProblem({ body: `${long}*` })).toContain('begins with "/"');
    for (const body of ["", "/w==", "//8=", "////"]) expect(privacyProblem({ body })).toBe(null);
    for (const body of ["/", "/w", "/w=", "/w===", "/===", "/w==/w==", "/-_/"])
      expect(privacyProblem({ body })).not.toBe(null);
  });

  it("says nothing of the value itself", () => {
    const problem = privacyProblem({ apiSecretXyz: "hunter2" });
    expect(problem).toBe('the payload has a key that contains "secret"');
    expect(privacyProblem(["/home/anna"])).toBe('the payload has a text that begins with "/"');
  });
});

describe("mayCross()", () => {
  it.each([
    ["cannot read /etc/shadow", false],
    ["/etc", false],
    ["see https://example.org", false],
    ['cannot open "/x"', false],
    ["cannot open (/x)", false],
    ["cannot open file:/x", false],
    ["cannot open [/x]", false],
    ["cannot open `/x`", false],
    ["cannot open ~/x or ../x", false],
    ["1/2 of it", true],
    ["größe/maß", true],
    ["and/or", true],
    ["the host is not on the list", true],
  ])("says of %j: %s", (text, may) => {
    expect(mayCross(text)).toBe(may);
  });
});
