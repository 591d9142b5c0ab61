import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { syntaxProblem, withoutComments } from "./wit-syntax.ts";

describe("syntaxProblem()", () => {
  test.each([
    "package a:b;\ninterface i {\n  f: func(x: not-here) -> list<u8>;\n}\n",
    "interface i {}\n",
    "package a:b@1.0.0;\nworld w { import c:d/e@1.0.0; }\n",
    "",
  ])("is null for a text that parses, whatever it names: %j", async (text) => {
    expect(await syntaxProblem(text)).toBeNull();
  });

  test.each<[string, number, string]>([
    ["package a:b;\nworld w {\n  includ x;\n}\n", 3, "expected `import`"],
    ["package a:b;\ninterface i {\n\n  f: fun();\n  g: fun();\n}\n", 4, "expected keyword `func`"],
    ["package a:b;\ninterface i {}\n}\n", 3, "expected `world`"],
    ["package a:b;\r\ninterface i {\r\n  f: func() -> list<u8;\r\n}\r\n", 3, "expected '>'"],
    ["package a:b;\n/*\n\n\n", 2, "unterminated block comment"],
    ["package a:b;\ninterface i {\n  f: func();\n\n\n", 3, "found eof"],
    ["word", 1, "expected"],
  ])("names the line of the first error in %j", async (text, line, problem) => {
    expect(await syntaxProblem(text)).toEqual({ line, text: expect.stringContaining(problem) });
  });

  test("finds the line wherever it stands", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(40), fc.nat(40), async (before, after) => {
        const sound = (count: number) =>
          Array.from({ length: count }, (_, i) => `/// Text.\ninterface i${i} {\n}\n`).join("");
        const problem = await syntaxProblem(`package a:b;\n${sound(before)}interfac x {}\n${sound(after)}`);
        expect(problem?.line).toBe(2 + 3 * before);
      }),
      { numRuns: 30 },
    );
  });
});

test("withoutComments() keeps the lines", () => {
  expect(withoutComments("a // b\nc /* d\n e */ f\n/// g\n")).toBe("a     \nc     \n      f\n     \n");
});
