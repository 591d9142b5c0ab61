import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { codeEdits, edit } from "./code-edits.ts";
import { type EditableModule, editable } from "./editable-module.ts";
import { wasm } from "./engine.ts";
import { aroundThrowing, LEGACY_CASES, NEW_CASES } from "./exception-cases.ts";
import { around, CASES } from "./fuel-cases.ts";
import { assembleText } from "./guest.ts";
import { SAMPLE, THROWING_SAMPLE } from "./hostile-sample.ts";
import { mutate, mutations } from "./mutation.ts";
import { NEWER_CASES } from "./newer-cases.ts";
import { toText } from "./program.ts";
import { programsWith } from "./random-program.ts";

/** A module that was changed at random, and how to meter it. */
export interface HostileCase {
  readonly bytes: Uint8Array;
  readonly callDepth: boolean;
}

/** Cases are drawn so many at a time; where one begins, the random source does too. */
const BATCH = 1_000;

/** How many of a hundred cases have their code edited, so that they stay valid; of the others, bytes are changed. */
const EDITED_OF_100 = 55;

/** Programs made up at random, of each kind that every version accepts. */
const PROGRAMS = 60;

/** Larger kernels take longer than they are worth. */
const MOST_KERNEL_BYTES = 1_200;

const KERNELS = new URL("../../bench/kernels/", import.meta.url);

/** The modules that cases are made from. */
export interface HostileOrigins {
  /** Those of the tests that this engine accepts; the two samples, which hold most kinds of sections, come first. */
  readonly modules: readonly EditableModule[];
  /** Programs that end and reach much of what they hold, and the kernels of the bench. */
  readonly programs: readonly EditableModule[];
}

/** Always the same ones. */
export async function hostileOrigins(): Promise<HostileOrigins> {
  const texts = [
    SAMPLE,
    THROWING_SAMPLE,
    ...CASES.map(([, body]) => around(body)),
    ...[...LEGACY_CASES, ...NEW_CASES].map(([, body]) => aroundThrowing(body)),
    ...NEWER_CASES.flatMap(({ cases }) => cases.map(({ text }) => text)),
  ];
  const programs = (["none", "legacy"] as const)
    .flatMap((exceptions) => fc.sample(programsWith(exceptions), { numRuns: PROGRAMS, seed: 8 }))
    .map(toText);
  const kernels = readdirSync(KERNELS)
    .filter((name) => name.endsWith(".wasm"))
    .map((name) => new Uint8Array(readFileSync(new URL(name, KERNELS))))
    .filter(({ length }) => length <= MOST_KERNEL_BYTES);
  return {
    modules: (await assembled(texts)).map(editable),
    programs: [...(await assembled(programs)), ...kernels].map(editable),
  };
}

/** The cases of a seed from number `first` on, without end. The same seed and number are the same case everywhere. */
export function* hostileCases(origins: HostileOrigins, seed: number, first: number): Generator<HostileCase> {
  const origin = originOf(origins);
  const callDepth = fc.boolean();
  const arbitrary = fc.oneof(
    { weight: EDITED_OF_100, arbitrary: fc.record({ origin, edits: codeEdits, callDepth }) },
    { weight: 100 - EDITED_OF_100, arbitrary: fc.record({ origin, changes: mutations, callDepth }) },
  );
  for (let batch = Math.floor(first / BATCH); ; batch++) {
    const drawn = fc.sample(arbitrary, { seed: (seed + batch) | 0, numRuns: BATCH });
    for (const each of drawn.slice(Math.max(0, first - batch * BATCH))) {
      const { origin, callDepth } = each;
      const bytes = "edits" in each ? edit(origin, each.edits) : mutate(origin.module.bytes, each.changes);
      yield { bytes, callDepth };
    }
  }
}

/** A third each: the samples, other modules of the tests, programs. */
function originOf({ modules, programs }: HostileOrigins): fc.Arbitrary<EditableModule> {
  return fc.oneof(
    fc.constantFrom(...modules.slice(0, 2)),
    fc.constantFrom(...modules.slice(2)),
    fc.constantFrom(...programs),
  );
}

async function assembled(texts: readonly string[]): Promise<Uint8Array[]> {
  const modules = await Promise.all(texts.map(assembleText));
  return modules.filter((bytes) => wasm.validate(bytes));
}
