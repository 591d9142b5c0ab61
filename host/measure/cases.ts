import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { HostError, messageOf, quote } from "../errors/errors.ts";
import { parseJsonText } from "../manifest/manifest.ts";
import type { BenchCase } from "./options.ts";

/**
 * The cases of a folder such as a capability's `cases/`: each `<name>.json` holds `input`, perhaps `operation`, and perhaps
 * `expect` with `output` or `failure`, of which only the kind counts here. Throws AIRLOCK_MEASURE_CASES_INVALID.
 */
export function readCases(folder: string): readonly BenchCase[] {
  let files: readonly string[];
  try {
    files = readdirSync(folder)
      .filter((name) => name.endsWith(".json"))
      .sort();
  } catch (thrown) {
    throw invalid(`Cannot read the cases ${quote(folder)}: ${reasonOf(thrown)}`, thrown);
  }
  if (files.length === 0) {
    throw invalid(`Cannot read the cases ${quote(folder)}: it holds no .json file, one for each case is wanted`);
  }
  return files.map((file) => readCase(join(folder, file), file.slice(0, -".json".length)));
}

function readCase(path: string, name: string): BenchCase {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (thrown) {
    throw invalid(`Cannot read the case ${quote(path)}: ${reasonOf(thrown)}`, thrown);
  }
  const json = parseJsonText(text.replace(/^\ufeff/, ""));
  if (json.kind !== "value") throw invalid(`The case ${quote(path)} ${json.text}`);
  const { value } = json;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, "input")) {
    throw invalid(`The case ${quote(path)} has no "input": an object with input, and perhaps operation, is wanted`);
  }
  const { operation, input, expect } = value as { operation?: unknown; input: unknown; expect?: unknown };
  if (operation !== undefined && typeof operation !== "string") {
    throw invalid(`The case ${quote(path)} has an operation that is no text: its name is wanted`);
  }
  const kind =
    typeof expect !== "object" || expect === null
      ? null
      : "output" in expect
        ? ("succeeded" as const)
        : "failure" in expect
          ? ("failed" as const)
          : null;
  return {
    name,
    input,
    ...(operation === undefined ? {} : { operation }),
    ...(kind === null ? {} : { expect: kind }),
  };
}

function reasonOf(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : null;
  if (code === "ENOENT") return "there is no such folder";
  return code === "ENOTDIR" ? "it is no folder" : messageOf(thrown);
}

function invalid(message: string, cause?: unknown): HostError {
  return new HostError("AIRLOCK_MEASURE_CASES_INVALID", message, cause === undefined ? {} : { cause });
}
