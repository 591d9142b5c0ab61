import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { CODES } from "../errors/errors.ts";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

// A code that no test names is one that nobody has seen. This file names none, and the errors room names them all.
describe("every error code", () => {
  const texts = ["host", "capabilities", "examples"]
    .flatMap((room) => testsUnder(join(root, room)))
    .map((path) => readFileSync(path, "utf8"));

  it.each(Object.keys(CODES))("%s is raised by a test", (code) => {
    expect(texts.some((text) => new RegExp(`\\b${code}\\b`).test(text))).toBe(true);
  });
});

function testsUnder(directory: string): readonly string[] {
  return readdirSync(directory, { withFileTypes: true, recursive: true }).flatMap((entry) =>
    entry.isFile() && entry.name.endsWith(".test.ts") && !entry.parentPath.includes("errors")
      ? [join(entry.parentPath, entry.name)]
      : [],
  );
}
