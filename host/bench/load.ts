/** What a load came to. */
export interface Load {
  readonly perSecond: number;
  readonly p50Ms: number;
}

/** Something that answers calls. `call` throws when the answer is wrong. */
export interface LoadSubject {
  readonly name: string;
  call(): Promise<void>;
}

export interface LoadEffort {
  readonly rounds: number;
  readonly roundMs: number;
  readonly warmUpMs: number;
  readonly inFlight: number;
}

/**
 * Puts the subjects under load in turn, in each round forwards or backwards, so that what else the machine does meets all alike.
 * Answers the rounds of each subject, by its name.
 */
export async function loadInTurn(
  subjects: readonly LoadSubject[],
  { rounds, roundMs, warmUpMs, inFlight }: LoadEffort,
): Promise<ReadonlyMap<string, readonly Load[]>> {
  for (const subject of subjects) await runLoad(subject, inFlight, warmUpMs);
  const loads = new Map<string, Load[]>(subjects.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) {
      loads.get(subject.name)!.push(await runLoad(subject, inFlight, roundMs));
    }
  }
  return loads;
}

/** The median over the rounds of one subject's figure by the other's in the same round. */
export function medianRatio(of: readonly Load[], base: readonly Load[], figure: keyof Load): number {
  return quantile(of.map((load, round) => load[figure] / base[round]![figure]));
}

/** The value that a share of the values is below: half of them, unless told. */
export function quantile(values: readonly number[], share = 0.5): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}

async function runLoad({ call }: LoadSubject, inFlight: number, forMs: number): Promise<Load> {
  const times: number[] = [];
  const startedAt = performance.now();
  const lane = async (): Promise<void> => {
    for (let now = startedAt; now - startedAt < forMs; ) {
      await call();
      const after = performance.now();
      times.push(after - now);
      now = after;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  const seconds = (performance.now() - startedAt) / 1_000;
  return { perSecond: times.length / seconds, p50Ms: quantile(times) };
}
