import type { Host, PackageInMemory } from "../index.ts";
import type { Tier } from "../pool/pool.ts";
import type { Floor } from "./floor.ts";
import type { LoadSubject } from "./load.ts";
import { MESSAGE, MESSAGE_TEXT } from "./message.ts";

/** Answers are compared this often, so that comparing is no part of what is measured. */
const COMPARED_EACH = 64;

/** A subject that can be closed. */
export interface OpenSubject extends LoadSubject {
  close(): Promise<void>;
}

/** Of all runs, those that may be on another tier than the named one: the first on a thread has nothing to put back. */
const OTHER_TIERS = 0.05;

/** Installs a package that says what it was given on a host of its own. Closing throws when its runs were not on the tier. */
export async function openEcho(name: string, host: Host, tier: Tier, each: PackageInMemory): Promise<OpenSubject> {
  const { id } = await host.install(each);
  let [runs, others] = [0, 0];
  const call = async (): Promise<unknown> => {
    const outcome = await host.run(id, MESSAGE).outcome;
    if (outcome.kind !== "succeeded") throw new Error(`${name} ended ${outcome.kind}`);
    runs++;
    if (outcome.evidence?.tier !== tier) others++;
    return outcome.output;
  };
  const close = async (): Promise<void> => {
    await host.close();
    if (others > OTHER_TIERS * runs) throw new Error(`${name}: ${others} of ${runs} runs were not on tier ${tier}`);
  };
  return { name, call: compared(name, call, JSON.stringify), close };
}

/** The floor, which is given the text that a host's threads are given. */
export function floorSubject({ name, call }: Floor): LoadSubject {
  return { name, call: compared(name, () => call(MESSAGE_TEXT), String) };
}

/** Throws when an answer that is compared is not the message. */
export function compared<Answer>(
  name: string,
  call: () => Promise<Answer>,
  textOf: (answer: Answer) => string,
): () => Promise<void> {
  let calls = 0;
  return async () => {
    const answer = await call();
    if (calls++ % COMPARED_EACH === 0 && textOf(answer) !== MESSAGE_TEXT)
      throw new Error(`${name} says something else`);
  };
}
