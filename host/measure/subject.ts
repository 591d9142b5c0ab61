import { HostError, quote } from "../errors/errors.ts";
import type { Outcome } from "../providers/providers.ts";
import type { MeasuredHost, MeasuredInstall } from "./measured-host.ts";
import type { BenchCase, BenchSource } from "./options.ts";
import type { CaseResult } from "./results.ts";

/** A case whose operation is known. */
export interface KnownCase extends BenchCase {
  readonly operation: string;
}

/** One of the packages of a bench over all its rounds: what does not depend on time, and what each round starts with. */
export class Subject {
  readonly source: BenchSource;
  readonly admissionMs: number[] = [];
  readonly compileMs: number[] = [];
  readonly firstCallMs: number[] = [];
  readonly coldStartMs: number[] = [];
  readonly #facts = new Map<string, CaseResult>();
  #cases: readonly KnownCase[] = [];
  #install: MeasuredInstall | null = null;
  #evidence: Outcome["evidence"] = null;

  constructor(source: BenchSource) {
    this.source = source;
  }

  get cases(): readonly KnownCase[] {
    return this.#cases;
  }

  get install(): MeasuredInstall {
    return this.#install!;
  }

  get evidence(): NonNullable<Outcome["evidence"]> {
    return this.#evidence!;
  }

  /** What one call of each case takes. */
  get facts(): readonly CaseResult[] {
    return [...this.#facts.values()];
  }

  /** Installs it on a new host and makes its first call. `cases` is what the caller named. */
  async begin(host: MeasuredHost, cases: readonly BenchCase[] | null): Promise<void> {
    const install = await host.install(this.source);
    this.#install = install;
    this.admissionMs.push(install.timings.admissionMs);
    this.compileMs.push(install.timings.compileMs);
    this.#cases = knownCases(install, cases);
    const startedAt = performance.now();
    const outcome = await this.call(host, this.#cases[0]!);
    this.firstCallMs.push(performance.now() - startedAt);
    this.#evidence = outcome.evidence;
  }

  /** One call. Throws AIRLOCK_MEASURE_CASE_FAILED when it does not end as the case, or as all calls of it before. */
  async call(host: MeasuredHost, each: KnownCase): Promise<Outcome> {
    const outcome = await host.run(this.install.id, each.input, { operation: each.operation }).outcome;
    this.note(each, outcome);
    return outcome;
  }

  note(each: KnownCase, outcome: Outcome): void {
    const { usage } = outcome;
    const known = this.#facts.get(each.name);
    const expected = each.expect ?? known?.outcome ?? (outcome.kind === "failed" ? "failed" : "succeeded");
    if (outcome.kind !== expected) throw failed(this.install.id, each, outcome, expected);
    if (known !== undefined && known.fuel === usage.fuel && known.peakMemoryBytes >= usage.peakMemoryBytes) return;
    this.#facts.set(each.name, {
      name: each.name,
      operation: each.operation,
      outcome: outcome.kind,
      fuel: known?.fuel ?? usage.fuel,
      fuelExact: usage.fuelExact && (known === undefined || (known.fuelExact && known.fuel === usage.fuel)),
      setupFuel: known?.setupFuel ?? usage.setupFuel,
      peakMemoryBytes: Math.max(known?.peakMemoryBytes ?? 0, usage.peakMemoryBytes),
      hostCalls: usage.hostCalls,
      events: outcome.events.accepted,
    });
  }
}

function knownCases({ id, manifest, signatures }: MeasuredInstall, given: readonly BenchCase[] | null): KnownCase[] {
  const only = signatures.length === 1 ? signatures[0]!.name : null;
  const cases = given ?? examplesOf(manifest.operations) ?? emptyInput(signatures);
  return cases.map((each) => {
    const operation = each.operation ?? only;
    if (operation !== null) return { ...each, operation };
    const names = signatures.map(({ name }) => name).join(", ");
    throw new HostError(
      "AIRLOCK_MEASURE_OPTIONS_INVALID",
      `Cannot measure ${id}: case ${quote(each.name)} names no operation, one of ${names} is wanted`,
    );
  });
}

function examplesOf(operations: MeasuredInstall["manifest"]["operations"]): readonly BenchCase[] | null {
  const cases = operations.flatMap(({ name, examples = [] }) =>
    examples.map(({ title, input }, index) => ({ name: title ?? `example ${index + 1}`, operation: name, input })),
  );
  const names = new Set<string>();
  const named = cases.map((each) => {
    const name = names.has(each.name) ? `${each.name} (${each.operation} ${names.size + 1})` : each.name;
    names.add(name);
    return { ...each, name };
  });
  return named.length === 0 ? null : named;
}

function emptyInput(signatures: MeasuredInstall["signatures"]): readonly BenchCase[] {
  return signatures.slice(0, 1).map(({ name, input }) => {
    const wantsObject = typeof input === "object" && (input as { type?: unknown } | null)?.type === "object";
    return {
      name: "empty input",
      input: wantsObject ? {} : null,
      ...(signatures.length === 1 ? { operation: name } : {}),
    };
  });
}

function failed(id: string, each: KnownCase, outcome: Outcome, expected: string): HostError {
  const what =
    outcome.kind === "failed"
      ? `${outcome.kind} (${outcome.failure.code}: ${outcome.failure.message})`
      : outcome.kind === "invalid-input"
        ? `${outcome.kind} (${outcome.message})`
        : outcome.kind;
  return new HostError(
    "AIRLOCK_MEASURE_CASE_FAILED",
    `Cannot measure ${id}: case ${quote(each.name)} of ${quote(each.operation)} ended ${quote(what, 300)}, ${expected} is wanted`,
    { details: { case: each.name, outcome: outcome.kind, expected } },
  );
}
