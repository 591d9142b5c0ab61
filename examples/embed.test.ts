import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

function node(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, args, { cwd: root, encoding: "utf8", timeout: 50_000 });
}

test("README's example runs and prints what it says", () => {
  const built = node("dist/faces/cli/main.js", "build", "capabilities/redact");
  expect(built, built.stderr).toMatchObject({ status: 0 });

  const { status, stdout, stderr } = node("--import", "tsx", "examples/embed.ts");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout.split("\n")).toEqual([
    "installed airlock.redact@1.0.0, operations: redact",
    "event pii-found { kind: 'email', count: 1 }",
    "event pii-found { kind: 'card', count: 1 }",
    "output {",
    "  text: 'Write to [email], card [card].',",
    "  findings: [",
    expect.stringContaining("kind: 'email'"),
    expect.stringContaining("kind: 'card'"),
    "  ]",
    "}",
    expect.stringMatching(/^fuel [1-9]\d* of 2000000000, memory [1-9]\d* bytes$/),
    "with 10,000 units of fuel: out-of-fuel",
    "",
  ]);
});
