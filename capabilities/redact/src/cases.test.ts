import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Declined } from "./declined.ts";
import { redact } from "./redact.ts";

const folder = new URL("../cases/", import.meta.url);
const manifest = JSON.parse(readFileSync(new URL("../capability.json", import.meta.url), "utf8"));

/** The logic without the host: what the host would hand back. */
function run(input: never) {
  const events: unknown[] = [];
  const emit = (type: string, payload: unknown) => events.push({ type, version: "1.0.0", payload });
  try {
    return { expect: { output: structuredClone(redact(input, emit)) }, events };
  } catch (error) {
    if (!(error instanceof Declined)) throw error;
    return { expect: { failure: { code: error.payload.code } }, events };
  }
}

describe("cases", () => {
  for (const file of readdirSync(folder)) {
    test(`${file} gives the output and the events that it names`, () => {
      const { input, expect: expected, events } = JSON.parse(readFileSync(new URL(file, folder), "utf8"));
      expect(run(input as never)).toEqual({ expect: expected, events });
    });
  }
});

test("the example of the manifest is true", () => {
  for (const { input, output } of manifest.operations[0].examples) {
    expect(run(input as never).expect).toEqual({ output });
  }
});

test("every event of the cases is declared by the manifest, and every declared one has a case", () => {
  const emitted = new Set<string>();
  for (const file of readdirSync(folder)) {
    const { events } = JSON.parse(readFileSync(new URL(file, folder), "utf8"));
    for (const { type, version } of events) emitted.add(`${type}@${version}`);
  }
  const declared = manifest.emits.map(({ type, version }: { type: string; version: string }) => `${type}@${version}`);
  expect([...emitted].sort()).toEqual([...declared].sort());
});
