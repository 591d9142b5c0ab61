import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { HostError, messageOf, quote } from "../errors/errors.ts";
import { parseJsonText } from "../manifest/manifest.ts";
import type { BenchResults } from "./results.ts";
import { RESULTS_SCHEMA } from "./results-schema.ts";

/** What is wrong with the first field that does not fit the schema of results; null when all is well. */
export function resultsProblem(value: unknown): string | null {
  const ajv = new Ajv2020({ strict: false, logger: false });
  const check = ajv.compile(RESULTS_SCHEMA);
  if (check(value)) return null;
  const [error] = check.errors ?? [];
  const path = (error?.instancePath ?? "").slice(1).replaceAll("/", ".");
  return `${path === "" ? "it" : path} ${error?.message ?? "does not fit the schema"}`;
}

/** The results of an earlier bench. Throws AIRLOCK_MEASURE_BASELINE_INVALID. */
export function readBaseline(path: string): BenchResults {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (thrown) {
    const missing = thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT";
    throw invalid(`Cannot read the baseline ${quote(path)}: ${missing ? "there is no such file" : messageOf(thrown)}`);
  }
  const json = parseJsonText(text.replace(/^\ufeff/, ""));
  if (json.kind !== "value") throw invalid(`The baseline ${quote(path)} ${json.text}`);
  const problem = resultsProblem(json.value);
  if (problem === null) return json.value as BenchResults;
  throw invalid(
    `The baseline ${quote(path)} is not the results.json of a bench: ${problem}; airlock bench --out writes one`,
  );
}

function invalid(message: string): HostError {
  return new HostError("AIRLOCK_MEASURE_BASELINE_INVALID", message);
}
