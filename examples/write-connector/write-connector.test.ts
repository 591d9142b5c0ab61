import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

function node(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, args, { cwd: root, encoding: "utf8", timeout: 50_000 });
}

test("a connector takes less than 30 lines, and gives what it should and no more", () => {
  const lines = readFileSync(join(import.meta.dirname, "rates-connector.ts"), "utf8")
    .trimEnd()
    .split("\n");
  expect(lines.length).toBeLessThan(30);

  const built = node("dist/faces/cli/main.js", "build", "examples/write-connector/capability");
  expect(built, built.stderr).toMatchObject({ status: 0 });

  const { status, stdout, stderr } = node("--import", "tsx", "examples/write-connector/write-connector.ts");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout.trimEnd().split("\n")).toEqual([
    "100 EUR are 125 USD",
    "  acme.rates@1.2.0: success",
    "100 EUR are 16000 JPY",
    "  acme.rates@1.2.0: success",
    "execution-failed: failed, the connector did not carry the request out",
    "  acme.rates@1.2.0: execution_failed",
    "execution-failed: invalid-request, from and to are currencies",
    "  acme.rates@1.2.0: execution_failed",
    'unauthorized-output: the request may not leave the guest: the payload has a text that contains "://"',
    "  acme.rates@1.2.0: unauthorized_output",
  ]);
});
