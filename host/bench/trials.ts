/** Something that can be started in several variants; the first is the base. */
export interface Subject {
  readonly name: string;
  /** Starts a fresh instance; what it answers runs the work once and gives the result. */
  start(variant: number, salt: number): () => unknown;
}

export interface Effort {
  readonly trials: number;
  /** Runs of each variant within a trial, of which the fastest counts. */
  readonly repetitions: number;
  readonly warmUps: number;
}

export interface Row {
  readonly name: string;
  /** The fastest run of the base, in milliseconds. */
  readonly baseMs: number;
  /** Time of each further variant, as a multiple of the base's. */
  readonly ratios: readonly number[];
  /** Lowest and highest ratio of a trial, for each further variant. */
  readonly ranges: readonly (readonly [number, number])[];
}

/**
 * Compares the variants of a subject. Each trial starts all of them with the same salt and runs them in turn, forwards
 * and backwards, so that what else the machine does meets all alike. What counts is the time of the processor, which
 * leaves out the time that other processes take. The ratio is the geometric mean over the trials without the highest
 * and the lowest. Throws when variants disagree on the result.
 */
export function compare(subject: Subject, variants: number, effort: Effort): Row {
  const trials = Array.from({ length: effort.trials }, (_, trial) => runTrial(subject, variants, trial, effort));
  const perVariant = Array.from({ length: variants - 1 }, (_, index) =>
    trials.map((best) => best[index + 1]! / best[0]!).sort((a, b) => a - b),
  );
  return {
    name: subject.name,
    baseMs: Math.min(...trials.map(([base]) => base!)),
    ratios: perVariant.map((ratios) => geometricMean(ratios.length > 4 ? ratios.slice(1, -1) : ratios)),
    ranges: perVariant.map((ratios) => [ratios[0]!, ratios.at(-1)!]),
  };
}

export function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

/** The fastest run of each variant. */
function runTrial(subject: Subject, variants: number, trial: number, effort: Effort): number[] {
  const salt = (trial * 37) % 61;
  // Who is compiled first changes from trial to trial as well.
  const order = Array.from({ length: variants }, (_, index) => (index + trial) % variants);
  const runs = new Map(order.map((variant) => [variant, subject.start(variant, salt)]));
  for (let left = effort.warmUps; left > 0; left--) {
    const results = order.map((variant) => runs.get(variant)!());
    const odd = results.findIndex((result) => result !== results[0]);
    if (odd !== -1) throw new Error(`${subject.name}: variants ${order[0]} and ${order[odd]} differ in their results`);
  }
  const best = new Array<number>(variants).fill(Number.POSITIVE_INFINITY);
  for (let repetition = 0; repetition < effort.repetitions; repetition++) {
    for (const variant of repetition % 2 === 0 ? order : order.toReversed()) {
      const run = runs.get(variant)!;
      const before = process.cpuUsage();
      run();
      const { user, system } = process.cpuUsage(before);
      best[variant] = Math.min(best[variant]!, (user + system) / 1_000);
    }
  }
  return best;
}
