import fc from "fast-check";
import { wasm } from "./engine.ts";
import { aroundThrowing, LEGACY_CASES, NEW_CASES } from "./exception-cases.ts";
import { around, CASES } from "./fuel-cases.ts";
import { assembleText } from "./guest.ts";
import { SAMPLE, THROWING_SAMPLE } from "./hostile-sample.ts";
import { mutate, mutations } from "./mutation.ts";
import { NEWER_CASES } from "./newer-cases.ts";

/** A module that was changed at random, and how to meter it. */
export interface HostileCase {
  readonly bytes: Uint8Array;
  readonly callDepth: boolean;
}

/** Cases are drawn so many at a time; where one begins, the random source does too. */
const BATCH = 1_000;

/** Half of all cases change one of the two samples, which hold most kinds of sections. */
const SAMPLES_SHARE = 0.5;

/** The modules that cases are made from: those of the tests that this engine accepts. */
export async function hostileOrigins(): Promise<readonly Uint8Array[]> {
  const texts = [
    SAMPLE,
    THROWING_SAMPLE,
    ...CASES.map(([, body]) => around(body)),
    ...[...LEGACY_CASES, ...NEW_CASES].map(([, body]) => aroundThrowing(body)),
    ...NEWER_CASES.flatMap(({ cases }) => cases.map(({ text }) => text)),
  ];
  const modules = await Promise.all(texts.map(assembleText));
  return modules.filter((bytes) => wasm.validate(bytes));
}

/** The cases of a seed from number `first` on, without end. The same seed and number are the same case everywhere. */
export function* hostileCases(origins: readonly Uint8Array[], seed: number, first: number): Generator<HostileCase> {
  const arbitrary = fc.record({ origin: originOf(origins), changes: mutations, callDepth: fc.boolean() });
  for (let batch = Math.floor(first / BATCH); ; batch++) {
    const drawn = fc.sample(arbitrary, { seed: (seed + batch) | 0, numRuns: BATCH });
    const skipped = Math.max(0, first - batch * BATCH);
    for (const { origin, changes, callDepth } of drawn.slice(skipped)) {
      yield { bytes: mutate(origin, changes), callDepth };
    }
  }
}

function originOf(origins: readonly Uint8Array[]): fc.Arbitrary<Uint8Array> {
  const weight = Math.round((origins.length * SAMPLES_SHARE) / (1 - SAMPLES_SHARE));
  return fc.oneof(
    { weight, arbitrary: fc.constantFrom(...origins.slice(0, 2)) },
    { weight: origins.length, arbitrary: fc.constantFrom(...origins) },
  );
}
