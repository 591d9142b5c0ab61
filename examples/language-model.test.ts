import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

test("a server of language models answers through the host, as README says", () => {
  const args = ["--import", "tsx", "examples/language-model.ts"];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: "utf8",
    timeout: 50_000,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout.split("\n")).toEqual([
    "version { version: 'stand-in' }",
    'delta "A name, "',
    'delta "a version "',
    'delta "and a promise."',
    "output A name, a version and a promise.",
    "tokens { inputTokens: 5, outputTokens: 3, model: 'stand-in' }",
    "",
  ]);
});
