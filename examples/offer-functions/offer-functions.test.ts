import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

function node(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, args, { cwd: root, encoding: "utf8", timeout: 50_000 });
}

test("the example builds its guest and shows values, error values, a cut off call and the limit on calls", () => {
  const built = node("dist/faces/cli/main.js", "build", "examples/offer-functions/capability");
  expect(built, built.stderr).toMatchObject({ status: 0 });

  const { status, stdout, stderr } = node("--import", "tsx", "examples/offer-functions/offer-functions.ts");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const [values, slow, limited] = stdout.split(/^(?=\S.*:$)/m).map((part) => part.trimEnd().split("\n").slice(1));
  expect(values).toEqual([
    "  guest Ada Lovelace (7): gold, owes nothing, mail to ada@example.org",
    "  guest Charles Babbage (8): standard, owes 1700.00, no mail",
    "  guest John Smith: which of 2?",
    "  guest Nobody: no such customer",
    "  ended succeeded",
    expect.stringMatching(/^ {2}host calls 4, bytes to the guest [1-9]\d*, from it [1-9]\d*$/),
  ]);
  expect(slow?.toSorted()).toEqual([
    "  ended past-deadline (deadlineMs)",
    "  find  nobody waits for Slow Joe any more",
    "  host calls 1",
  ]);
  expect(limited).toEqual(["  ended over-budget (hostCalls)", expect.stringMatching(/^ {2}host calls 3, /)]);
});
